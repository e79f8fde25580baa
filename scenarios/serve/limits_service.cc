#include "scenarios/serve/limits_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/plot/plot.h"
#include "analysis/theory/limits_csv.h"
#include "analysis/theory/limits_figure.h"
#include "analysis/theory/limits_json.h"
#include "scenarios/preset_store.h"
#include "scenarios/serve/request_json.h"

namespace traingraph::scenarios::serve {
namespace {

namespace theory = analysis::theory;
using Json = nlohmann::ordered_json;

constexpr std::string_view kFolder = "theory";

enum class Form { json, csv, svg, yaml };

struct Request {
  LimitsQuery query;
  std::size_t points = 41;
  Form form = Form::json;
};

Form form_of(const std::string& word) {
  if (word == "json") return Form::json;
  if (word == "csv") return Form::csv;
  if (word == "svg") return Form::svg;
  if (word == "yaml") return Form::yaml;
  throw sim::InputError{fmt::format("format: found '{}', allowed: json, csv, svg, yaml", word)};
}

void read_scale(const Json& json, LimitsQuery& query) {
  const std::vector<std::pair<std::string, double*>> factors{{"network_bandwidth", &query.network_bandwidth},
                                                             {"network_latency", &query.network_latency},
                                                             {"flop_rate", &query.flop_rate},
                                                             {"memory_bandwidth", &query.memory_bandwidth}};
  for (const auto& [key, value] : json.items()) {
    const auto factor = std::find_if(factors.begin(), factors.end(), [&k = key](const auto& f) { return f.first == k; });
    if (factor == factors.end()) throw sim::InputError{fmt::format("scale: unknown key '{}'", key)};
    if (!value.is_number()) throw sim::InputError{fmt::format("scale.{}: expected a number", key)};
    *factor->second = value.get<double>();
  }
}

Request read(const std::string& text) {
  const Json json = parse_request(text, {"gpu", "set", "points", "format", "scale"});
  Request request;
  request.query.gpu = text_of(json, "gpu", request.query.gpu);
  if (find_preset(kFolder, request.query.gpu) == nullptr) {
    throw sim::InputError{fmt::format("gpu: unknown preset '{}'", request.query.gpu)};
  }
  request.query.overrides = texts_of(json, "set", LimitsService::kMostOverrides);
  request.points = count_of(json, "points", request.points, 2, LimitsService::kMostPoints);
  request.form = form_of(text_of(json, "format", "json"));
  if (json.contains("scale")) {
    if (!json["scale"].is_object()) throw sim::InputError{"scale: expected an object of factors"};
    read_scale(json["scale"], request.query);
  }
  return request;
}

/// Frees the place that was taken, however the question ends.
class Place {
 public:
  explicit Place(std::counting_semaphore<LimitsService::kAtOnce>& places) : places_{places} {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { places_.release(); }

 private:
  std::counting_semaphore<LimitsService::kAtOnce>& places_;
};

}  // namespace

LimitsService::Kept LimitsService::kept(const std::string& gpu) {
  const std::lock_guard lock{mutex_};
  const auto found = kept_.find(gpu);
  return found == kept_.end() ? nullptr : found->second;
}

void LimitsService::keep(const std::string& gpu, Kept limits) {
  const std::lock_guard lock{mutex_};
  kept_[gpu] = std::move(limits);
}

Answer LimitsService::answer(const std::string& text) {
  Request request = read(text);
  if (!places_.try_acquire()) return error_answer(kTooBusy, "too many questions at a time; ask again");
  const Place place{places_};

  std::vector<std::string> overrides = overrides_of(request.query);
  overrides.insert(overrides.begin(), fmt::format("scan.points={}", request.points));
  const LimitsConfig config = load_limits_preset(request.query.gpu, overrides);
  if (config.question.scan.points > kMostPoints) {
    throw sim::InputError{fmt::format("scan.points: allowed here: at most {}", kMostPoints)};
  }
  if (request.form == Form::yaml) return {200, "application/yaml", effective_yaml(config)};

  const Kept before = kept(request.query.gpu);
  const auto limits = std::make_shared<const theory::Limits>(theory::limits(config.question, before.get()));
  keep(request.query.gpu, limits);
  theory::LimitsReport report;
  report.entries.push_back({config.question.gpu.name, effective_yaml(config), *limits, {}});
  if (request.form == Form::csv) return {200, "text/csv", theory::to_csv(report)};
  if (request.form == Form::svg) return {200, "image/svg+xml", analysis::plot::to_svg(theory::figure_of(report))};
  Json json = theory::to_json(report);
  json["gpu"] = request.query.gpu;
  json["set"] = overrides;
  return json_answer(json);
}

Answer LimitsService::presets() {
  Json list = Json::array();
  for (const std::string& name : preset_names(kFolder)) {
    list.push_back({{"name", name}, {"title", load_limits_preset(name).question.gpu.name}});
  }
  const theory::Assumptions defaults;
  constexpr double kDay = 86400;
  return json_answer({{"presets", list},
                      {"assumptions",
                       {{"batch_exponent", defaults.batch_exponent},
                        {"depth_exponent", defaults.depth_exponent},
                        {"duration_days", defaults.duration_s / kDay},
                        {"all_reduce_words", defaults.all_reduce_words}}}});
}

}  // namespace traingraph::scenarios::serve
