// ProgramWriter: fills the tables of a sim::Program (labels, durations, sizes, collectives, communicators, channels) without
// duplicates, and hands the engine the algorithm of each collective.
//
// Communicators of equal size and equal cut into scale-up domains have one shape and share their transfer sources.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/program.h"
#include "workloads/cluster.h"
#include "workloads/collectives/collectives.h"
#include "workloads/workload.h"

namespace traingraph::workloads {

/// A collective call as the source needs it; the Program's CollectiveSpec says the same for people.
struct CollectiveCall {
  CollectiveKind kind{};
  Algorithm algorithm{};
  sim::Bytes bytes;
  CollectiveOptions options;
};

class ProgramWriter {
 public:
  /// `gpu_of` is the placement: the GPU of each rank.
  ProgramWriter(std::vector<sim::EndpointId> gpu_of, const Cluster& cluster);

  [[nodiscard]] std::uint16_t label(const std::string& name, TimeCategory category, TimeCategory late);
  [[nodiscard]] std::uint16_t label(const std::string& name, TimeCategory category) {
    return label(name, category, category);
  }
  [[nodiscard]] std::uint32_t duration(sim::Duration d);
  [[nodiscard]] std::uint32_t message(sim::Bytes bytes);
  [[nodiscard]] std::uint32_t collective(const CollectiveCall& call);

  sim::CommunicatorId communicator(std::string name, std::vector<sim::RankId> members);
  sim::ChannelId channel(sim::RankId source, sim::RankId destination);

  sim::TemplateId add_template(sim::Template t);
  /// Ranks in ascending order; `slots` as many as the template says.
  void add_rank(sim::TemplateId role, const std::vector<sim::Slot>& slots);

  /// Checks every collective that some rank will call against its communicator, and gives the program away.
  [[nodiscard]] sim::Program finish(std::uint32_t steps, const std::vector<std::pair<sim::EndpointId, double>>& slow);

  [[nodiscard]] const std::vector<sim::EndpointId>& gpu_of() const { return gpu_of_; }

 private:
  struct Shape {
    std::uint32_t members = 0;
    std::uint32_t domain_size = 0;  // members per scale-up domain, consecutive and equal; 0: irregular
    auto operator<=>(const Shape&) const = default;
  };
  // Everything that makes two calls equal. The matrix is compared by identity; the order of keys never reaches the program.
  using CallKey = std::tuple<CollectiveKind, Algorithm, double, std::uint32_t, std::uint32_t, double, std::uint32_t,
                             Algorithm, bool, std::shared_ptr<const BytesMatrix>>;
  [[nodiscard]] Shape shape_of(const std::vector<sim::RankId>& members) const;
  void check_calls() const;

  sim::Program program_;
  std::vector<sim::EndpointId> gpu_of_;
  std::vector<std::int32_t> domain_of_;  // by rank
  std::vector<CollectiveCall> calls_;
  std::vector<Shape> shapes_;
  std::map<Shape, std::uint32_t> shape_numbers_;
  std::map<std::tuple<std::string, TimeCategory, TimeCategory>, std::uint16_t> label_numbers_;
  std::map<sim::Duration, std::uint32_t> duration_numbers_;
  std::map<double, std::uint32_t> message_numbers_;
  std::map<CallKey, std::uint32_t> call_numbers_;
};

}  // namespace traingraph::workloads
