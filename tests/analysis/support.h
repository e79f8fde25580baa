// What the tests of analysis share: a star fabric (every GPU on one or more switches), its router, and three small programs
// whose times can be worked out by hand.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "sim/options.h"
#include "sim/record.h"
#include "sim/router.h"
#include "sim/simulate.h"
#include "topology/fabric.h"
#include "workloads/collectives/collectives.h"
#include "workloads/workload.h"

namespace traingraph::analysis::testing {

struct StarSpec {
  std::uint32_t gpus = 4;
  std::uint32_t planes = 1;  ///< switches; a flow's connection picks one
  sim::Bandwidth bandwidth = sim::Bandwidth::bytes_per_s(1e9);
  sim::Duration latency{};
};

/// GPU g's links to and from plane p are up(g, p) and down(g, p). Every GPU is a cut of kind "node", the lower half of the
/// GPUs one of kind "bisection".
struct Star {
  explicit Star(const StarSpec& spec);
  [[nodiscard]] static sim::LinkId up(const StarSpec& spec, std::uint32_t gpu, std::uint32_t plane = 0);
  [[nodiscard]] static sim::LinkId down(const StarSpec& spec, std::uint32_t gpu, std::uint32_t plane = 0);

  StarSpec spec;
  topology::Fabric fabric;
};

class StarRouter final : public sim::Router {
 public:
  explicit StarRouter(const Star& star, sim::Duration overhead = {}) : star_{star}, overhead_{overhead} {}
  [[nodiscard]] bool depends_on_connection() const override { return star_.spec.planes > 1; }
  [[nodiscard]] std::uint64_t routes_asked() const { return asked_; }

 private:
  [[nodiscard]] sim::Path do_route(sim::EndpointId source, sim::EndpointId destination,
                                   std::uint64_t connection) const override;
  [[nodiscard]] sim::Path do_route_in_switch(std::span<const sim::EndpointId> members) const override;
  const Star& star_;
  sim::Duration overhead_;
  mutable std::uint64_t asked_ = 0;
};

/// `calls` collectives one after the other among all GPUs, nothing else.
struct CollectiveProgram {
  workloads::CollectiveKind kind = workloads::CollectiveKind::all_reduce;
  workloads::Algorithm algorithm = workloads::Algorithm::ring;
  sim::Bytes bytes{4e6};
  std::uint32_t calls = 1;
  workloads::CollectiveOptions options{};
};
[[nodiscard]] workloads::Workload collective_workload(std::uint32_t gpus, const CollectiveProgram& what);

/// Data parallel: every GPU computes, all-reduces by a ring on a second stream, then runs its optimizer.
struct DataParallel {
  std::uint32_t gpus = 4;
  std::uint32_t steps = 1;
  sim::Duration compute = sim::Duration::ms(10);
  sim::Duration memory_bound = sim::Duration::ms(2);
  sim::Duration optimizer = sim::Duration::ms(1);
  sim::Bytes gradients{4e6};
  double slowest = 1.0;  ///< compute scale of the last GPU
};
[[nodiscard]] workloads::Workload data_parallel(const DataParallel& what);

/// A pipeline of one GPU a stage; messages of `bytes` each way.
struct Pipeline {
  std::string schedule = "1f1b";
  std::uint32_t microbatches = 4;
  std::uint32_t steps = 1;
  std::vector<sim::Duration> forward{};  ///< per stage
  std::vector<sim::Duration> backward{};
  sim::Bytes bytes{};
};
[[nodiscard]] workloads::Workload pipeline(const Pipeline& what);

/// Simulates and analyzes, the ideal run included.
struct Run {
  sim::Record record;
  sim::Record ideal;
  Result result;
};
[[nodiscard]] Run run(const Star& star, const sim::Router& router, const workloads::Workload& workload,
                      const sim::RunOptions& options = {});

/// A new empty directory, removed with the object.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] std::vector<std::string> names() const;  ///< of the files in it, sorted

 private:
  std::string path_;
};

[[nodiscard]] std::string read_bytes(const std::string& path);

}  // namespace traingraph::analysis::testing
