#include "analysis/step_document.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/step_tracks.h"

namespace traingraph::analysis {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kPicosecond = 1e-12;

Json summary_of(const H5Input& file, const std::string& group) {
  Json json = Json::object();
  for (const std::string& name : file.members(group)) {
    const std::string path = group + "/" + name;
    if (file.is_group(path)) {
      json[name] = summary_of(file, path);
    } else {
      std::visit([&](const auto& value) { json[name] = value; }, file.scalar(path));
    }
  }
  return json;
}

/// A table as a list of objects with these columns of texts and numbers.
Json rows_of(const H5Input& file, const std::string& table, const std::vector<std::string>& texts,
             const std::vector<std::string>& numbers) {
  Json rows = Json::array();
  if (!file.has(table)) return rows;
  const auto add = [&rows](const std::string& column, const auto& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (rows.size() <= i) rows.push_back(Json::object());
      rows[i][column] = values[i];
    }
  };
  for (const std::string& column : texts) add(column, file.texts(table, column));
  for (const std::string& column : numbers) add(column, file.reals(table, column));
  return rows;
}

void add_stages(const H5Input& file, Json& json) {
  json["categories"] = Json::array();
  json["stages"] = Json::array();
  if (!file.has("/time_splits")) return;
  const std::vector<std::int64_t> stage = file.integers("/ranks", "pp");
  std::map<std::int64_t, double> ranks;
  for (const std::int64_t s : stage) ranks[s] += 1;
  std::map<std::int64_t, Json> parts;
  for (const auto& [s, count] : ranks) parts[s] = Json::object();
  constexpr std::string_view kUnit = "_ps";
  for (const std::string& column : file.columns("/time_splits")) {
    if (!column.ends_with(kUnit)) continue;
    const std::string category = column.substr(0, column.size() - kUnit.size());
    const std::vector<double> time = file.reals("/time_splits", column);
    std::map<std::int64_t, double> sums;
    for (std::size_t r = 0; r < std::min(time.size(), stage.size()); ++r) sums[stage[r]] += time[r];
    json["categories"].push_back(category);
    for (const auto& [s, sum] : sums) parts[s][category] = sum * kPicosecond / ranks[s];
  }
  for (const auto& [s, part] : parts) json["stages"].push_back({{"stage", s}, {"ranks", ranks[s]}, {"mean_s", part}});
}

void add_tracks(const StepTracks& tracks, std::int64_t begin, Json& json) {
  json["names"] = tracks.names;
  json["kinds"] = tracks.kinds;
  json["merged_below_ps"] = tracks.merged_below_ps;
  json["tracks"] = Json::array();
  for (const StepTrack& track : tracks.tracks) {
    std::vector<std::int64_t> flat;
    std::int64_t at = begin;
    for (const StepSpan& span : track.spans) {
      for (const std::int64_t v :
           {span.start_ps - at, span.end_ps - span.start_ps, std::int64_t{span.name}, span.microbatch, span.layer}) {
        flat.push_back(v);
      }
      at = span.end_ps;
    }
    json["tracks"].push_back(
        {{"rank", track.rank}, {"stage", track.stage}, {"stream", track.stream}, {"spans", std::move(flat)}});
  }
}

/// The critical path; neighbours of the same rank and name are one when it is long.
void add_critical_path(const H5Input& file, std::int64_t begin, Json& json) {
  json["critical_path"] = Json::array();
  if (!file.has("/critical_path")) return;
  const std::vector<std::int64_t> start = file.integers("/critical_path", "start_ps"),
                                  end = file.integers("/critical_path", "end_ps"),
                                  rank = file.integers("/critical_path", "rank"),
                                  microbatch = file.integers("/critical_path", "microbatch");
  const std::vector<std::string> task = file.texts("/critical_path", "task");
  std::map<std::string, std::size_t> numbers;
  std::vector<std::string> names;
  std::vector<std::int64_t> flat;
  constexpr std::size_t kFields = 5;
  constexpr std::size_t kFew = 5000;
  const std::int64_t merge = start.size() > kFew ? (end.back() - start.front()) / static_cast<std::int64_t>(kFew) : 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const auto [number, added] = numbers.emplace(task[i], names.size());
    if (added) names.push_back(task[i]);
    const std::size_t last = flat.size() - kFields;
    if (!flat.empty() && flat[last + 2] == rank[i] && end[i] - begin - flat[last] < merge) {
      flat[last + 1] = end[i] - begin - flat[last];
      continue;
    }
    for (const std::int64_t v :
         {start[i] - begin, end[i] - start[i], rank[i], static_cast<std::int64_t>(number->second), microbatch[i]}) {
      flat.push_back(v);
    }
  }
  json["critical_path"] = {{"names", names}, {"elements", flat}};
}

