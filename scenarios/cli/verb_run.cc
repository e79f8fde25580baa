#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/csv.h"
#include "analysis/explain.h"
#include "analysis/format.h"
#include "analysis/hdf5_writer.h"
#include "analysis/json.h"
#include "analysis/text.h"
#include "scenarios/cli/exit_code.h"
#include "scenarios/cli/interrupt.h"
#include "scenarios/cli/load.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/paint.h"
#include "scenarios/cli/progress.h"
#include "scenarios/cli/verbs.h"
#include "scenarios/cli/version.h"
#include "scenarios/run_scenario.h"
#include "sim/error.h"

namespace traingraph::scenarios::cli {
namespace {

using Clock = std::chrono::steady_clock;

analysis::Effort effort_since(Clock::time_point begin) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  constexpr double kUnit = 1024;  // Linux counts ru_maxrss in KiB
  return {.wall_s = std::chrono::duration<double>(Clock::now() - begin).count(),
          .peak_rss_bytes = kUnit * static_cast<double>(usage.ru_maxrss)};
}

nlohmann::ordered_json explain_json(const analysis::Explanation& explanation) {
  nlohmann::ordered_json json;
  json["groups"] = nlohmann::ordered_json::array();
  for (const analysis::ExplainedGroup& group : explanation.groups) {
    nlohmann::ordered_json entry;
    entry["size"] = group.size;
    entry["calls"] = nlohmann::ordered_json::array();
    for (const analysis::ExplainedCall& call : group.calls) {
      entry["calls"].push_back({{"collective", call.collective},
                                {"algorithm", call.algorithm},
                                {"bytes", call.bytes},
                                {"calls_per_step", call.calls_per_step}});
    }
    entry["communicators"] = nlohmann::ordered_json::array();
    for (const analysis::ExplainedCommunicator& communicator : group.communicators) {
      nlohmann::ordered_json members = nlohmann::ordered_json::array();
      for (const sim::RankId rank : communicator.members) members.push_back(sim::index(rank));
      entry["communicators"].push_back({{"name", communicator.name}, {"ranks", members}});
    }
    json["groups"].push_back(entry);
  }
  json["messages"] = nlohmann::ordered_json::array();
  for (const analysis::ExplainedMessages& messages : explanation.messages) {
    json["messages"].push_back({{"from", messages.from},
                                {"to", messages.to},
                                {"channels", messages.channels},
                                {"messages_per_step", messages.messages_per_step},
                                {"bytes_per_step", messages.bytes_per_step}});
  }
  return json;
}

/// What the engine did, to the last transfer; rounded numbers stand in the summary already.
std::string counters_text(const analysis::EngineCounters& engine) {
  std::string text = "\nengine counters\n";
  const auto add = [&text](std::string_view name, std::uint64_t count) {
    text += fmt::format("  {:<24}{:>20}\n", name, analysis::with_thousands(count));
  };
  add("events", engine.events);
  add("operations", engine.operations);
  add("transfers", engine.transfers);
  add("collectives", engine.collectives);
  add("rate solves", engine.rate_solves);
  add("transfers touched", engine.transfers_touched);
  add("transfers changed", engine.transfers_changed);
  return text;
}

std::string printed(const Options& options, const analysis::Result& result, const Prepared& prepared) {
  switch (options.format) {
    case Format::csv:
      return analysis::to_csv(result, options.stats);
    case Format::json: {
      nlohmann::ordered_json json = analysis::to_json(result, options.stats);
      if (options.explain) json["explain"] = explain_json(analysis::explain(prepared.workload.program));
      return json.dump(2) + "\n";
    }
    default:
      break;
  }
  std::string text = analysis::to_text(result);
  if (options.stats) text += counters_text(result.engine);
  if (options.explain) text += "\n" + analysis::to_text(analysis::explain(prepared.workload.program));
  return options.color ? paint_summary(text) : text;
}

analysis::ResultFileOptions file_options(const Options& options, const Scenario& scenario) {
  return {.version = version(),
          .scenario = effective_yaml(scenario),
          .seed = static_cast<std::int64_t>(scenario.cluster.routing.seed),
          .tasks = options.trace_tasks ? analysis::TraceTasks::all : analysis::TraceTasks::representatives,
          .transfers = options.trace_transfers,
          .keep_partial = options.output_policy.keep_partial};
}

RunOutcome simulate(const Options& options, const Scenario& scenario, const Prepared& prepared, sim::TraceSink* trace) {
  ProgressLine line{options.progress_on_terminal, write_stderr, [] { return ProgressLine::Clock::now(); }};
  RunHooks hooks{.cancel = &interrupted(),
                 .progress = nullptr,
                 .trace = trace,
                 .sensitivity = options.sensitivity,
                 .threads = options.threads,
                 .rerun_progress = nullptr};
  if (options.progress) {
    hooks.progress = [&line](const sim::Progress& progress) { line.update(progress); };
    hooks.rerun_progress = [&line](std::size_t done, std::size_t total) {
      line.update(fmt::format("sensitivity: {} of {} runs", done, total));
    };
  }
  const PolledSection section;
  RunOutcome outcome = simulate_scenario(scenario, prepared, hooks);
  if (interrupted()) throw sim::Cancelled{};
  return outcome;
}

void finish(const Options& options, analysis::ResultFile& file, const RunOutcome& outcome, const Prepared& prepared) {
  if (!options.output_policy.force && std::filesystem::exists(*options.output)) {
    throw UsageError{fmt::format("{}: has appeared during the run; --force replaces it", options.output->string())};
  }
  file.finish(outcome.result, *prepared.fabric, outcome.record);
}

}  // namespace

void run(const Options& options) {
  const Clock::time_point begin = Clock::now();
  std::optional<OutputFile> claim;  // the result file's own writer takes it over under its lock
  if (options.output) claim.emplace(*options.output, options.output_policy);
  const Scenario scenario = load_subject(options);
  const Prepared prepared = prepare(scenario);

  std::optional<analysis::ResultFile> file;
  if (options.output) file.emplace(*options.output, prepared.workload, file_options(options, scenario));
  RunOutcome outcome = simulate(options, scenario, prepared, file ? file->trace() : nullptr);
  if (file) finish(options, *file, outcome, prepared);

  // The file is complete before anything is printed: a reader that goes away takes nothing with it.
  if (options.stats) outcome.result.effort = effort_since(begin);
  write_stdout(printed(options, outcome.result, prepared));
  if (file && !options.quiet) {
    write_stderr(fmt::format("wrote {0} (`h5ls -r {0}` lists what is in it)\n", options.output->string()));
  }
}

}  // namespace traingraph::scenarios::cli
