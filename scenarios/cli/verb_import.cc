#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/cli/exit_code.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/paint.h"
#include "scenarios/cli/verbs.h"
#include "scenarios/cluster_yaml.h"
#include "scenarios/diagnostics.h"
#include "scenarios/import_request.h"
#include "scenarios/yaml_reader.h"
#include "topology/build.h"
#include "topology/describe.h"

namespace traingraph::scenarios::cli {

void import_cluster(const Options& options) {
  const std::vector<std::string> kinds = import_kinds();
  if (std::find(kinds.begin(), kinds.end(), options.subject) == kinds.end()) {
    throw UsageError{fmt::format("import: unknown kind '{}'{}", options.subject, suggestion(options.subject, kinds))};
  }
  std::optional<OutputFile> file;
  if (options.output) file.emplace(*options.output, options.output_policy);
  const topology::Imported imported = run_import(import_request(options.subject, options.files, options.overrides), "");
  const topology::Fabric fabric = topology::build(imported.cluster);
  if (!options.quiet) {
    for (const std::string& note : imported.notes) write_stderr(fmt::format("traingraph: import: {}\n", note));
  }
  const std::string yaml = cluster_yaml(imported.cluster, imported.notes);
  if (!options.output) return write_stdout(yaml);
  if (yaml.size() > kLargestFile) {
    throw UsageError{
        fmt::format("import: the cluster takes {} bytes as YAML, more than a scenario may have ({}); name the files in "
                    "the scenario instead: cluster: {{import: ...}}",
                    yaml.size(), kLargestFile)};
  }
  file->write(yaml);
  file->commit();
  const std::string text = topology::to_text(topology::describe(fabric, imported.cluster));
  write_stdout(options.color ? paint_summary(text) : text);
}

}  // namespace traingraph::scenarios::cli
