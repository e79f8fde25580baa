#include "analysis/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/cut_traffic.h"
#include "analysis/pipeline_bound.h"
#include "analysis/traffic.h"
#include "sim/error.h"
#include "sim/simulate.h"

namespace traingraph::analysis {
namespace {

using sim::Duration;

std::string gpu_name(const BoundInputs& in, sim::RankId rank) {
  return in.fabric.devices[in.fabric.endpoints[in.workload.program.ranks[rank].endpoint]].name;
}

/// Bounds 1 and 2: the rank for which `time_of(role)`, scaled by the rank's slowness, is largest.
template <class TimeOf>
std::optional<Bound> busiest_gpu(const BoundInputs& in, int number, const char* name, TimeOf time_of) {
  const sim::Program& program = in.workload.program;
  Duration best;
  sim::RankId who{};
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
    const sim::Rank& rank = program.ranks[sim::RankId{r}];
    const Duration t = time_of(in.workload.roles[rank.role]).scaled(rank.compute_scale);
    if (t > best) {
      best = t;
      who = sim::RankId{r};
    }
  }
  if (best == Duration{}) return std::nullopt;
  return Bound{.number = number,
               .name = name,
               .subject = gpu_name(in, who),
               .holds_for = "this program",
               .window = BoundWindow::every_step,
               .value = best,
               .simulated = {}};
}

/// Seconds to move `bytes` at `capacity`; infinite over a boundary that carries nothing.
double seconds(double bytes, double capacity) {
  if (bytes <= 0) return 0;
  return capacity > 0 ? bytes / capacity : std::numeric_limits<double>::infinity();
}

struct Largest {
  double seconds = 0;
  std::string subject;
  void offer(double s, const std::string& name) {
    if (s <= seconds) return;
    seconds = s;
    subject = name;
  }
};

/// The largest capacity that each link has during the run.
sim::IdVector<sim::LinkId, double> largest_capacity(const topology::Fabric& fabric, const sim::Program& program) {
  sim::IdVector<sim::LinkId, double> capacity(fabric.links.size());
  for (std::uint32_t l = 0; l < capacity.size(); ++l) {
    capacity[sim::LinkId{l}] = fabric.links[sim::LinkId{l}].capacity.bytes_per_s();
  }
  for (const sim::Program::LinkChange& change : program.link_changes) {
    capacity[change.link] = std::max(capacity[change.link], change.capacity.bytes_per_s());
  }
  return capacity;
}

Bound network_bound(const char* name, std::string subject, const char* holds_for, double seconds) {
  return Bound{.number = 3,
               .name = name,
               .subject = std::move(subject),
               .holds_for = holds_for,
               .window = BoundWindow::every_step,
               .value = Duration::seconds(seconds),
               .simulated = {}};
}

class NetworkBounds {
 public:
  explicit NetworkBounds(const BoundInputs& in)
      : in_{in},
        capacity_{largest_capacity(in.fabric, in.workload.program)},
        bytes_(in.fabric.links.size(), 0.0),
        cuts_{in.fabric} {
    const sim::Program& program = in.workload.program;
    const StepCalls calls = count_calls(program);
    for_each_flow(in.router, program, calls, [&](const Flow& flow, const sim::Path& path) {
      for (const sim::PathLink& hop : path.links) bytes_[hop.link] += flow.bytes * hop.fraction();
      cuts_.add(flow);
    });
    cuts_.add_any_algorithm(program, calls);
  }

  void append(std::vector<Bound>& bounds) const {
    append_links(bounds);
    append_switches(bounds);
    append_cuts(bounds, cuts_.chosen(), "any routing");
    append_cuts(bounds, cuts_.any_algorithm(), "any algorithm");
  }

 private:
  void append_links(std::vector<Bound>& bounds) const {
    Largest largest;
    for (std::uint32_t l = 0; l < bytes_.size(); ++l) {
      const sim::LinkId id{l};
      largest.offer(seconds(bytes_[id], capacity_[id]), in_.fabric.link_info[id].name);
    }
    if (largest.seconds > 0) {
      bounds.push_back(network_bound("link", largest.subject, "chosen algorithms and routes", largest.seconds));
    }
  }

  void append_switches(std::vector<Bound>& bounds) const {
    struct Sum {
      double bytes = 0, capacity = 0;
    };
    const auto& devices = in_.fabric.devices;
    sim::IdVector<topology::DeviceId, Sum> in(devices.size()), out(devices.size());
    for (std::uint32_t l = 0; l < bytes_.size(); ++l) {
      const sim::LinkId id{l};
      const topology::LinkInfo& info = in_.fabric.link_info[id];
      in[info.target].bytes += bytes_[id];
      in[info.target].capacity += capacity_[id];
      out[info.source].bytes += bytes_[id];
      out[info.source].capacity += capacity_[id];
    }
    Largest largest;
    for (std::uint32_t d = 0; d < devices.size(); ++d) {
      const topology::DeviceId id{d};
      if (devices[id].kind == topology::DeviceKind::gpu) continue;
      largest.offer(seconds(in[id].bytes, in[id].capacity), devices[id].name);
      largest.offer(seconds(out[id].bytes, out[id].capacity), devices[id].name);
    }
    if (largest.seconds > 0) {
      bounds.push_back(network_bound("switch", largest.subject, "chosen algorithms and routes", largest.seconds));
    }
  }

