// One simulation with everything that happened in it.
#pragma once

#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/simulate.h"

namespace traingraph::sim::tests {

struct Played {
  Record record;
  std::vector<TaskSpan> tasks;  ///< in the order in which the engine reported them
  std::vector<TransferSpan> transfers;

  /// A rank's operation, by its index in the template; throws when it never ended.
  [[nodiscard]] const TaskSpan& of(RankId rank, std::uint32_t op, std::uint32_t step = 0) const {
    for (const TaskSpan& s : tasks)
      if (s.rank == rank && s.op == op && s.step == step) return s;
    throw std::out_of_range{"no such operation in the trace"};
  }
  [[nodiscard]] Duration start(RankId rank, std::uint32_t op, std::uint32_t step = 0) const {
    return of(rank, op, step).start.since_start();
  }
  [[nodiscard]] Duration end(RankId rank, std::uint32_t op, std::uint32_t step = 0) const {
    return of(rank, op, step).end.since_start();
  }
};

[[nodiscard]] inline Played play(const LinkTable& links, const Router& router, const Program& program,
                                 const RunOptions& options = {}) {
  class Log final : public TraceSink {
   public:
    explicit Log(Played& played) : played_{played} {}
    [[nodiscard]] bool wants_tasks() const override { return true; }
    [[nodiscard]] bool wants_transfers() const override { return true; }
    void task(const TaskSpan& span) override { played_.tasks.push_back(span); }
    void transfer(const TransferSpan& span) override { played_.transfers.push_back(span); }

   private:
    Played& played_;
  };
  Played played;
  Log log{played};
  Record record = simulate(links, router, program, options, &log);
  played.record = std::move(record);
  return played;
}

}  // namespace traingraph::sim::tests
