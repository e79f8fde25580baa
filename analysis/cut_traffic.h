// Bytes that one step must move across the known cuts of a fabric, whatever the routes: once as the chosen algorithms do it,
// once as any algorithm must (the formulas stand in bounds.h).
//
// Cost: O(endpoints inside the cuts) to index them, then O(cuts that hold an endpoint) per flow and per member of a group.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/traffic.h"
#include "sim/program.h"
#include "topology/fabric.h"

namespace traingraph::analysis {

struct CutBytes {
  double out = 0;
  double in = 0;
};

class CutTraffic {
 public:
  explicit CutTraffic(const topology::Fabric& fabric);

  /// Adds one flow of the chosen algorithm.
  void add(const Flow& flow);

  /// Adds what any algorithm must move for the calls of one step.
  void add_any_algorithm(const sim::Program& program, const StepCalls& calls);

  [[nodiscard]] const std::vector<CutBytes>& chosen() const { return chosen_; }  ///< by position in Fabric::cuts
  [[nodiscard]] const std::vector<CutBytes>& any_algorithm() const { return any_; }

 private:
  [[nodiscard]] bool inside(std::uint32_t cut, sim::EndpointId e) const;
  void add_point_to_point(std::vector<CutBytes>& sums, sim::EndpointId source, sim::EndpointId destination,
                          double bytes) const;
  void count_members(std::span<const sim::EndpointId> members);
  void add_communicator(const sim::Program& program, const sim::Communicator& communicator,
                        const std::vector<CallCount>& calls);

  sim::IdVector<sim::EndpointId, std::vector<std::uint32_t>> cuts_of_;  // which cuts hold an endpoint, ascending
  std::vector<CutBytes> chosen_;
  std::vector<CutBytes> any_;
  std::vector<std::uint32_t> members_inside_;  // by cut; zero outside count_members' users
  std::vector<std::uint32_t> touched_;         // cuts with members inside
};

}  // namespace traingraph::analysis
