#include "scenarios/cli/main.h"

#include <exception>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "scenarios/cli/command_line.h"
#include "scenarios/cli/exit_code.h"
#include "scenarios/cli/interrupt.h"
#include "scenarios/cli/options.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/terminal.h"
#include "scenarios/cli/verbs.h"

namespace traingraph::scenarios::cli {
namespace {

void perform(const std::vector<std::string>& words) {
  const Terminal terminal = Terminal::of_process();
  const std::variant<RawOptions, Answer> parsed = parse_command_line(words);
  if (const auto* answer = std::get_if<Answer>(&parsed)) {
    write_stdout(answer->text);
    return;
  }
  const Options options = understand(std::get<RawOptions>(parsed), terminal, std::thread::hardware_concurrency());
  switch (options.verb) {
    case Verb::run:
      return run(options);
    case Verb::check:
      return check(options);
    case Verb::bound:
      return bound(options);
    case Verb::limits:
      return limits(options);
    case Verb::plan:
      return plan(options);
    case Verb::sweep:
      return sweep(options);
    case Verb::validate_theory:
      return validate_theory(options);
    case Verb::topo_list:
      return topo_list(options);
    case Verb::topo_show:
      return topo_show(options);
    case Verb::import:
      return import_cluster(options);
    case Verb::collective:
      return collective(options);
    case Verb::compare:
      return compare(options);
    case Verb::serve:
      return serve(options);
    case Verb::report:
      return report(options);
  }
}

}  // namespace

int run_main(int argc, char** argv) {
  occupy_standard_streams();
  install_signal_handlers();
  Verdict verdict;
  try {
    perform({argv + 1, argv + argc});
  } catch (...) {
    verdict = exit_code_of(std::current_exception());
  }
  if (!verdict.message.empty()) write_stderr(verdict.message + "\n");
  return static_cast<int>(verdict.code);
}

}  // namespace traingraph::scenarios::cli
