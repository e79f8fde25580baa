// CustomWriter: a Custom network in the making, with the pieces that several formats need.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/import/import.h"

namespace traingraph::topology::imports {

class CustomWriter {
 public:
  explicit CustomWriter(const ImportOptions& options) : options_{options} {}

  void device(CustomDevice device);
  /// Both directions. Throws ImportError beyond kMostDevices links.
  void link(std::string a, std::string b, LinkSpec speed, Tier tier, std::uint32_t parallel = 1);
  /// Said once, however often.
  void note(std::string text);

  /// The GPUs NODE.gpu0, ... of a node whose GPUs are one with their NICs or hang on NIC devices; with a switch between them
  /// when options.scale_up says how fast.
  void gpus_of_node(const std::string& node, std::int32_t number, std::uint32_t gpus);

  [[nodiscard]] Custom& custom() { return custom_; }
  [[nodiscard]] Imported finish(std::string name, std::uint32_t nodes) &&;

 private:
  const ImportOptions& options_;
  Custom custom_;
  std::vector<std::string> notes_;
};

/// "400 Gb/s", for notes.
[[nodiscard]] std::string gbit(sim::Bandwidth bandwidth);

}  // namespace traingraph::topology::imports
