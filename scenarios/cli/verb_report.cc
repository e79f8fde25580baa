#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "analysis/h5_input.h"
#include "analysis/report_page.h"
#include "analysis/step_document.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/verbs.h"

namespace traingraph::scenarios::cli {

void report(const Options& options) {
  std::optional<OutputFile> file;
  if (options.output) file.emplace(*options.output, options.output_policy);
  const std::string page = analysis::report_html(analysis::step_document(analysis::H5Input{options.subject}));
  if (!options.output) return write_stdout(page);
  file->write(page);
  file->commit();
  if (!options.quiet) write_stderr(fmt::format("wrote {}\n", options.output->string()));
}

}  // namespace traingraph::scenarios::cli
