#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/format.h"
#include "scenarios/cli/load.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/paint.h"
#include "scenarios/cli/verbs.h"
#include "scenarios/run_scenario.h"

namespace traingraph::scenarios::cli {
namespace {

/// As YAML comments: the whole output is a scenario that loads to the same values.
std::string size_text(const RunSize& size) {
  using analysis::counted;
  using analysis::human_words;
  return fmt::format(
      "# Size of the run\n"
      "#   cluster     {}, {}, {}\n"
      "#   workload    {}, {} operations, {} transfers if every collective is played step by step\n"
      "#   memory      about {} (right to a factor of 1.5 for network model flow)\n",
      counted(size.gpus, "GPU"), counted(size.devices, "device"), counted(size.links, "directed link"),
      counted(size.ranks, "rank"), human_words(size.operations), human_words(size.transfers),
      analysis::human_bytes(size.memory.count()));
}

std::string size_json(const Scenario& scenario, const RunSize& size) {
  nlohmann::ordered_json json;
  json["schema"] = "traingraph/check/1";
  json["name"] = scenario.name;
  json["gpus"] = size.gpus;
  json["ranks"] = size.ranks;
  json["devices"] = size.devices;
  json["links"] = size.links;
  json["operations"] = size.operations;
  json["transfers"] = size.transfers;
  json["memory_bytes"] = size.memory.count();
  json["effective_scenario"] = effective_yaml(scenario);
  return json.dump(2) + "\n";
}

}  // namespace

void check(const Options& options) {
  if (options.schema) return write_stdout(describe_schema());
  const Scenario scenario = load_subject(options);
  const RunSize size = size_of(scenario, prepare(scenario));
  if (options.format == Format::json) return write_stdout(size_json(scenario, size));
  const std::string text = effective_yaml(scenario) + "\n" + size_text(size);
  write_stdout(options.color ? paint_yaml(text) : text);
}

}  // namespace traingraph::scenarios::cli
