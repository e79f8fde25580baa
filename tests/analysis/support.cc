#include "tests/analysis/support.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "analysis/bounds.h"
#include "sim/error.h"

namespace traingraph::analysis::testing {
namespace {

using sim::Duration;
using sim::LinkId;
using workloads::TimeCategory;

constexpr sim::Category category(TimeCategory c) { return static_cast<sim::Category>(c); }

/// The collective calls of a program as sources: what Program::source is made of.
auto source_of(std::vector<CollectiveProgram> calls) {
  return [calls = std::move(calls)](std::uint32_t collective, std::uint32_t, std::span<const sim::RankId> members) {
    const CollectiveProgram& c = calls[collective];
    return workloads::make_source(c.kind, c.algorithm, static_cast<std::uint32_t>(members.size()), c.bytes, c.options);
  };
}

workloads::Workload empty_workload(std::uint32_t steps) {
  workloads::Workload w;
  w.program.categories = workloads::category_names();
  w.program.idle_category = category(TimeCategory::idle);
  w.program.steps = steps;
  return w;
}

std::uint16_t add_label(sim::Program& program, const std::string& name, TimeCategory on_time, TimeCategory late) {
  program.labels.push_back({name, category(on_time), category(late)});
  return static_cast<std::uint16_t>(program.labels.size() - 1);
}

std::uint32_t add_duration(sim::Program& program, Duration d) {
  program.durations.push_back(d);
  return static_cast<std::uint32_t>(program.durations.size() - 1);
}

/// One communicator of all ranks, one slot each.
void join_all(sim::Program& program, std::uint32_t gpus) {
  sim::Communicator all{.name = "all[0]", .members = {}, .shape = 0};
  for (std::uint32_t r = 0; r < gpus; ++r) {
    sim::Rank rank;
    rank.role = sim::TemplateId{0};
    rank.endpoint = sim::EndpointId{r};
    rank.first_slot = r;
    program.ranks.push_back(rank);
    program.slots.push_back({.target = 0, .member = r});
    all.members.push_back(sim::RankId{r});
  }
  program.communicators.push_back(all);
}

}  // namespace

LinkId Star::up(const StarSpec& spec, std::uint32_t gpu, std::uint32_t plane) {
  return LinkId{2 * (gpu * spec.planes + plane)};
}
LinkId Star::down(const StarSpec& spec, std::uint32_t gpu, std::uint32_t plane) {
  return LinkId{2 * (gpu * spec.planes + plane) + 1};
}

Star::Star(const StarSpec& s) : spec{s} {
  using topology::DeviceId;
  fabric.name = "star";
  for (std::uint32_t g = 0; g < s.gpus; ++g) {
    topology::Device gpu;
    gpu.kind = topology::DeviceKind::gpu;
    gpu.name = "node" + std::to_string(g) + ".gpu0";
    gpu.node = static_cast<std::int32_t>(g);
    fabric.endpoints.push_back(fabric.devices.push_back(gpu));
  }
  for (std::uint32_t p = 0; p < s.planes; ++p) {
    topology::Device sw;
    sw.kind = topology::DeviceKind::leaf;
    sw.name = "leaf" + std::to_string(p);
    fabric.devices.push_back(sw);
  }
  for (std::uint32_t g = 0; g < s.gpus; ++g) {
    for (std::uint32_t p = 0; p < s.planes; ++p) {
      const DeviceId gpu{g}, sw{s.gpus + p};
      const std::string a = fabric.devices[gpu].name, b = fabric.devices[sw].name;
      for (const bool upwards : {true, false}) {
        fabric.links.push_back({s.bandwidth, s.latency});
        topology::LinkInfo info;
        info.source = upwards ? gpu : sw;
        info.target = upwards ? sw : gpu;
        info.tier = topology::Tier::nic;
        info.name = upwards ? a + ">" + b : b + ">" + a;
        fabric.link_info.push_back(info);
      }
    }
    const sim::Bandwidth port = s.bandwidth * static_cast<double>(s.planes);
    fabric.cuts.push_back({"node" + std::to_string(g), "node", {{g, 1, 1}}, port, port});
  }
  const std::uint32_t half = s.gpus / 2;
  const sim::Bandwidth across = s.bandwidth * static_cast<double>(half * s.planes);
  if (half > 0) fabric.cuts.push_back({"lower half", "bisection", {{0, half, 1}}, across, across});
}

sim::Path StarRouter::do_route(sim::EndpointId source, sim::EndpointId destination, std::uint64_t connection) const {
  ++asked_;
  if (source == destination) return {};
  const auto plane = static_cast<std::uint32_t>((connection * 0x9e3779b97f4a7c15U >> 32) % star_.spec.planes);
  return sim::single_path(star_.fabric.links,
                          {Star::up(star_.spec, index(source), plane), Star::down(star_.spec, index(destination), plane)},
                          overhead_);
}

sim::Path StarRouter::do_route_in_switch(std::span<const sim::EndpointId> members) const {
  ++asked_;
  sim::Route route;
  route.stages.resize(2);
  for (const sim::EndpointId m : members) {
    route.stages[0].push_back(Star::up(star_.spec, index(m)));
    route.stages[1].push_back(Star::down(star_.spec, index(m)));
  }
  return sim::combine_routes(star_.fabric.links, {route}, overhead_);
}

workloads::Workload collective_workload(std::uint32_t gpus, const CollectiveProgram& what) {
  workloads::Workload w = empty_workload(1);
  sim::Program& p = w.program;
  const std::uint16_t label = add_label(p, "collective", TimeCategory::exposed_dp, TimeCategory::exposed_dp);
  p.collectives.push_back({to_string(what.kind), to_string(what.algorithm), what.bytes});
  sim::Template role;
  role.name = "member";
  role.slots = 1;
  for (std::uint32_t c = 0; c < what.calls; ++c) role.add({.kind = sim::OpKind::collective, .label = label}, {});
  p.templates.push_back(role);
  join_all(p, gpus);
  p.source = source_of({what});
  w.roles.resize(1);
  w.description = "collective";
  return w;
}

workloads::Workload data_parallel(const DataParallel& what) {
  workloads::Workload w = empty_workload(what.steps);
  sim::Program& p = w.program;
  const std::uint16_t compute = add_label(p, "matmul", TimeCategory::compute, TimeCategory::compute);
  const std::uint16_t norm = add_label(p, "norm", TimeCategory::memory_bound, TimeCategory::memory_bound);
  const std::uint16_t reduce = add_label(p, "dp_all_reduce", TimeCategory::exposed_dp, TimeCategory::exposed_dp);
  const std::uint16_t adam = add_label(p, "adam", TimeCategory::optimizer, TimeCategory::optimizer);
  p.collectives.push_back({"all_reduce", "ring", what.gradients});

  sim::Template role;
  role.name = "replica";
  role.streams = 2;
  role.slots = 1;
  role.add({.kind = sim::OpKind::compute, .label = compute, .argument = add_duration(p, what.compute)}, {});
  const std::uint32_t last =
      role.add({.kind = sim::OpKind::compute, .label = norm, .argument = add_duration(p, what.memory_bound)}, {});
  const sim::Dependency gradients{0, last};
  const std::uint32_t reduced = role.add({.kind = sim::OpKind::collective, .label = reduce, .stream = 1}, {&gradients, 1});
  const sim::Dependency sum{1, reduced};
  role.add({.kind = sim::OpKind::compute, .label = adam, .argument = add_duration(p, what.optimizer)}, {&sum, 1});
  p.templates.push_back(role);
  join_all(p, what.gpus);
  p.ranks[sim::RankId{what.gpus - 1}].compute_scale = what.slowest;
  CollectiveProgram ring;
  ring.bytes = what.gradients;
  p.source = source_of({ring});

  workloads::RoleFacts facts;
  facts.arithmetic_at_peak = what.compute;
  facts.memory_at_peak = what.memory_bound + what.optimizer;
  facts.kernels = what.compute + what.memory_bound + what.optimizer;
  facts.memory = {{"parameters", sim::Bytes{3e9}}, {"optimizer states", sim::Bytes{9e9}}};
  w.roles.push_back(facts);
  w.description = "data parallel";
  w.tokens_per_step = 1000;
  w.model_flop_per_step = sim::Flop{1e12};
  w.hardware_flop_per_step = sim::Flop{1.25e12};
  w.flop_convention = "counted";
  w.peak_per_gpu = sim::FlopRate::flop_per_s(1e14);
  w.memory_capacity = sim::Bytes{80e9};
  return w;
}

namespace {

/// Positions in stream 0 are known as they are added: F of micro-batch m waits for message m, its send for F.
class StageWriter {
 public:
  StageWriter(sim::Program& program, const Pipeline& what, std::uint32_t stage, std::uint16_t compute, std::uint16_t message)
      : what_{what}, stage_{stage}, compute_{compute}, message_{message} {
    role_.name = "stage " + std::to_string(stage);
    role_.streams = 5;
    role_.slots = 4;
    forward_ = add_duration(program, what.forward[stage]);
    backward_ = add_duration(program, what.backward[stage]);
  }

