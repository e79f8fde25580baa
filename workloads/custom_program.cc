#include "workloads/custom_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/error.h"
#include "workloads/job.h"
#include "workloads/placement.h"
#include "workloads/program_writer.h"

namespace traingraph::workloads {
namespace {

constexpr std::uint32_t kMostStreams = 1024;

class CustomBuilder {
 public:
  CustomBuilder(const CustomProgramSpec& spec, const WorkloadSpec& common, const Cluster& cluster)
      : spec_{spec},
        common_{common},
        cluster_{cluster},
        ranks_{count_ranks(spec)},
        writer_{place(common.placement, ranks_, cluster), cluster},
        templates_(ranks_),
        slots_(ranks_),
        slot_numbers_(ranks_) {}

  Workload build() {
    number_groups();
    number_tasks();
    for (const CustomTask& task : spec_.tasks) {
      for (const std::uint32_t rank : ranks_of(task)) write(task, rank);
    }
    Workload workload;
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      templates_[r].name = fmt::format("rank {}", r);
      templates_[r].slots = static_cast<std::uint32_t>(slots_[r].size());
      writer_.add_rank(writer_.add_template(std::move(templates_[r])), slots_[r]);
      workload.coordinates.push_back({.dp = r});
      RoleFacts facts;
      facts.kernels = kernels_[r];
      workload.roles.push_back(std::move(facts));
    }
    workload.description = fmt::format("custom program: {} task{} on {} rank{}", spec_.tasks.size(),
                                       spec_.tasks.size() == 1 ? "" : "s", ranks_, ranks_ == 1 ? "" : "s");
    workload.flop_convention = "counted";
    workload.program = writer_.finish(common_.steps, slow_factors(common_, cluster_));
    return workload;
  }

 private:
  struct Place {
    std::uint32_t stream = 0;
    std::uint32_t position = 0;
  };

  static std::uint32_t count_ranks(const CustomProgramSpec& spec) {
    std::uint32_t needed = 0;
    for (const CustomTask& t : spec.tasks) {
      if (t.kind != TaskKind::collective) needed = std::max(needed, t.rank + 1);
      if (t.kind == TaskKind::send || t.kind == TaskKind::receive) needed = std::max(needed, t.peer + 1);
    }
    for (const CustomGroup& g : spec.groups) {
      for (const std::uint32_t r : g.ranks) needed = std::max(needed, r + 1);
    }
    if (needed == 0) throw sim::InputError{"a custom program needs at least one task"};
    if (spec.ranks == 0) return needed;
    if (needed > spec.ranks) {
      throw sim::InputError{fmt::format("the tasks name rank {}, but the program has {} ranks", needed - 1, spec.ranks)};
    }
    return spec.ranks;
  }

  void number_groups() {
    for (const CustomGroup& g : spec_.groups) {
      if (g.ranks.empty()) throw sim::InputError{fmt::format("group '{}' has no ranks", g.name)};
      std::set<std::uint32_t> seen;
      std::vector<sim::RankId> members;
      for (const std::uint32_t r : g.ranks) {
        if (!seen.insert(r).second) throw sim::InputError{fmt::format("group '{}' names rank {} twice", g.name, r)};
        members.push_back(sim::RankId{r});
      }
      if (groups_.contains(g.name)) throw sim::InputError{fmt::format("two groups are called '{}'", g.name)};
      groups_.emplace(g.name, std::pair{&g, writer_.communicator(g.name, std::move(members))});
    }
  }

  /// Who plays the task.
  [[nodiscard]] std::vector<std::uint32_t> ranks_of(const CustomTask& task) const {
    if (task.kind != TaskKind::collective) return {task.rank};
    const auto found = groups_.find(task.group);
    if (found == groups_.end()) throw sim::InputError{fmt::format("task '{}': there is no group '{}'", task.id, task.group)};
    std::vector<std::uint32_t> callers = found->second.first->ranks;
    for (const std::uint32_t r : task.except) {
      if (std::erase(callers, r) == 0) {
        throw sim::InputError{fmt::format("task '{}': except rank {}, which is not in group '{}' or was excepted before",
                                          task.id, r, task.group)};
      }
    }
    if (callers.empty())
      throw sim::InputError{fmt::format("task '{}': excepts every rank of group '{}'", task.id, task.group)};
    return callers;
  }

  // Where each task will stand in its streams: `after` may name a task further down the list.
  void number_tasks() {
    kernels_.resize(ranks_);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> lengths;
    for (const CustomTask& task : spec_.tasks) {
      if (task.stream >= kMostStreams) {
        throw sim::InputError{fmt::format("task '{}': stream {}; allowed: 0 to {}", task.id, task.stream, kMostStreams - 1)};
      }
      auto& places = places_[task.id];
      if (!places.empty()) throw sim::InputError{fmt::format("two tasks are called '{}'", task.id)};
      for (const std::uint32_t rank : ranks_of(task)) {
        places[rank] = {task.stream, lengths[{rank, task.stream}]++};
        templates_[rank].streams = std::max(templates_[rank].streams, task.stream + 1);
        if (task.kind == TaskKind::compute) kernels_[rank] += task.duration;
      }
    }
  }

