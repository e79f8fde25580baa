#include "scenarios/cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "scenarios/cli/exit_code.h"
#include "scenarios/cli/version.h"
#include "scenarios/diagnostics.h"
#include "scenarios/limits_config.h"

namespace traingraph::scenarios::cli {
namespace {

const std::vector<std::string> kVerbs{"run", "check", "bound", "limits", "topo", "help"};
const std::vector<std::string> kTopoVerbs{"list", "show"};

constexpr std::string_view kUsage =
    "usage: traingraph run S.yaml [-o R.h5] | check S.yaml | bound S.yaml | limits [A.yaml] | topo list | topo show X\n"
    "       traingraph --version | --help";

constexpr std::string_view kMainHelp = R"(
Exit codes: 0 done; 1 a comparison failed; 2 the command line or the input is wrong (a deadlocked program included);
3 a defect of the program; 4 disk, permission or memory; 130 interrupted.
Quantities carry their unit, in scenarios and here: 400 Gb/s, 50 GB/s, 1.5 us, 80 GB, 80 GiB.
stdout carries the result, stderr the talk. Environment variables never change a result.
)";

constexpr std::string_view kRunHelp = R"(
S.yaml is a scenario: a cluster, a workload, and how to simulate it; '-' reads it from stdin. --set a.b=c replaces or adds one
value, is checked like the file, and may be repeated; the scenario that was really run is stored in the result file.
An output file appears whole under its name or not at all: data go to R.h5.part, which is renamed at the end. A file that exists
is refused before the run starts unless --force is given; a directory, a symbolic link or a device always is, and so is a name that
another run is writing to.
The progress line is shown on a terminal only, after half a second; the time left follows from the work done.
Examples:
  traingraph run scenarios/examples/gpt3_175b_1024_a100.yaml -o gpt3.h5
  traingraph run S.yaml --set workload.global_batch=3072 --format json > batch3072.json
)";

constexpr std::string_view kCheckHelp = R"(
Reads and checks S.yaml as `run` does, builds the cluster and the workload, and prints the effective scenario: every value, with the
place it came from (the file's line, a preset, --set, or a default), and how large the run would be. Nothing is simulated.
`traingraph check --schema` lists all keys.
)";

constexpr std::string_view kBoundHelp = R"(
Simulates no network. The lower bounds hold for every schedule on this very fabric: arithmetic, memory traffic, every link, switch and
cut, the longest chain of dependent work, the pipeline; the largest binds, and beside each stands how much faster it would have to
become before the next one binds. The step model of arXiv 2411.01137 stands below, at the scenario's layout, with its fabric seen as two
levels: what is to be expected rather than what cannot be beaten.
)";

constexpr std::string_view kLimitsHelp = R"(
The closed-form model of E. Erdil and D. Schneider-Joseph, "Data movement limits to frontier model training" (arXiv 2411.01137):
for every training compute the layout over the GPUs that finishes in time with the highest utilization, found exactly; where that
utilization falls below 80 % of what the GPU sustains (linear-scaling limit); and the largest run that can be finished at all
(latency wall). A.yaml holds assumptions that differ from the paper's; --set replaces one more. The ending of -o chooses the form
of the file: .h5, .svg, .json, .csv, .txt; stdout has the --format all the same.
Examples:
  traingraph limits --gpu all
  traingraph limits --gpu h100 --set batch_exponent=0.333 -o h100.svg
  traingraph limits --set 'gpu.network[1].bandwidth=100 GB/s' --sensitivity
Keys of A.yaml and of --set: type, default in brackets, meaning. [paper]: as in arXiv 2411.01137 and its published code; [ours]:
an addition, whose default leaves the paper's model as it is. Quantities carry their unit. Presets name the source of each number.
)";

constexpr std::string_view kTopoShowHelp = R"(
X is the name of a cluster preset (`traingraph topo list`) or a scenario file. Prints devices and links by kind and tier, bisection
bandwidth, oversubscription and diameter. --format dot or svg draws; -o writes the same to a file, whose ending (.dot, .svg, .json)
chooses the form when --format does not.
)";

