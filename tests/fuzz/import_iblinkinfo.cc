#include "tests/fuzz/import_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return traingraph::fuzz::import_bytes(traingraph::topology::ImportKind::iblinkinfo, data, size);
}
