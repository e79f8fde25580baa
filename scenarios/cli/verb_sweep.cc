#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/share_out.h"
#include "scenarios/cli/exit_code.h"
#include "scenarios/cli/interrupt.h"
#include "scenarios/cli/mpi_queue.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/progress.h"
#include "scenarios/cli/verbs.h"
#include "scenarios/cli/version.h"
#include "scenarios/sweep/sweep.h"
#include "scenarios/sweep/sweep_journal.h"
#include "scenarios/sweep/sweep_table.h"

namespace traingraph::scenarios::cli {
namespace {

/// The rows of a sweep as they come in: in the journal if there is one, and in memory.
class Collector {
 public:
  Collector(const Options& options, const Sweep& sweep) : options_{options}, sweep_{sweep} {
    if (!options.output) return;
    file_.emplace(*options.output, options.output_policy);
    std::filesystem::path journal = *options.output;
    journal += ".journal";
    journal_.emplace(journal, sweep.digest(version()), sweep.points.size(), options.output_policy.force);
    rows_ = journal_->found();
    if (!rows_.empty() && !options.quiet) {
      write_stderr(fmt::format("goes on: {} of {} points are finished\n", rows_.size(), sweep.points.size()));
    }
  }

  [[nodiscard]] std::vector<std::size_t> unfinished() const {
    std::set<std::size_t> finished;
    for (const SweepRow& row : rows_) finished.insert(row.point);
    std::vector<std::size_t> points;
    for (std::size_t i = 0; i < sweep_.points.size(); ++i) {
      if (!finished.contains(i)) points.push_back(i);
    }
    return points;
  }

  /// From any thread.
  void take(const SweepRow& row) {
    const std::lock_guard lock{mutex_};
    if (journal_) journal_->append(row);
    rows_.push_back(row);
    if (options_.progress) line_.update(fmt::format("{} of {} points", rows_.size(), sweep_.points.size()));
  }

  void write_table() {
    line_.erase();
    std::sort(rows_.begin(), rows_.end(), [](const SweepRow& a, const SweepRow& b) { return a.point < b.point; });
    if (!options_.output) return write_stdout(to_csv(sweep_, rows_));
    if (options_.file_format == Format::hdf5) {
      write_hdf5(*options_.output, sweep_, rows_, version());
    } else {
      file_->write(to_csv(sweep_, rows_));
      file_->commit();
    }
    journal_->remove();
    const auto failed = std::count_if(rows_.begin(), rows_.end(), [](const SweepRow& r) { return !r.error.empty(); });
    if (options_.quiet) return;
    write_stderr(fmt::format("wrote {}: {} points{}\n", options_.output->string(), rows_.size(),
                             failed > 0 ? fmt::format(", {} of them could not be run (column error)", failed) : ""));
  }

 private:
  const Options& options_;
  const Sweep& sweep_;
  std::optional<OutputFile> file_;  // claimed for the whole sweep; the HDF5 writer takes it over under its lock
  std::optional<SweepJournal> journal_;
  std::vector<SweepRow> rows_;
  std::mutex mutex_;
  ProgressLine line_{options_.progress_on_terminal, write_stderr, ProgressLine::Clock::now};
};

void sweep_in_threads(const Options& options, const Sweep& sweep) {
  Collector collector{options, sweep};
  const std::vector<std::size_t> points = collector.unfinished();
  analysis::share_out(points.size(), options.threads, &interrupted(),
                      [&](std::size_t, std::size_t i) { collector.take(run_point(sweep, points[i], &interrupted())); });
  collector.write_table();
}

void sweep_in_ranks(const Options& options, const Sweep& sweep) {
  MpiQueue queue;
  if (options.threads_given && options.threads > 1) {
    throw UsageError{"--threads: with MPI every rank runs one point at a time; allowed: 1, and more ranks"};
  }
  const auto work = [&](std::size_t point) {
    try {
      return to_line(run_point(sweep, point, &interrupted()));
    } catch (const std::exception& e) {
      write_stderr(fmt::format("traingraph: rank {}, point {}: {}\n", queue.rank(), point, e.what()));
      throw;
    }
  };
  if (queue.rank() != 0) {
    queue.work_off(work);
    return queue.finish();
  }
  try {
    Collector collector{options, sweep};
    queue.hand_out(
        collector.unfinished(), work,
        [&](const std::string& line) {
          const std::optional<SweepRow> row = row_of(line, sweep.points.size());
          if (!row) throw sim::InternalError{"a rank has sent what is no row"};
          collector.take(*row);
        },
        interrupted());
    collector.write_table();
  } catch (...) {
    const Verdict verdict = exit_code_of(std::current_exception());
    write_stderr(verdict.message + "\n");
    throw;
  }
  queue.finish();
}

}  // namespace

void sweep(const Options& options) {
  const Sweep what = load_sweep(options.subject, options.overrides);
  const PolledSection polled;
  started_by_mpi() ? sweep_in_ranks(options, what) : sweep_in_threads(options, what);
}

}  // namespace traingraph::scenarios::cli