  [[nodiscard]] std::vector<sim::Dependency> needs_of(const CustomTask& task, std::uint32_t rank) const {
    std::vector<sim::Dependency> needs;
    for (const std::string& id : task.after) {
      const auto found = places_.find(id);
      if (found == places_.end())
        throw sim::InputError{fmt::format("task '{}': after '{}', which does not exist", task.id, id)};
      const auto place = found->second.find(rank);
      if (place != found->second.end()) {
        const Place own = places_.at(task.id).at(rank);
        if (place->second.stream == own.stream && place->second.position >= own.position) {
          throw sim::InputError{
              fmt::format("task '{}': after '{}', which {}; the tasks of a stream run in the order in which they are listed",
                          task.id, id, id == task.id ? "is itself" : "comes later in the same stream")};
        }
        needs.push_back({place->second.stream, place->second.position});
        continue;
      }
      if (task.kind == TaskKind::collective && on_some_member(task, found->second)) continue;
      throw sim::InputError{
          fmt::format("task '{}' of rank {}: after '{}', which is a task of another rank; ranks meet by send "
                      "and receive or by collectives",
                      task.id, rank, id)};
    }
    return needs;
  }

  [[nodiscard]] bool on_some_member(const CustomTask& task, const std::map<std::uint32_t, Place>& places) const {
    const std::vector<std::uint32_t> ranks = ranks_of(task);
    return std::any_of(ranks.begin(), ranks.end(), [&](std::uint32_t r) { return places.contains(r); });
  }

  std::uint16_t slot(std::uint32_t rank, bool is_channel, std::uint32_t target, std::uint32_t member) {
    const auto [at, added] =
        slot_numbers_[rank].try_emplace({is_channel, target}, static_cast<std::uint16_t>(slots_[rank].size()));
    if (added) {
      if (slots_[rank].size() > 0xffff) {
        throw sim::InputError{fmt::format("rank {} has more than 65,536 peers and groups", rank)};
      }
      slots_[rank].push_back({target, member});
    }
    return at->second;
  }

  sim::ChannelId channel(std::uint32_t source, std::uint32_t destination) {
    const auto [at, added] = channels_.try_emplace({source, destination});
    if (added) at->second = writer_.channel(sim::RankId{source}, sim::RankId{destination});
    return at->second;
  }

  void write(const CustomTask& task, std::uint32_t rank) {
    sim::Op op;
    op.stream = static_cast<std::uint16_t>(task.stream);
    switch (task.kind) {
      case TaskKind::compute:
        if (task.duration < sim::Duration{}) throw sim::InputError{fmt::format("task '{}': negative duration", task.id)};
        op.kind = sim::OpKind::compute;
        op.label = writer_.label(task.id, TimeCategory::compute);
        op.argument = writer_.duration(task.duration);
        break;
      case TaskKind::marker:
        op.kind = sim::OpKind::marker;
        op.label = writer_.label(task.id, TimeCategory::idle);
        break;
      case TaskKind::send:
      case TaskKind::receive: {
        const bool sends = task.kind == TaskKind::send;
        if (task.peer == rank) throw sim::InputError{fmt::format("task '{}': rank {} is its own peer", task.id, rank)};
        if (!(task.bytes.count() >= 0)) throw sim::InputError{fmt::format("task '{}': negative size", task.id)};
        op.kind = sends ? sim::OpKind::send : sim::OpKind::receive;
        op.label = sends ? writer_.label(task.id, TimeCategory::wait)
                         : writer_.label(task.id, TimeCategory::wait, TimeCategory::bubble);
        op.slot = slot(rank, true, index(sends ? channel(rank, task.peer) : channel(task.peer, rank)), 0);
        op.argument = writer_.message(task.bytes);
        break;
      }
      case TaskKind::collective: {
        const auto& [group, communicator] = groups_.at(task.group);
        const auto member = std::find(group->ranks.begin(), group->ranks.end(), rank) - group->ranks.begin();
        op.kind = sim::OpKind::collective;
        op.label = writer_.label(task.id, TimeCategory::exposed_dp);
        op.slot = slot(rank, false, index(communicator), static_cast<std::uint32_t>(member));
        op.argument = writer_.collective(
            {.kind = task.collective, .algorithm = task.algorithm, .bytes = task.bytes, .options = {.matrix = task.matrix}});
        break;
      }
    }
    const std::vector<sim::Dependency> needs = needs_of(task, rank);
    if (needs.size() > 0xff) throw sim::InputError{fmt::format("task '{}': more than 255 entries in after", task.id)};
    templates_[rank].add(op, needs);
  }

  const CustomProgramSpec& spec_;
  const WorkloadSpec& common_;
  const Cluster& cluster_;
  std::uint32_t ranks_;
  ProgramWriter writer_;
  std::vector<sim::Template> templates_;
  std::vector<std::vector<sim::Slot>> slots_;
  std::vector<std::map<std::pair<bool, std::uint32_t>, std::uint16_t>> slot_numbers_;
  std::vector<sim::Duration> kernels_;
  std::map<std::string, std::pair<const CustomGroup*, sim::CommunicatorId>> groups_;
  std::map<std::string, std::map<std::uint32_t, Place>> places_;  // by task id, then rank
  std::map<std::pair<std::uint32_t, std::uint32_t>, sim::ChannelId> channels_;
};

}  // namespace

Workload build_custom_program(const CustomProgramSpec& spec, const WorkloadSpec& common, const Cluster& cluster) {
  return CustomBuilder{spec, common, cluster}.build();
}

}  // namespace traingraph::workloads
