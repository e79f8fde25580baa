// Any bytes at all as a log of nccl-tests: it has rows, or a ScenarioError says that it has none.
#include "scenarios/nccl_log.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "scenarios/diagnostics.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace traingraph;
  try {
    if (scenarios::read_nccl_log("fuzz", std::string{data, data + size}).rows.empty()) std::abort();
  } catch (const scenarios::ScenarioError&) {
    return 0;
  }
  return 0;
}
