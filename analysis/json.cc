#include "analysis/json.h"

#include <nlohmann/json.hpp>
#include <type_traits>

#include "analysis/fields.h"

namespace traingraph::analysis {
namespace {

using Json = nlohmann::ordered_json;

Json value_of(const FieldValue& value) {
  return std::visit(
      [](const auto& v) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, sim::Duration>) {
          return seconds(v);
        } else {
          return v;
        }
      },
      value);
}

/// Puts a field where its dotted path says.
void put(Json& root, const Field& field) {
  Json* at = &root;
  std::size_t begin = 0;
  for (std::size_t dot = field.path.find('.'); dot != std::string::npos; dot = field.path.find('.', begin)) {
    at = &(*at)[field.path.substr(begin, dot - begin)];
    begin = dot + 1;
  }
  (*at)[field.path.substr(begin)] = value_of(field.value);
}

Json bounds(const Result& result) {
  Json list = Json::array();
  for (const Bound& b : result.bounds) {
    list.push_back({{"number", b.number},
                    {"name", b.name},
                    {"subject", b.subject},
                    {"holds_for", b.holds_for},
                    {"window", to_string(b.window)},
                    {"value_s", seconds(b.value)},
                    {"simulated_s", seconds(b.simulated)},
                    {"binds", b.binds}});
  }
  return list;
}

Json top_links(const Result& result) {
  Json list = Json::array();
  for (const LinkUse& l : result.top_links) {
    list.push_back({{"name", l.name},
                    {"tier", l.tier},
                    {"capacity_bytes_per_s", l.capacity_bytes_per_s},
                    {"bytes", l.bytes},
                    {"busy_fraction", l.busy_fraction},
                    {"mean_utilization", l.mean_utilization},
                    {"peak_utilization", l.peak_utilization}});
  }
  return list;
}

Json collectives(const Result& result) {
  Json list = Json::array();
  for (const CollectiveUse& c : result.collectives) {
    list.push_back({{"name", c.name},
                    {"algorithm", c.algorithm},
                    {"bytes", c.bytes},
                    {"calls", c.calls},
                    {"calls_in_steps", c.step},
                    {"calls_in_bulk_exact", c.bulk_exact},
                    {"calls_in_bulk_forced", c.bulk_forced},
                    {"mode", c.mode},
                    {"reason", c.reason()}});
  }
  return list;
}

}  // namespace

nlohmann::ordered_json to_json(const Result& result, bool with_effort) {
  Json root;
  root["schema"] = "traingraph/run/1";
  for (const Field& field : fields(result, with_effort)) put(root, field);
  root["bounds"] = bounds(result);
  root["most_loaded_links"] = top_links(result);
  root["collectives"] = collectives(result);
  return root;
}

}  // namespace traingraph::analysis
