// Any bytes at all as a scenario: it loads, or a ScenarioError says why not; and what loads prints as a scenario that loads
// again.
#include "scenarios/scenario.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace traingraph;
  std::string text{data, data + size};
  std::string effective;
  try {
    effective = scenarios::effective_yaml(scenarios::load_text(std::move(text), "fuzz.yaml"));
  } catch (const sim::InputError&) {
    return 0;
  }
  try {
    if (scenarios::effective_yaml(scenarios::load_text(effective, "fuzz.yaml")).empty()) std::abort();
  } catch (const sim::InputError&) {
    std::abort();
  }
  return 0;
}
