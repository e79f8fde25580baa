#include "scenarios/published_limits.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/theory/latency_wall.h"
#include "scenarios/binder.h"
#include "scenarios/limits_config.h"
#include "scenarios/preset_store.h"
#include "scenarios/yaml_reader.h"
#include "sim/error.h"

namespace traingraph::scenarios {

namespace {

using analysis::theory::Dimension;
using analysis::theory::FoundLayout;
using analysis::theory::LayoutSearch;
using analysis::theory::LimitsQuestion;

constexpr double kBase = 10;
constexpr std::string_view kFolder = "published";
constexpr std::string_view kName = "data_movement_limits";

const Words<LimitQuantity> kQuantities{
    {"linear_limit", LimitQuantity::linear_limit},      {"linear_limit_gain", LimitQuantity::linear_limit_gain},
    {"latency_wall", LimitQuantity::latency_wall},      {"gpus", LimitQuantity::gpus},
    {"data_parallel", LimitQuantity::data_parallel},    {"pipeline_parallel", LimitQuantity::pipeline_parallel},
    {"tensor_parallel", LimitQuantity::tensor_parallel}};
const Words<LimitRelation> kRelations{{"about", LimitRelation::about}, {"at_most", LimitRelation::at_most}};

void fields(Fields& f, PublishedLimit& p) {
  f.leaf({.name = "claim", .doc = "what is claimed", .need = kRequired}, leaf(p.claim));
  f.leaf({.name = "gpu", .doc = "a preset of theory", .need = kRequired}, leaf(p.gpu));
  f.leaf({.name = "quantity", .doc = "what is compared", .need = kRequired}, leaf(p.quantity, kQuantities));
  f.leaf({.name = "compute", .doc = "FLOP, for what a layout is asked for"}, leaf(p.compute));
  f.leaf({.name = "relation", .doc = "how the number is meant"}, leaf(p.relation, kRelations));
  f.leaf({.name = "published", .doc = "the number", .need = kRequired}, leaf(p.published, kPositive));
}

double first_crossing(const std::string& gpu) {
  const LimitsQuestion q = load_limits_preset(gpu).question;
  const auto limit = linear_scaling_limit(LayoutSearch{q.gpu, q.assumptions}, std::log10(q.scan.limit_from));
  return limit.first ? std::pow(kBase, *limit.first) : 0;
}

double of_layout(LimitQuantity quantity, const FoundLayout& found) {
  using namespace analysis::theory;
  const Layout& layout = found.layout;
  switch (quantity) {
    case LimitQuantity::data_parallel:
      return layout.degree(kData);
    case LimitQuantity::pipeline_parallel:
      return layout.degree(kPipeline);
    case LimitQuantity::tensor_parallel:
      return layout.degree(kTensorHidden) * layout.degree(kTensorModel);
    default:
      return std::ldexp(1.0, layout.gpus_exponent());
  }
}

double value_here(const PublishedLimit& p) {
  const LimitsQuestion q = load_limits_preset(p.gpu).question;
  const LayoutSearch search{q.gpu, q.assumptions};
  switch (p.quantity) {
    case LimitQuantity::linear_limit:
      return first_crossing(p.gpu);
    case LimitQuantity::linear_limit_gain:
      return first_crossing(p.gpu) / first_crossing("h100");
    case LimitQuantity::latency_wall:
      return std::pow(kBase, latency_wall(search));
    default:
      break;
  }
  const auto found = search.best(p.compute);
  return found ? of_layout(p.quantity, *found) : 0;
}

}  // namespace

std::vector<PublishedLimit> published_limits() {
  const PresetFile* const file = find_preset(kFolder, kName);
  SIM_ASSERT(file != nullptr, "the published results are compiled in");
  Diagnostics diagnostics;
  const Origin place{OriginKind::preset, fmt::format("{}/{}", kFolder, kName), 0, 0};
  const Value root = read_yaml(file->text, place, diagnostics);
  diagnostics.check();
  std::vector<PublishedLimit> results;
  Provenance provenance;
  Binder binder{root, diagnostics, provenance};
  binder.list_of<PublishedLimit>({.name = "results", .doc = "published results", .need = kRequired}, results,
                                 [](Fields& f, PublishedLimit& p) { fields(f, p); });
  binder.finish();
  diagnostics.check();
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].source = provenance.entries.at(fmt::format("results[{}].published", i)).source;
    results[i].here = value_here(results[i]);
  }
  return results;
}

}  // namespace traingraph::scenarios
