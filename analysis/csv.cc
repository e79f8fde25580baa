#include "analysis/csv.h"

#include <fmt/format.h>

#include <type_traits>

#include "analysis/fields.h"

namespace traingraph::analysis {
namespace {

std::string print(const FieldValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, sim::Duration>) {
          return exact_seconds(v);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return csv_value(v);
        } else {
          return fmt::format("{}", v);
        }
      },
      value);
}

/// Lines of one element of a list: "bounds.3.value_s".
class Element {
 public:
  Element(std::string& text, const char* list, std::size_t index) : text_{text}, path_{fmt::format("{}.{}", list, index)} {}
  void add(const char* key, const char* unit, const FieldValue& value) {
    text_ += fmt::format("{}.{},{},{}\n", path_, key, print(value), unit);
  }

 private:
  std::string& text_;
  std::string path_;
};

void add_bounds(const std::vector<Bound>& bounds, std::string& text) {
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const Bound& b = bounds[i];
    Element e{text, "bounds", i};
    e.add("number", "1", static_cast<std::uint64_t>(b.number));
    e.add("name", "", b.name);
    e.add("subject", "", b.subject);
    e.add("holds_for", "", b.holds_for);
    e.add("window", "", to_string(b.window));
    e.add("value_s", "s", b.value);
    e.add("simulated_s", "s", b.simulated);
    e.add("binds", "1", std::uint64_t{b.binds});
  }
}

void add_links(const std::vector<LinkUse>& links, std::string& text) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    const LinkUse& l = links[i];
    Element e{text, "most_loaded_links", i};
    e.add("name", "", l.name);
    e.add("tier", "", l.tier);
    e.add("capacity_bytes_per_s", "bytes/s", l.capacity_bytes_per_s);
    e.add("bytes", "bytes", l.bytes);
    e.add("busy_fraction", "1", l.busy_fraction);
    e.add("mean_utilization", "1", l.mean_utilization);
    e.add("peak_utilization", "1", l.peak_utilization);
  }
}

void add_collectives(const std::vector<CollectiveUse>& collectives, std::string& text) {
  for (std::size_t i = 0; i < collectives.size(); ++i) {
    const CollectiveUse& c = collectives[i];
    Element e{text, "collectives", i};
    e.add("name", "", c.name);
    e.add("algorithm", "", c.algorithm);
    e.add("bytes", "bytes", c.bytes);
    e.add("calls", "1", c.calls);
    e.add("calls_in_steps", "1", c.step);
    e.add("calls_in_bulk_exact", "1", c.bulk_exact);
    e.add("calls_in_bulk_forced", "1", c.bulk_forced);
    e.add("mode", "", c.mode);
    e.add("reason", "", c.reason());
  }
}

}  // namespace

std::string csv_value(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string to_csv(const Result& result, bool with_effort) {
  std::string text = "name,value,unit\n";
  for (const Field& f : fields(result, with_effort)) text += fmt::format("{},{},{}\n", f.path, print(f.value), f.unit);
  add_bounds(result.bounds, text);
  add_links(result.top_links, text);
  add_collectives(result.collectives, text);
  return text;
}

}  // namespace traingraph::analysis