class Parser {
 public:
  Parser() {
    app_.name("traingraph");
    app_.require_subcommand(0, 1);
    add_run();
    add_check();
    add_bound();
    add_limits();
    add_topo();
    app_.add_flag("--version", version_, "Version, git commit, compiler, and versions of Boost and HDF5");
    for (CLI::App* app : {&app_, run_, check_, bound_, limits_, topo_, topo_list_, topo_show_}) {
      app->set_help_flag("-h,--help", "-h: this page; --help: the reasons too");
    }
  }

  std::variant<RawOptions, Answer> parse(const std::vector<std::string>& words) {
    if (std::find(words.begin(), words.end(), "--help") != words.end()) add_reasons();
    std::vector<std::string> reversed{words.rbegin(), words.rend()};  // what CLI11 takes
    try {
      app_.parse(reversed);
    } catch (const CLI::CallForHelp&) {
      return Answer{app_.help()};
    } catch (const CLI::ExtrasError& e) {
      throw UsageError{fmt::format("{}\n{}", extras_text(e), kUsage)};
    } catch (const CLI::RequiredError& e) {
      throw UsageError{fmt::format("{}\n{}", required_text(e), kUsage)};
    } catch (const CLI::ParseError& e) {
      throw UsageError{fmt::format("{}\n{}", e.what(), kUsage)};
    }
    if (version_) return Answer{version_text()};
    if (app_.get_subcommands().empty()) throw UsageError{fmt::format("a verb is missing\n{}", kUsage)};
    if (run_->parsed()) raw_.verb = Verb::run;
    if (check_->parsed()) raw_.verb = Verb::check;
    if (check_->parsed() && raw_.subject.empty() && !raw_.schema) {
      throw UsageError{fmt::format("check: the scenario is missing\n{}", kUsage)};
    }
    if (bound_->parsed()) raw_.verb = Verb::bound;
    if (limits_->parsed()) raw_.verb = Verb::limits;
    if (topo_list_->parsed()) raw_.verb = Verb::topo_list;
    if (topo_show_->parsed()) raw_.verb = Verb::topo_show;
    return raw_;
  }

 private:
  void add_run() {
    run_ = app_.add_subcommand("run", "Simulate a scenario; the summary goes to stdout");
    run_->add_option("scenario", raw_.subject, "The scenario; '-' is stdin")->required()->type_name("S.yaml");
    add_set(*run_);
    run_->add_option("--seed", raw_.seed, "The seed of every random choice: routing and placement")->type_name("N");
    run_->add_option("-o,--output", raw_.output, "Write the result as an HDF5 file")->type_name("R.h5");
    add_output_flags(*run_);
    run_->add_option("--trace", raw_.trace, "Store every task, or every transfer, in the result file; repeatable")
        ->type_name("tasks|transfers")
        ->allow_extra_args(false);
    run_->add_option("--bins", raw_.bins, "Store the load of every link over time in this many bins")->type_name("N");
    add_format(*run_, "text|json|csv");
    run_->add_flag("--explain", raw_.explain, "Members, algorithm and mode of every collective");
    run_->add_flag("--stats", raw_.stats, "What the engine did: events, transfers, rate solves, time, memory");
    run_->add_flag("--sensitivity", raw_.sensitivity, "What one percent more of each resource would change (re-runs)");
    run_->add_option("--threads", raw_.threads, "Re-runs at a time, for --sensitivity (default: the number of cores)")
        ->type_name("N");
    run_->add_flag("--no-symmetry", raw_.no_symmetry,
                   "Simulate every GPU by itself; this version has no symmetry reduction and always does");
    run_->add_option("--progress", raw_.progress, "Progress line on stderr (auto: on a terminal)")
        ->type_name("auto|always|never");
    run_->add_flag("-q,--quiet", raw_.quiet, "Nothing on stderr but errors");
    add_look(*run_);
  }

