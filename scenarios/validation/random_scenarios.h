// Random small scenarios for checking laws that hold for all of them: transformers, linear blocks and collectives on one to
// four nodes. The same seed gives the same scenario on every machine.
#pragma once

#include <cstdint>

#include "scenarios/scenario.h"

namespace traingraph::scenarios {

/// May be one that cannot be built (prepare() throws sim::InputError): draw the next.
[[nodiscard]] Scenario random_scenario(std::uint64_t seed);

}  // namespace traingraph::scenarios
