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
  return text;
}

}  // namespace traingraph::analysis