  void add_check() {
    check_ = app_.add_subcommand("check", "Check a scenario; print it with its defaults, and the size of the run");
    check_->add_option("scenario", raw_.subject, "The scenario; '-' is stdin")->type_name("S.yaml");
    check_->add_flag("--schema", raw_.schema, "Print every key a scenario may have, instead: type, default, meaning");
    add_set(*check_);
    check_->add_option("--seed", raw_.seed, "The seed of every random choice: routing and placement")->type_name("N");
    add_format(*check_, "text|json");
    add_look(*check_);
  }

  void add_bound() {
    bound_ = app_.add_subcommand("bound", "How good a step could be: lower bounds and the closed-form step model");
    bound_->add_option("scenario", raw_.subject, "The scenario; '-' is stdin")->required()->type_name("S.yaml");
    add_set(*bound_);
    bound_->add_option("--seed", raw_.seed, "The seed of every random choice: routing and placement")->type_name("N");
    add_format(*bound_, "text|json|csv");
    add_look(*bound_);
  }

  void add_limits() {
    limits_ = app_.add_subcommand("limits", "How far training scales before data movement stops it: the closed-form model");
    limits_->add_option("assumptions", raw_.subject, "What differs from the paper's assumptions")->type_name("A.yaml");
    limits_->add_option("--gpu", raw_.gpu, "A preset of scenarios/presets/theory, or all (default: h100)")
        ->type_name("NAME|all");
    add_set(*limits_);
    limits_->add_option("--compare", raw_.compare, "Two sets of assumptions side by side")
        ->type_name("A.yaml B.yaml")
        ->expected(2);
    limits_->add_flag("--sensitivity", raw_.sensitivity, "What each input would move, when divided and multiplied by two");
    limits_->add_flag("--published", raw_.published, "The paper's published results beside this model's, and nothing else");
    add_format(*limits_, "text|json|csv|svg");
    limits_->add_option("-o,--output", raw_.output, "Write it to a file too: .h5, .svg, .json, .csv or .txt")
        ->type_name("FILE");
    add_output_flags(*limits_);
    limits_->add_flag("-q,--quiet", raw_.quiet, "Nothing on stderr but errors");
    add_look(*limits_);
  }

  void add_topo() {
    topo_ = app_.add_subcommand("topo", "Look at clusters: list, show");
    topo_->require_subcommand(1, 1);
    topo_list_ = topo_->add_subcommand("list", "The cluster presets");
    add_format(*topo_list_, "text|json");
    add_look(*topo_list_);
    topo_show_ = topo_->add_subcommand("show", "One cluster: what it is made of, or a drawing");
    topo_show_->add_option("cluster", raw_.subject, "A cluster preset or a scenario file")->required()->type_name("X");
    add_set(*topo_show_);
    add_format(*topo_show_, "text|json|dot|svg");
    topo_show_->add_option("-o,--output", raw_.output, "Write it to a file")->type_name("FILE");
    add_output_flags(*topo_show_);
    add_look(*topo_show_);
  }

  void add_set(CLI::App& app) {
    app.add_option("--set", raw_.set, "Replace or add one value of the file; repeatable")
        ->type_name("a.b=c")
        ->allow_extra_args(false);
  }

  void add_format(CLI::App& app, const std::string& formats) {
    app.add_option("--format", raw_.format, "Form of what goes to stdout (default: text)")->type_name(formats);
  }

  void add_output_flags(CLI::App& app) {
    app.add_flag("--force", raw_.force, "Replace the output file if it exists");
    app.add_flag("--keep-partial", raw_.keep_partial, "Leave NAME.part behind when the run does not end well");
  }

  void add_look(CLI::App& app) {
    app.add_option("--color", raw_.color, "Colours on stdout (auto: on a terminal)")->type_name("auto|always|never");
    app.add_flag("--plain", raw_.plain, "No colours, no progress line, whatever the terminal can");
  }