Json heat_row(const std::string& name, const std::string& tier, const std::string& kind, const std::vector<float>& load) {
  constexpr float kThousand = 1000;
  std::vector<int> thousandths;
  for (const float u : load) thousandths.push_back(static_cast<int>(std::lround(kThousand * u)));
  return {{"name", name}, {"tier", tier}, {"kind", kind}, {"load", thousandths}};
}

void add_heat(const H5Input& file, std::int64_t begin, Json& json) {
  if (!file.has("/links/load")) return;
  const H5Input::Matrix load = file.matrix("/links/load");
  const std::vector<std::string> tier = file.texts("/topology/links", "tier"), name = file.texts("/topology/links", "name");
  const std::size_t links = std::min<std::size_t>(load.rows, tier.size());
  const auto row = [&load](std::size_t link) {
    const auto first = load.values.begin() + static_cast<std::ptrdiff_t>(link * load.columns);
    return std::vector<float>(first, first + static_cast<std::ptrdiff_t>(load.columns));
  };
  std::vector<float> sums(links);
  std::vector<std::string> tiers;
  std::map<std::string, std::pair<std::vector<float>, std::vector<float>>> by_tier;  // sum, largest
  std::map<std::string, float> counts;
  for (std::size_t l = 0; l < links; ++l) {
    const std::vector<float> values = row(l);
    sums[l] = std::accumulate(values.begin(), values.end(), 0.0F);
    auto [at, added] = by_tier.try_emplace(tier[l], std::vector<float>(load.columns), std::vector<float>(load.columns));
    if (added) tiers.push_back(tier[l]);
    counts[tier[l]] += 1;
    auto& [sum, largest] = at->second;
    for (std::size_t b = 0; b < values.size(); ++b) {
      sum[b] += values[b];
      largest[b] = std::max(largest[b], values[b]);
    }
  }
  Json rows = Json::array();
  for (const std::string& t : tiers) {
    auto& [sum, largest] = by_tier[t];
    for (float& u : sum) u /= counts[t];
    rows.push_back(heat_row(t + ", mean", t, "mean", sum));
    rows.push_back(heat_row(t + ", busiest", t, "busiest", largest));
  }
  std::vector<std::size_t> order(links);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sums[a] > sums[b]; });
  for (std::size_t i = 0; i < std::min(kHeatLinks, links) && sums[order[i]] > 0; ++i) {
    rows.push_back(heat_row(name[order[i]], tier[order[i]], "link", row(order[i])));
  }
  json["heat"] = {{"bin_ps", file.integer_attribute("/links/load", "bin_ps")},
                  {"bins", load.columns},
                  {"begin_ps", -begin},
                  {"rows", rows}};
}

/// Ends of the run's steps, ascending.
std::vector<std::int64_t> step_ends(const H5Input& file) {
  std::vector<std::int64_t> ends;
  for (const std::string& name : file.members("/summary/transient")) {
    ends.push_back(file.integer_attribute("/summary/transient/" + name, "ps"));
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

}  // namespace

nlohmann::ordered_json step_document(const H5Input& file) {
  const std::vector<std::int64_t> ends = step_ends(file);
  const std::int64_t begin = ends.size() < 2 ? 0 : ends[ends.size() - 2];
  Json json{{"schema", "traingraph/step/1"}};
  json["version"] = file.text_attribute("/", "traingraph_version");
  json["scenario"] = file.text_attribute("/", "scenario");
  json["summary"] = summary_of(file, "/summary");
  json["bounds"] = rows_of(file, "/bounds", {"name", "subject", "holds_for", "window"}, {"value_s", "binds"});
  json["most_loaded_links"] = rows_of(file, "/links/most_loaded", {"name", "tier"},
                                      {"capacity_Bps", "bytes", "busy_fraction", "mean_utilization", "peak_utilization"});
  json["collectives"] = rows_of(file, "/collectives", {"name", "algorithm", "reason"},
                                {"bytes", "calls", "step", "bulk_exact", "bulk_forced"});
  json["window_ps"] = ends.empty() ? 0 : ends.back() - begin;
  add_stages(file, json);
  add_tracks(step_tracks(file, kMostSpans), begin, json);
  add_critical_path(file, begin, json);
  add_heat(file, begin, json);
  return json;
}

}  // namespace traingraph::analysis
