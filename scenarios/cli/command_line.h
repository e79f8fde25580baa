// First stage of reading the command line: words become raw options, nothing else. No file, terminal or environment variable
// is looked at here, and no value is understood yet: that is options.h. The only file that knows the parser library is
// command_line.cc.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace traingraph::scenarios::cli {

enum class Verb {
  run,
  check,
  bound,
  limits,
  plan,
  sweep,
  validate_theory,
  topo_list,
  topo_show,
  import,
  collective,
  compare,
  serve,
  report
};

/// What only `plan` has.
struct PlanWords {
  std::optional<std::string> model, cluster, hardware, batch, sequence, precision;
  std::optional<std::string> gpus, top, budget, tokens, deadline;
  std::vector<std::string> keep;
};

/// Values as they were typed; nullopt or false: not given.
struct RawOptions {
  Verb verb = Verb::run;
  std::string subject;             ///< the scenario, the assumptions, or what `topo show` shows
  std::vector<std::string> files;  ///< `import`, `compare`: what to read
  std::string cluster;             ///< `collective`, `compare`: a preset or a file
  std::optional<std::string> min_bytes, max_bytes, step_factor, gpus, algo, proto, nccl, op;
  std::vector<std::string> set;      ///< "a.b=c"
  std::vector<std::string> compare;  ///< two files with assumptions
  std::optional<std::string> gpu;
  std::optional<std::string> format;
  std::optional<std::string> output;
  std::optional<std::string> progress;
  std::optional<std::string> color;
  std::optional<std::string> threads;
  std::optional<std::string> seed;
  std::optional<std::string> bins;
  std::optional<std::string> port;
  std::vector<std::string> trace;  ///< "tasks", "transfers"
  bool force = false;
  bool keep_partial = false;
  bool quiet = false;
  bool plain = false;
  bool explain = false;
  bool stats = false;
  bool sensitivity = false;
  bool no_symmetry = false;
  bool schema = false;
  bool published = false;
  bool smoke = false;
  PlanWords plan;
};

/// What was asked for is a text: --help, --version. It goes to stdout, with exit code 0.
struct Answer {
  std::string text;
};

/// `words` without the program's name. Throws UsageError: what is wrong, the nearest that is right, and the usage line.
[[nodiscard]] std::variant<RawOptions, Answer> parse_command_line(const std::vector<std::string>& words);

}  // namespace traingraph::scenarios::cli
