// InfraGraph as read: devices made of components with links between them, instances of devices, links between instances.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/import/custom_writer.h"
#include "topology/import/formats.h"

namespace traingraph::topology::imports {

struct InfraPlace {
  const ImportFile* file = nullptr;
  std::uint32_t line = 0, column = 0;
};

struct InfraComponent {
  std::string name;
  std::string type;  ///< cpu, xpu, npu, nic, switch, port, custom, ...
  std::uint32_t count = 1;
};

/// Numbered things of one name: [first, last) in steps.
struct InfraSlice {
  std::string name;
  std::optional<std::int64_t> first, last;
  std::int64_t step = 1;
};

struct InfraEndpoint {
  InfraSlice instance;  ///< empty name: inside a device
  InfraSlice component;
};

struct InfraEdge {
  InfraEndpoint a, b;
  std::string link;
  bool every_pair = false;
  InfraPlace place;
};

using InfraLinks = std::map<std::string, sim::Bandwidth>;  // 0: the file has no speed

struct InfraDevice {
  std::vector<InfraComponent> components;
  InfraLinks links;
  std::vector<InfraEdge> edges;
};

struct InfraInstance {
  std::string device;
  std::uint32_t count = 1;
};

struct Infrastructure {
  std::map<std::string, InfraDevice> devices;
  std::map<std::string, InfraInstance> instances;
  InfraLinks links;
  std::vector<InfraEdge> edges;  ///< between instances
  sim::Bandwidth fastest{};      ///< of all links
};

/// Reads all files together; `writer` takes what is inferred.
[[nodiscard]] Infrastructure read_infrastructure(std::span<const ParsedFile> files, CustomWriter& writer);

}  // namespace traingraph::topology::imports
