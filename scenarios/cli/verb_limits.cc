#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/csv.h"
#include "analysis/h5_file.h"
#include "analysis/plot/plot.h"
#include "analysis/theory/limits_csv.h"
#include "analysis/theory/limits_figure.h"
#include "analysis/theory/limits_hdf5.h"
#include "analysis/theory/limits_json.h"
#include "analysis/theory/limits_text.h"
#include "scenarios/cli/exit_code.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/paint.h"
#include "scenarios/cli/verbs.h"
#include "scenarios/cli/version.h"
#include "scenarios/limits_config.h"
#include "scenarios/preset_store.h"
#include "scenarios/published_limits.h"

namespace traingraph::scenarios::cli {
namespace {

namespace theory = analysis::theory;

constexpr std::string_view kFolder = "theory";
constexpr std::string_view kAll = "all";
constexpr std::string_view kDefaultGpu = "h100";

theory::LimitsEntry entry_of(const LimitsConfig& config, std::string label, bool sensitivity,
                             const theory::Limits* neighbour = nullptr) {
  theory::LimitsEntry entry{std::move(label), effective_yaml(config), theory::limits(config.question, neighbour), {}};
  if (sensitivity) entry.sensitivity = theory::limits_sensitivity(entry.limits);
  return entry;
}

LimitsConfig load_one(const Options& options, const std::string& gpu) {
  if (!options.subject.empty()) return load_limits(options.subject, gpu, options.overrides);
  return load_limits_preset(gpu.empty() ? kDefaultGpu : std::string_view{gpu}, options.overrides);
}

theory::LimitsReport report_of(const Options& options) {
  theory::LimitsReport report;
  if (!options.compare.empty()) {
    report.kind = theory::ReportKind::compare;
    for (const std::string& file : options.compare) {
      const LimitsConfig config = load_limits(file, options.gpu, options.overrides);
      const theory::Limits* const before = report.entries.empty() ? nullptr : &report.entries.front().limits;
      report.entries.push_back(entry_of(config, config.name, false, before));
    }
  } else if (options.gpu == kAll) {
    report.kind = theory::ReportKind::several;
    for (const std::string& gpu : preset_names(kFolder)) {
      const LimitsConfig config = load_one(options, gpu);
      report.entries.push_back(entry_of(config, config.question.gpu.name, false));
    }
  } else {
    const LimitsConfig config = load_one(options, options.gpu);
    report.entries.push_back(entry_of(config, config.question.gpu.name, options.sensitivity));
  }
  return report;
}

std::string printed(const theory::LimitsReport& report, Format format) {
  switch (format) {
    case Format::json:
      return theory::to_json(report).dump(2) + "\n";
    case Format::csv:
      return theory::to_csv(report);
    case Format::svg:
      return analysis::plot::to_svg(theory::figure_of(report));
    default:
      return theory::to_text(report);
  }
}

void write_file(const Options& options, const theory::LimitsReport& report, OutputFile& output) {
  if (options.file_format == Format::hdf5) {
    analysis::H5File file{*options.output, options.output_policy.keep_partial};
    theory::write_hdf5(file, report, version());
    return file.commit();
  }
  output.write(printed(report, options.file_format));
  output.commit();
}

std::string relation_text(LimitRelation relation) { return relation == LimitRelation::at_most ? "at most " : ""; }

std::string published_text(const std::vector<PublishedLimit>& results) {
  std::string text = fmt::format("{:<62}{:>14}{:>12}{:>8}\n", "arXiv 2411.01137", "published", "here", "ratio");
  for (const PublishedLimit& p : results) {
    const std::string number = relation_text(p.relation) + fmt::format("{:.4g}", p.published);
    text += fmt::format("{:<62}{:>14}{:>12.4g}{:>8.2f}\n", p.claim, number, p.here, p.ratio());
  }
  return text;
}

std::string published_csv(const std::vector<PublishedLimit>& results) {
  std::string text = "claim,relation,published,here,ratio,source\n";
  for (const PublishedLimit& p : results) {
    text += fmt::format("{},{},{},{},{},{}\n", analysis::csv_value(p.claim),
                        p.relation == LimitRelation::at_most ? "at_most" : "about", p.published, p.here, p.ratio(),
                        analysis::csv_value(p.source));
  }
  return text;
}

std::string published_json(const std::vector<PublishedLimit>& results) {
  nlohmann::ordered_json json{{"schema", "traingraph/limits-published/1"}};
  for (const PublishedLimit& p : results) {
    json["results"].push_back({{"claim", p.claim},
                               {"gpu", p.gpu},
                               {"relation", p.relation == LimitRelation::at_most ? "at_most" : "about"},
                               {"published", p.published},
                               {"here", p.here},
                               {"ratio", p.ratio()},
                               {"source", p.source}});
  }
  return json.dump(2) + "\n";
}

std::string published(const Options& options) {
  const std::vector<PublishedLimit> results = published_limits();
  if (options.format == Format::json) return published_json(results);
  return options.format == Format::csv ? published_csv(results) : published_text(results);
}

}  // namespace

void limits(const Options& options) {
  if (options.published) {
    const std::string text = published(options);
    return write_stdout(options.color ? paint_summary(text) : text);
  }
  std::optional<OutputFile> file;
  if (options.output) file.emplace(*options.output, options.output_policy);
  const theory::LimitsReport report = report_of(options);
  if (file) write_file(options, report, *file);
  const std::string text = printed(report, options.format);
  write_stdout(options.color ? paint_summary(text) : text);
  if (options.output && !options.quiet) write_stderr(fmt::format("wrote {}\n", options.output->string()));
}

}  // namespace traingraph::scenarios::cli