  void append_cuts(std::vector<Bound>& bounds, const std::vector<CutBytes>& bytes, const char* holds_for) const {
    std::map<std::string, Largest> by_kind;
    const double extra = added_capacity();
    for (std::size_t c = 0; c < bytes.size(); ++c) {
      const topology::Cut& cut = in_.fabric.cuts[c];
      Largest& largest = by_kind[cut.kind];
      largest.offer(seconds(bytes[c].out, cut.capacity_out.bytes_per_s() + extra), "out of " + cut.name);
      largest.offer(seconds(bytes[c].in, cut.capacity_in.bytes_per_s() + extra), "into " + cut.name);
    }
    for (const auto& [kind, largest] : by_kind) {
      if (largest.seconds > 0) {
        bounds.push_back(network_bound(("cut " + kind).c_str(), largest.subject, holds_for, largest.seconds));
      }
    }
  }

  /// A cut's capacity is that of the undisturbed fabric; what link changes add anywhere may be added to its boundary.
  [[nodiscard]] double added_capacity() const {
    double added = 0;
    for (std::uint32_t l = 0; l < capacity_.size(); ++l) {
      added += capacity_[sim::LinkId{l}] - in_.fabric.links[sim::LinkId{l}].capacity.bytes_per_s();
    }
    return added;
  }

  const BoundInputs& in_;
  sim::IdVector<sim::LinkId, double> capacity_;
  sim::IdVector<sim::LinkId, double> bytes_;
  CutTraffic cuts_;
};

/// `scale`: of the fastest rank, so that the bound holds whichever ranks are slow.
std::optional<Bound> pipeline(const workloads::PipelineFacts& p, double scale) {
  const std::optional<PipelineBound> bound = pipeline_bound(p);
  if (!bound) return std::nullopt;
  return Bound{.number = 5,
               .name = "pipeline",
               .subject = fmt::format("stage {} of {} ({})", bound->stage, p.stages, p.schedule),
               .holds_for = "this schedule",
               .window = BoundWindow::first_step,
               .value = bound->time.scaled(scale),
               .simulated = {}};
}

double smallest_compute_scale(const sim::Program& program) {
  double scale = std::numeric_limits<double>::infinity();
  for (const sim::Rank& rank : program.ranks) scale = std::min(scale, rank.compute_scale);
  return program.ranks.empty() ? 1.0 : scale;
}

void append_chains(const sim::Record& ideal, std::vector<Bound>& bounds) {
  for (const sim::CollectiveModes& m : ideal.modes) {
    SIM_ASSERT(m.bulk_forced == 0, "the longest chain is played exactly");
  }
  Bound first{.number = 4,
              .name = "chain",
              .subject = "a whole first step",
              .holds_for = "this program on any load",
              .window = BoundWindow::first_step,
              .value = ideal.step_ends.front().since_start(),
              .simulated = {}};
  Bound steady = first;
  bounds.push_back(std::move(first));
  if (ideal.step_ends.size() < 2) return;
  steady.subject = "one step to the next";
  steady.window = BoundWindow::steady_step;
  steady.value = ideal.step_time();
  bounds.push_back(std::move(steady));
}

Duration simulated_time(BoundWindow window, std::span<const sim::Time> ends) {
  if (ends.empty()) return {};
  const auto n = static_cast<std::int64_t>(ends.size());
  switch (window) {
    case BoundWindow::first_step:
      return ends.front().since_start();
    case BoundWindow::steady_step:
      return n == 1 ? ends.front().since_start() : ends.back() - ends[ends.size() - 2];
    case BoundWindow::every_step:
      return Duration::ps(ends.back().count_ps() / n);
  }
  SIM_ASSERT(false, "every window has a time");
}

/// Which bounds speak of the reported step: all of a single step; else not those of the cold one.
bool speaks_of_reported(BoundWindow window, std::uint32_t steps) { return steps == 1 || window != BoundWindow::first_step; }

void compare(std::vector<Bound>& bounds, std::span<const sim::Time> ends, std::uint32_t steps) {
  Bound* best = nullptr;
  for (Bound& b : bounds) {
    b.simulated = simulated_time(b.window, ends);
    b.of_reported_step = speaks_of_reported(b.window, steps);
    if (b.of_reported_step && b.value > Duration{} && (best == nullptr || b.value > best->value)) best = &b;
  }
  if (best != nullptr) best->binds = true;
}

}  // namespace

std::vector<Bound> lower_bounds(const BoundInputs& in) {
  std::vector<Bound> bounds;
  if (auto b = busiest_gpu(in, 1, "arithmetic", [](const workloads::RoleFacts& f) { return f.arithmetic_at_peak; })) {
    bounds.push_back(*std::move(b));
  }
  if (auto b = busiest_gpu(in, 2, "memory", [](const workloads::RoleFacts& f) { return f.memory_at_peak; })) {
    bounds.push_back(*std::move(b));
  }
  NetworkBounds{in}.append(bounds);
  if (in.ideal != nullptr) append_chains(*in.ideal, bounds);
  if (auto b = pipeline(in.workload.pipeline, smallest_compute_scale(in.workload.program))) {
    bounds.push_back(*std::move(b));
  }
  compare(bounds, in.step_ends, in.workload.program.steps);
  return bounds;
}

std::optional<sim::Record> longest_chain(const sim::LinkTable& links, const sim::Router& router, const sim::Program& program,
                                         const sim::RunOptions& options) {
  sim::RunOptions alone = options;
  alone.network = sim::NetworkModel::ideal;
  if (alone.collectives != sim::CollectiveMode::step) alone.collectives = sim::CollectiveMode::automatic;
  alone.bins = 0;
  alone.critical_path = false;
  sim::Record record = sim::simulate(links, router, program, alone);
  for (const sim::CollectiveModes& m : record.modes)
    if (m.bulk_forced > 0) return std::nullopt;
  return record;
}

const Bound* binding(std::span<const Bound> bounds) {
  const auto found = std::find_if(bounds.begin(), bounds.end(), [](const Bound& b) { return b.binds; });
  return found == bounds.end() ? nullptr : &*found;
}

}  // namespace traingraph::analysis
