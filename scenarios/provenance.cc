#include "scenarios/provenance.h"

namespace traingraph::scenarios {

Origin Provenance::origin(std::string_view path) const {
  while (true) {
    if (const auto it = entries.find(path); it != entries.end()) return it->second.origin;
    const std::size_t cut = path.find_last_of(".[");
    if (cut == std::string_view::npos) break;
    path = path.substr(0, cut);
  }
  const auto root = entries.find("");
  return root == entries.end() ? Origin{} : root->second.origin;
}

std::string joined(std::string_view path, std::string_view key) {
  std::string out{path};
  if (!out.empty()) out += '.';
  return out += key;
}

}  // namespace traingraph::scenarios