  void forward(std::int32_t m) { work(m, forward_, stage_ > 0, 1, stage_ + 1 < stages(), 2); }
  void backward(std::int32_t m) { work(m, backward_, stage_ + 1 < stages(), 3, stage_ > 0, 4); }
  [[nodiscard]] sim::Template take() && { return std::move(role_); }

 private:
  [[nodiscard]] std::uint32_t stages() const { return static_cast<std::uint32_t>(what_.forward.size()); }

  /// Slots: 0 from the stage before, 1 to the stage after, 2 from the stage after, 3 to the stage before.
  void work(std::int32_t m, std::uint32_t duration, bool receives, std::uint16_t receive_stream, bool sends,
            std::uint16_t send_stream) {
    std::vector<sim::Dependency> needs;
    if (receives) {
      const auto slot = static_cast<std::uint16_t>(receive_stream == 1 ? 0 : 2);
      needs.push_back(
          {receive_stream,
           role_.add(
               {.kind = sim::OpKind::receive, .label = message_, .stream = receive_stream, .slot = slot, .microbatch = m},
               {})});
    }
    const std::uint32_t done =
        role_.add({.kind = sim::OpKind::compute, .label = compute_, .argument = duration, .microbatch = m}, needs);
    if (!sends) return;
    const auto slot = static_cast<std::uint16_t>(send_stream == 2 ? 1 : 3);
    const sim::Dependency ready{0, done};
    role_.add({.kind = sim::OpKind::send, .label = message_, .stream = send_stream, .slot = slot, .microbatch = m},
              {&ready, 1});
  }

