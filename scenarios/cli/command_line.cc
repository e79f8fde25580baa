#include "scenarios/cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "scenarios/cli/exit_code.h"
#include "scenarios/cli/help.h"
#include "scenarios/cli/version.h"
#include "scenarios/diagnostics.h"
#include "scenarios/import_request.h"
#include "scenarios/limits_config.h"

namespace traingraph::scenarios::cli {
namespace {

const std::vector<std::string> kVerbs{"run",  "check",  "bound",      "limits",  "plan",  "sweep",  "validate",
                                      "topo", "import", "collective", "compare", "serve", "report", "help"};
const std::vector<std::string> kTopoVerbs{"list", "show"};

class Parser {
 public:
  Parser() {
    app_.name("traingraph");
    app_.require_subcommand(0, 1);
    add_run();
    add_check();
    add_bound();
    add_limits();
    add_plan();
    add_sweep();
    add_validate();
    add_topo();
    add_import();
    add_collective();
    add_compare();
    add_serve();
    add_report();
    app_.add_flag("--version", version_, "Version, git commit, compiler, and versions of Boost and HDF5");
    for (CLI::App* app : {&app_, run_, check_, bound_, limits_, plan_, sweep_, validate_, validate_theory_, topo_,
                          topo_list_, topo_show_, import_, collective_, compare_, serve_, report_}) {
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
    if (plan_->parsed()) raw_.verb = Verb::plan;
    if (sweep_->parsed()) raw_.verb = Verb::sweep;
    if (validate_theory_->parsed()) raw_.verb = Verb::validate_theory;
    if (topo_list_->parsed()) raw_.verb = Verb::topo_list;
    if (topo_show_->parsed()) raw_.verb = Verb::topo_show;
    if (import_->parsed()) raw_.verb = Verb::import;
    if (collective_->parsed()) raw_.verb = Verb::collective;
    if (compare_->parsed()) raw_.verb = Verb::compare;
    if (serve_->parsed()) raw_.verb = Verb::serve;
    if (report_->parsed()) raw_.verb = Verb::report;
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

  void add_plan() {
    plan_ = app_.add_subcommand("plan", "The best layout of a model on a cluster, proven");
    plan_->add_option("scenario", raw_.subject, "The scenario; '-' is stdin")->type_name("S.yaml");
    PlanWords& plan = raw_.plan;
    plan_->add_option("--model", plan.model, "Without a scenario: a model preset")->type_name("NAME");
    plan_->add_option("--cluster", plan.cluster, "A cluster preset")->type_name("NAME");
    plan_->add_option("--hardware", plan.hardware, "A hardware preset")->type_name("NAME");
    plan_->add_option("--batch", plan.batch, "Global batch, sequences")->type_name("N");
    plan_->add_option("--sequence", plan.sequence, "Tokens of a sequence")->type_name("N");
    plan_->add_option("--precision", plan.precision, "Number format (default without a scenario: bf16)")->type_name("P");
    plan_->add_option("--gpus", plan.gpus, "GPUs, or from..to: every doubling (default: the cluster's)")
        ->type_name("N|A..B");
    plan_->add_option("--keep", plan.keep, "Dimensions that stay as the scenario has them")
        ->type_name("NAME,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    plan_->add_option("--top", plan.top, "Simulate at most so many layouts")->type_name("N");
    plan_->add_option("--budget", plan.budget, "Begin no simulation after so many seconds")->type_name("SECONDS");
    plan_->add_option("--tokens", plan.tokens, "Of a whole training")->type_name("N");
    plan_->add_option("--deadline", plan.deadline, "Of a whole training, as 90d")->type_name("TIME");
    plan_->add_option("--threads", raw_.threads, "Threads (default: the number of cores)")->type_name("N");
    add_set(*plan_);
    add_format(*plan_, "text|json|csv");
    plan_->add_option("-o,--output", raw_.output, "Write it to a file too: .json, .csv or .txt")->type_name("FILE");
    add_output_flags(*plan_);
    plan_->add_option("--progress", raw_.progress, "Progress line on stderr (auto: on a terminal)")
        ->type_name("auto|always|never");
    plan_->add_flag("-q,--quiet", raw_.quiet, "Nothing on stderr but errors");
    add_look(*plan_);
  }

  void add_sweep() {
    sweep_ = app_.add_subcommand("sweep", "Many runs: a scenario over grids and lists of values, resumable");
    sweep_->add_option("sweep", raw_.subject, "The sweep")->required()->type_name("SWEEP.yaml");
    add_set(*sweep_);
    sweep_->add_option("-o,--output", raw_.output, "The table: .h5 or .csv (default: on stdout, as CSV, not resumable)")
        ->type_name("FILE");
    sweep_->add_flag("--force", raw_.force, "Replace the table if it exists; forget what an earlier sweep has finished");
    sweep_->add_option("--threads", raw_.threads, "Runs at a time (default: the number of cores; with MPI, of a rank: 1)")
        ->type_name("N");
    sweep_->add_option("--progress", raw_.progress, "Progress line on stderr (auto: on a terminal)")
        ->type_name("auto|always|never");
    sweep_->add_flag("-q,--quiet", raw_.quiet, "Nothing on stderr but errors");
    sweep_->add_flag("--plain", raw_.plain, "No progress line, whatever the terminal can");
  }

  void add_validate() {
    validate_ = app_.add_subcommand("validate", "Regenerate the tables that say how far results can be trusted: theory");
    validate_->require_subcommand(1, 1);
    validate_theory_ = validate_->add_subcommand("theory", "The closed forms against the simulation");
    validate_theory_->add_flag("--smoke", raw_.smoke, "A small part of it, in seconds");
    validate_theory_->add_option("-o,--output", raw_.output, "Write it to a file (Markdown)")->type_name("FILE.md");
    add_output_flags(*validate_theory_);
    validate_theory_->add_option("--threads", raw_.threads, "Threads (default: the number of cores)")->type_name("N");
    validate_theory_->add_option("--progress", raw_.progress, "Progress line on stderr (auto: on a terminal)")
        ->type_name("auto|always|never");
    validate_theory_->add_flag("-q,--quiet", raw_.quiet, "Nothing on stderr but errors");
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

  void add_import() {
    import_ = app_.add_subcommand("import", "A cluster from the files of other programs");
    import_->add_option("kind", raw_.subject, "What the files are; auto: look at them")->required()->type_name("KIND");
    import_->add_option("files", raw_.files, "The files")->required()->type_name("FILE...");
    import_->add_option("--set", raw_.set, "What the files leave open; repeatable")
        ->type_name("a=c")
        ->allow_extra_args(false);
    import_->add_option("-o,--output", raw_.output, "Write the cluster to a file, and its counts to stdout")
        ->type_name("C.yaml");
    add_output_flags(*import_);
    import_->add_flag("-q,--quiet", raw_.quiet, "Nothing on stderr but errors");
    add_look(*import_);
  }

  void add_nccl(CLI::App& app) {
    app.add_option("--algo", raw_.algo, "NCCL's algorithm (default: auto)")->type_name("auto|Ring|Tree|NVLS|NVLSTree|PAT");
    app.add_option("--proto", raw_.proto, "NCCL's protocol (default: auto)")->type_name("auto|LL|LL128|Simple");
    app.add_option("--nccl", raw_.nccl, "Channels and graph speeds: a preset of nccl_nodes")->type_name("NAME");
  }

  void add_collective() {
    collective_ = app_.add_subcommand("collective", "The nccl-tests of the simulator: one collective over a range of sizes");
    collective_->add_option("op", raw_.subject, "The collective")->required()->type_name("OP");
    collective_->add_option("cluster", raw_.cluster, "A cluster preset or a file")->required()->type_name("CLUSTER");
    collective_->add_option("-b,--minbytes", raw_.min_bytes, "Smallest size (default: 8)")->type_name("SIZE");
    collective_->add_option("-e,--maxbytes", raw_.max_bytes, "Largest size (default: 16G)")->type_name("SIZE");
    collective_->add_option("-f,--stepfactor", raw_.step_factor, "From one size to the next (default: 2)")->type_name("N");
    collective_->add_option("--gpus", raw_.gpus, "Ranks in order: 0-7,16-23 (default: all)")->type_name("LIST");
    add_nccl(*collective_);
    collective_->add_flag("--explain", raw_.explain, "NCCL's cost table of every size, and the load of the fullest links");
    add_set(*collective_);
    add_format(*collective_, "text|json");
    add_look(*collective_);
  }

  void add_compare() {
    compare_ = app_.add_subcommand("compare", "Logs of nccl-tests beside what is predicted");
    compare_->add_option("cluster", raw_.cluster, "A cluster preset or a file")->required()->type_name("CLUSTER");
    compare_->add_option("logs", raw_.files, "The logs")->required()->type_name("LOG...");
    compare_->add_option("--op", raw_.op, "The collective, where a log does not say")->type_name("OP");
    add_nccl(*compare_);
    add_set(*compare_);
    add_format(*compare_, "text|json");
    add_look(*compare_);
  }

  void add_serve() {
    serve_ = app_.add_subcommand("serve", "The interactive page, for browsers on this machine");
    serve_->add_option("--port", raw_.port, "Where to listen, 0: any free port (default: 8080)")->type_name("N");
    serve_->add_flag("-q,--quiet", raw_.quiet, "Nothing on stderr but errors");
  }

  void add_report() {
    report_ = app_.add_subcommand("report", "A result file as one HTML page that opens from disk");
    report_->add_option("result", raw_.subject, "What `traingraph run -o` wrote")->required()->type_name("R.h5");
    report_->add_option("-o,--output", raw_.output, "Write it to a file instead of stdout")->type_name("R.html");
    add_output_flags(*report_);
    report_->add_flag("-q,--quiet", raw_.quiet, "Nothing on stderr but errors");
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
    sweep_->footer(std::string{kSweepHelp});
    validate_theory_->footer(std::string{kValidateTheoryHelp});
    plan_->footer(std::string{kPlanHelp});
    limits_->footer(std::string{kLimitsHelp} + describe_limits_schema());
    topo_show_->footer(std::string{kTopoShowHelp});
    collective_->footer(std::string{kCollectiveHelp});
    compare_->footer(std::string{kCompareHelp});
    import_->footer(std::string{kImportHelp} + describe_import_options());
    serve_->footer(std::string{kServeHelp});
    report_->footer(std::string{kReportHelp});
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
    if (&app == sweep_) return "sweep: the sweep's file is missing";
    if (&app == validate_) return "validate: what is to be validated is missing: theory";
    if (&app == import_) {
      return raw_.subject.empty()
                 ? "import: the kind of the files is missing (auto: look at them)"
                 : fmt::format("import: no file is given; did you mean `traingraph import auto {}`?", raw_.subject);
    }
    if (&app == collective_)
      return "collective: the collective and the cluster are missing (traingraph collective OP CLUSTER)";
    if (&app == compare_) return "compare: the cluster and a log are missing (traingraph compare CLUSTER LOG...)";
    if (&app == report_) return "report: the result file is missing";
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
  CLI::App* plan_ = nullptr;
  CLI::App* sweep_ = nullptr;
  CLI::App* validate_ = nullptr;
  CLI::App* validate_theory_ = nullptr;
  CLI::App* topo_ = nullptr;
  CLI::App* topo_list_ = nullptr;
  CLI::App* topo_show_ = nullptr;
  CLI::App* import_ = nullptr;
  CLI::App* collective_ = nullptr;
  CLI::App* compare_ = nullptr;
  CLI::App* serve_ = nullptr;
  CLI::App* report_ = nullptr;
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
