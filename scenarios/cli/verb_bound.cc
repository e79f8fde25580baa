#include <nlohmann/json.hpp>
#include <string>

#include "analysis/bound_report.h"
#include "scenarios/cli/load.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/paint.h"
#include "scenarios/cli/verbs.h"
#include "scenarios/run_scenario.h"

namespace traingraph::scenarios::cli {

void bound(const Options& options) {
  const Scenario scenario = load_subject(options);
  const analysis::BoundReport report = bounds_of(scenario, prepare(scenario));
  if (options.format == Format::json) return write_stdout(to_json(report).dump(2) + "\n");
  if (options.format == Format::csv) return write_stdout(to_csv(report));
  const std::string text = to_text(report);
  write_stdout(options.color ? paint_summary(text) : text);
}

}  // namespace traingraph::scenarios::cli