  const Pipeline& what_;
  std::uint32_t stage_;
  std::uint16_t compute_, message_;
  std::uint32_t forward_ = 0, backward_ = 0;
  sim::Template role_;
};

}  // namespace

workloads::Workload pipeline(const Pipeline& what) {
  workloads::Workload w = empty_workload(what.steps);
  sim::Program& p = w.program;
  const std::uint16_t compute = add_label(p, "block", TimeCategory::compute, TimeCategory::compute);
  const std::uint16_t message = add_label(p, "activation", TimeCategory::wait, TimeCategory::bubble);
  p.message_bytes.push_back(what.bytes);
  const auto stages = static_cast<std::uint32_t>(what.forward.size());
  const auto m = static_cast<std::int32_t>(what.microbatches);
  for (std::uint32_t s = 0; s + 1 < stages; ++s) {  // channels 2s: s to s+1; 2s+1: back
    sim::Channel there, back;
    there.source = back.destination = sim::RankId{s};
    there.destination = back.source = sim::RankId{s + 1};
    p.channels.push_back(there);
    p.channels.push_back(back);
  }
  for (std::uint32_t s = 0; s < stages; ++s) {
    StageWriter stage{p, what, s, compute, message};
    const std::int32_t warm = what.schedule == "gpipe" ? m : std::min(m, static_cast<std::int32_t>(stages - s));
    for (std::int32_t i = 0; i < warm; ++i) stage.forward(i);
    for (std::int32_t i = 0; i < m; ++i) {
      stage.backward(i);
      if (warm + i < m) stage.forward(warm + i);
    }
    p.templates.push_back(std::move(stage).take());
    sim::Rank rank;
    rank.role = sim::TemplateId{s};
    rank.endpoint = sim::EndpointId{s};
    rank.first_slot = 4 * s;
    p.ranks.push_back(rank);
    const auto before = s > 0 ? 2 * (s - 1) : 0, after = s + 1 < stages ? 2 * s : 0;
    for (const std::uint32_t channel : {before, after, after + 1, before + 1}) p.slots.push_back({channel, 0});
    workloads::RoleFacts facts;
    facts.arithmetic_at_peak = (what.forward[s] + what.backward[s]) * m;
    w.roles.push_back(facts);
    w.coordinates.push_back({.pp = s});
  }
  w.pipeline.stages = stages;
  w.pipeline.microbatches = what.microbatches;
  w.pipeline.schedule = what.schedule;
  w.pipeline.forward = what.forward;
  w.pipeline.backward = what.backward;
  w.description = "pipeline";
  return w;
}

Run run(const Star& star, const sim::Router& router, const workloads::Workload& workload, const sim::RunOptions& options) {
  Run r{sim::simulate(star.fabric.links, router, workload.program, options),
        longest_chain(star.fabric.links, router, workload.program, options).value(),
        {}};
  r.result = analyze({.fabric = star.fabric,
                      .router = router,
                      .workload = workload,
                      .options = options,
                      .record = r.record,
                      .ideal = &r.ideal});
  return r;
}

ScratchDirectory::ScratchDirectory() {
  std::string pattern = std::filesystem::temp_directory_path().string() + "/traingraph_test_XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error{"cannot make a directory like " + pattern};
  path_ = pattern;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> ScratchDirectory::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{path_}) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_bytes(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace traingraph::analysis::testing
