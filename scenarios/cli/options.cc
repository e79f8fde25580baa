#include "scenarios/cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "scenarios/cli/exit_code.h"
#include "scenarios/cli/nccl_options.h"
#include "scenarios/cli/option_values.h"

namespace traingraph::scenarios::cli {
namespace {

enum class When { automatic, always, never };

bool decide(std::string_view option, const std::optional<std::string>& word, bool automatic) {
  static const std::vector<std::pair<std::string, When>> choices{
      {"auto", When::automatic}, {"always", When::always}, {"never", When::never}};
  switch (word ? choose(option, *word, choices) : When::automatic) {
    case When::always:
      return true;
    case When::never:
      return false;
    case When::automatic:
      break;
  }
  return automatic;
}

std::vector<std::pair<std::string, Format>> formats_of(Verb verb) {
  switch (verb) {
    case Verb::run:
    case Verb::bound:
    case Verb::plan:
      return {{"text", Format::text}, {"json", Format::json}, {"csv", Format::csv}};
    case Verb::limits:
      return {{"text", Format::text}, {"json", Format::json}, {"csv", Format::csv}, {"svg", Format::svg}};
    case Verb::check:
    case Verb::topo_list:
      return {{"text", Format::text}, {"json", Format::json}};
    case Verb::sweep:
    case Verb::validate_theory:
      return {};
    case Verb::topo_show:
      return {{"text", Format::text}, {"json", Format::json}, {"dot", Format::dot}, {"svg", Format::svg}};
    case Verb::collective:
    case Verb::compare:
      return {{"text", Format::text}, {"json", Format::json}};
    case Verb::import:
      return {{"text", Format::text}};
    case Verb::serve:
    case Verb::report:
      break;
  }
  return {};
}

Format format_of(const RawOptions& raw) {
  if (raw.format) return choose("--format", *raw.format, formats_of(raw.verb));
  if (raw.verb == Verb::topo_show && raw.output) {
    const std::string ending = std::filesystem::path{*raw.output}.extension().string();
    if (ending == ".dot") return Format::dot;
    if (ending == ".svg") return Format::svg;
    if (ending == ".json") return Format::json;
    if (ending != ".txt") {
      throw UsageError{
          fmt::format("-o: '{}' does not say its form; end it in .dot, .svg, .json or .txt, or give --format", *raw.output)};
    }
  }
  return Format::text;
}

/// The form of the output file of `limits`, `plan` and `sweep`.
Format file_format_of(const RawOptions& raw) {
  if (!raw.output || (raw.verb != Verb::limits && raw.verb != Verb::plan && raw.verb != Verb::sweep)) return Format::text;
  static const std::vector<std::pair<std::string, Format>> kEndings{{".h5", Format::hdf5}, {".hdf5", Format::hdf5},
                                                                    {".svg", Format::svg}, {".json", Format::json},
                                                                    {".csv", Format::csv}, {".txt", Format::text}};
  const auto allowed = [&](Format format) {
    if (raw.verb == Verb::plan) return format != Format::hdf5 && format != Format::svg;
    return raw.verb != Verb::sweep || format == Format::hdf5 || format == Format::csv;
  };
  const std::string ending = std::filesystem::path{*raw.output}.extension().string();
  for (const auto& [name, format] : kEndings) {
    if (name == ending && allowed(format)) return format;
  }
  throw UsageError{fmt::format("-o: '{}' does not say its form; end it in {}", *raw.output,
                               raw.verb == Verb::plan    ? ".json, .csv or .txt"
                               : raw.verb == Verb::sweep ? ".h5 or .csv"
                                                         : ".h5, .svg, .json, .csv or .txt")};
}

/// What of `limits` stands alone.
void check_limits(const RawOptions& raw) {
  if (raw.published && (raw.gpu || raw.output || !raw.subject.empty() || !raw.compare.empty() || !raw.set.empty() ||
                        raw.sensitivity || raw.format == "svg")) {
    throw UsageError{"--published: stands alone, with --format text, json or csv"};
  }
  if (!raw.compare.empty() && (!raw.subject.empty() || raw.gpu == "all")) {
    throw UsageError{"--compare: takes the two files, and one --gpu at most"};
  }
  if (raw.verb == Verb::limits && raw.sensitivity && (!raw.compare.empty() || raw.gpu == "all")) {
    throw UsageError{"--sensitivity: allowed for one GPU and one set of assumptions"};
  }
}

void check_output(const RawOptions& raw) {
  if (raw.output) {
    if (raw.output->empty()) throw UsageError{"-o: the name is empty"};
    if (raw.verb == Verb::run && !raw.output->ends_with(".h5") && !raw.output->ends_with(".hdf5")) {
      throw UsageError{
          fmt::format("-o: found '{}', allowed: a name that ends in .h5 or .hdf5 (JSON and CSV go to stdout: "
                      "--format json > R.json)",
                      *raw.output)};
    }
    return;
  }
  if (!raw.trace.empty()) throw UsageError{"--trace fills tables of the result file: give -o R.h5 too"};
  if (raw.bins) throw UsageError{"--bins fills a table of the result file: give -o R.h5 too"};
  if (raw.keep_partial) throw UsageError{"--keep-partial speaks of the output file: give -o too"};
}

}  // namespace

Options understand(const RawOptions& raw, const Terminal& terminal, std::uint32_t cores) {
  check_output(raw);
  check_limits(raw);
  Options options;
  options.verb = raw.verb;
  options.subject = raw.subject;
  options.files = raw.files;
  options.cluster = raw.cluster;
  if (raw.verb == Verb::collective || raw.verb == Verb::compare) options.nccl = understand_nccl(raw);
  options.overrides = raw.set;
  for (const std::string& text : raw.set) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UsageError{
          fmt::format("--set: found '{}', allowed: a key's path, '=', and its value (--set cluster.nodes=64)", text)};
    }
  }
  if (raw.seed) {
    options.seed = whole_number<std::uint64_t>("--seed", *raw.seed, 0, std::numeric_limits<std::uint64_t>::max());
  }
  options.format = format_of(raw);
  if (raw.output) options.output = *raw.output;
  options.output_policy = {.force = raw.force, .keep_partial = raw.keep_partial};
  options.plain = raw.plain;
  options.color = decide("--color", raw.color, terminal.wants_color()) && options.format == Format::text && !raw.plain;
  options.progress = decide("--progress", raw.progress, terminal.wants_progress()) && !raw.quiet && !raw.plain;
  options.progress_on_terminal = terminal.stderr_is_tty;
  options.quiet = raw.quiet;
  options.explain = raw.explain;
  if (raw.explain && options.format == Format::csv) throw UsageError{"--explain: allowed with --format text and json"};
  options.stats = raw.stats;
  options.schema = raw.schema;
  if (raw.schema && (!raw.subject.empty() || raw.format))
    throw UsageError{"--schema: stands alone (traingraph check --schema)"};
  options.sensitivity = raw.sensitivity;
  options.published = raw.published;
  options.smoke = raw.smoke;
  options.threads_given = raw.threads.has_value();
  options.gpu = raw.gpu.value_or("");
  options.compare = raw.compare;
  options.file_format = file_format_of(raw);
  options.plan = raw.plan;
  for (const std::string& word : raw.trace) {
    const bool tasks = choose<bool>("--trace", word, {{"tasks", true}, {"transfers", false}});
    (tasks ? options.trace_tasks : options.trace_transfers) = true;
  }
  if (raw.bins) {
    options.overrides.push_back(fmt::format("run.bins={}", whole_number<std::uint32_t>("--bins", *raw.bins, 1, kMostBins)));
  }
  if (raw.port)
    options.port = whole_number<std::uint16_t>("--port", *raw.port, 0, std::numeric_limits<std::uint16_t>::max());
  options.threads =
      raw.threads ? whole_number<std::uint32_t>("--threads", *raw.threads, 1, kMostThreads) : std::max(1U, cores);
  return options;
}

}  // namespace traingraph::scenarios::cli
