#include <fmt/format.h>

#include <optional>
#include <string>

#include "scenarios/cli/exit_code.h"
#include "scenarios/cli/interrupt.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/progress.h"
#include "scenarios/cli/verbs.h"
#include "scenarios/validation/theory_checks.h"

namespace traingraph::scenarios::cli {
namespace {

constexpr std::uint64_t kScenarios = 600, kScenariosOfSmoke = 40;

}  // namespace

void validate_theory(const Options& options) {
  std::optional<OutputFile> file;
  if (options.output) file.emplace(*options.output, options.output_policy);
  ProgressLine line{options.progress_on_terminal, write_stderr, ProgressLine::Clock::now};
  CheckHooks hooks{options.threads, &interrupted(), {}};
  if (options.progress) hooks.progress = [&](const std::string& text) { line.update(text); };
  const PolledSection polled;
  TheoryValidation validation;
  validation.bounds = check_bounds(options.smoke ? kScenariosOfSmoke : kScenarios, hooks);
  validation.ideal = check_ideal_cases();
  validation.grid = compare_step_model(options.smoke, hooks);
  line.erase();
  const std::string text = to_markdown(validation);
  if (file) {
    file->write(text);
    file->commit();
    if (!options.quiet) write_stderr(fmt::format("wrote {}\n", options.output->string()));
  } else {
    write_stdout(text);
  }
  if (!validation.passed()) throw ValidationFailed{"validate theory: a bound or a formula is missed; the report says which"};
}

}  // namespace traingraph::scenarios::cli
