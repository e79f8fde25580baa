#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "analysis/plan/plan_report.h"
#include "scenarios/cli/interrupt.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/paint.h"
#include "scenarios/cli/plan_options.h"
#include "scenarios/cli/progress.h"
#include "scenarios/cli/verbs.h"
#include "scenarios/plan_scenario.h"

namespace traingraph::scenarios::cli {
namespace {

namespace reports = analysis::plan;

std::string printed(const reports::PlanReport& report, Format format) {
  if (format == Format::json) return reports::to_json(report).dump(2) + "\n";
  return format == Format::csv ? reports::to_csv(report) : reports::to_text(report);
}

}  // namespace

void plan(const Options& options) {
  PlanQuestion question = plan_question(options);
  std::optional<OutputFile> file;
  if (options.output) file.emplace(*options.output, options.output_policy);
  const Scenario scenario = plan_subject(options);
  ProgressLine line{options.progress_on_terminal, write_stderr, ProgressLine::Clock::now};
  if (options.progress) question.limits.progress = [&](const std::string& text) { line.update(text); };
  const PolledSection polled;
  const reports::PlanReport report = plan_scenario(scenario, question);
  line.erase();
  if (file) {
    file->write(printed(report, options.file_format));
    file->commit();
  }
  const std::string text = printed(report, options.format);
  write_stdout(options.color ? paint_summary(text) : text);
  if (options.output && !options.quiet) write_stderr(fmt::format("wrote {}\n", options.output->string()));
}

}  // namespace traingraph::scenarios::cli