  void add_reasons() {
    app_.footer(std::string{kMainHelp});
    run_->footer(std::string{kRunHelp});
    check_->footer(std::string{kCheckHelp});
    bound_->footer(std::string{kBoundHelp});
    limits_->footer(std::string{kLimitsHelp} + describe_limits_schema());
    topo_show_->footer(std::string{kTopoShowHelp});
  }

  /// The subcommand that the user has reached.
  const CLI::App& current() const {
    const CLI::App* app = &app_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().back();
    return *app;
  }

  std::string extras_text(const CLI::ExtrasError& error) const {
    const std::vector<std::string> extras = app_.remaining(true);
    if (extras.empty()) return error.what();
    const std::string& word = extras.front();
    const CLI::App& app = current();
    const std::string place = app.get_parent() == nullptr ? std::string{"traingraph"} : full_name(app);
    if (word.size() > 1 && word.front() == '-') {
      std::vector<std::string> options;
      for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
      }
      const std::string name = word.substr(0, word.find('='));
      const std::string_view near = nearest(name, options);
      return fmt::format("{}: unknown option '{}'{}", place, name,
                         near.empty() ? std::string{} : fmt::format("; did you mean '{}'?", near));
    }
    if (&app == topo_) return fmt::format("topo: unknown verb '{}'{}", word, suggestion(word, kTopoVerbs));
    return fmt::format("{}: unexpected argument '{}'", place, word);
  }

  std::string required_text(const CLI::RequiredError& error) const {
    const CLI::App& app = current();
    if (&app == topo_) {
      const std::vector<std::string> extras = app_.remaining(true);
      if (extras.empty()) return "topo: a verb is missing: list, show";
      return fmt::format("topo: unknown verb '{}'{}", extras.front(), suggestion(extras.front(), kTopoVerbs));
    }
    if (&app == run_) return "run: the scenario is missing";
    if (&app == bound_) return "bound: the scenario is missing";
    if (&app == topo_show_) return "topo show: the cluster is missing: a preset (`traingraph topo list`) or a scenario file";
    return error.what();
  }

  std::string full_name(const CLI::App& app) const {
    return app.get_parent() == topo_ ? "topo " + app.get_name() : app.get_name();
  }

  RawOptions raw_;
  bool version_ = false;
  CLI::App app_{"traingraph simulates the traffic of LLM training on a GPU cluster, link by link."};
  CLI::App* run_ = nullptr;
  CLI::App* check_ = nullptr;
  CLI::App* bound_ = nullptr;
  CLI::App* limits_ = nullptr;
  CLI::App* topo_ = nullptr;
  CLI::App* topo_list_ = nullptr;
  CLI::App* topo_show_ = nullptr;
};

bool looks_like_scenario(std::string_view word) { return word.ends_with(".yaml") || word.ends_with(".yml"); }

/// The parser library says only "a subcommand is required" to a misspelt verb; this says which is meant.
void check_verb(const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with('-')) return;
  const std::string& word = words.front();
  if (std::find(kVerbs.begin(), kVerbs.end(), word) != kVerbs.end()) return;
  if (looks_like_scenario(word)) {
    throw UsageError{fmt::format("a verb is missing; did you mean `traingraph run {}`?\n{}", fmt::join(words, " "), kUsage)};
  }
  throw UsageError{fmt::format("unknown verb '{}'{}\n{}", word, suggestion(word, kVerbs), kUsage)};
}

}  // namespace

std::variant<RawOptions, Answer> parse_command_line(const std::vector<std::string>& words) {
  if (!words.empty() && words.front() == "help") {  // `help run` is `run --help`
    std::vector<std::string> rewritten{words.begin() + 1, words.end()};
    check_verb(rewritten);
    rewritten.push_back("--help");
    return Parser{}.parse(rewritten);
  }
  check_verb(words);
  return Parser{}.parse(words);
}

}  // namespace traingraph::scenarios::cli
