#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/format.h"
#include "scenarios/cli/exit_code.h"
#include "scenarios/cli/load.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/paint.h"
#include "scenarios/cli/verbs.h"
#include "scenarios/diagnostics.h"
#include "scenarios/preset_store.h"
#include "topology/build.h"
#include "topology/describe.h"

namespace traingraph::scenarios::cli {
namespace {

constexpr std::string_view kFolder = "clusters";

std::string shown(const Options& options, const topology::ClusterSpec& cluster) {
  const topology::Fabric fabric = topology::build(cluster);
  const topology::Description description = topology::describe(fabric, cluster);
  switch (options.format) {
    case Format::json:
      return topology::to_json(fabric, description);
    case Format::dot:
      return topology::to_dot(fabric, description);
    case Format::svg:
      return topology::to_svg(fabric, description);
    default:
      break;
  }
  const std::string text = topology::to_text(description);
  return options.color && !options.output ? paint_summary(text) : text;
}

}  // namespace

void topo_list(const Options& options) {
  nlohmann::ordered_json json;
  json["schema"] = "traingraph/topo-list/1";
  json["presets"] = nlohmann::ordered_json::array();
  std::string text = fmt::format("{:<32}{:>12}\n", "cluster preset", "GPUs");
  for (const std::string& name : preset_names(kFolder)) {
    const std::uint64_t gpus = gpu_count(load_cluster_preset(name));
    json["presets"].push_back({{"name", name}, {"gpus", gpus}});
    text += fmt::format("{:<32}{:>12}\n", name, analysis::with_thousands(gpus));
  }
  if (options.format == Format::json) return write_stdout(json.dump(2) + "\n");
  write_stdout(options.color ? paint_summary(text) : text);
}

void topo_show(const Options& options) {
  if (!options.output) return write_stdout(shown(options, load_cluster(options, options.subject, "topo show")));
  OutputFile file{*options.output, options.output_policy};
  file.write(shown(options, load_cluster(options, options.subject, "topo show")));
  file.commit();
}

}  // namespace traingraph::scenarios::cli
