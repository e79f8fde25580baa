#include "scenarios/serve/request_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace traingraph::scenarios::serve {
namespace {

using Json = nlohmann::ordered_json;

/// No request has more; the parser would follow a deeper one until its stack ends.
constexpr int kDeepest = 8;

}  // namespace

Json parse_request(const std::string& text, std::initializer_list<std::string_view> allowed) {
  Json json;
  try {
    json = Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
      if (depth > kDeepest) throw sim::InputError{"the request is nested too deeply"};
      return true;
    });
  } catch (const Json::exception&) {
    throw sim::InputError{"the request is not valid JSON"};
  }
  if (!json.is_object()) throw sim::InputError{"the request is no JSON object"};
  for (const auto& [key, value] : json.items()) {
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      throw sim::InputError{fmt::format("the request has an unknown key '{}'", key)};
    }
  }
  return json;
}

std::string text_of(const Json& json, const char* key, std::string otherwise) {
  const auto found = json.find(key);
  if (found == json.end()) return otherwise;
  if (!found->is_string()) throw sim::InputError{fmt::format("{}: expected a text", key)};
  return found->get<std::string>();
}

std::vector<std::string> texts_of(const Json& json, const char* key, std::size_t most) {
  const auto found = json.find(key);
  if (found == json.end()) return {};
  const bool texts =
      found->is_array() && std::all_of(found->begin(), found->end(), [](const Json& j) { return j.is_string(); });
  if (!texts || found->size() > most)
    throw sim::InputError{fmt::format("{}: expected a list of at most {} texts", key, most)};
  return found->get<std::vector<std::string>>();
}

std::size_t count_of(const Json& json, const char* key, std::size_t otherwise, std::size_t least, std::size_t most) {
  const auto found = json.find(key);
  if (found == json.end()) return otherwise;
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() < least || found->get<std::uint64_t>() > most) {
    throw sim::InputError{fmt::format("{}: expected a whole number from {} to {}", key, least, most)};
  }
  return static_cast<std::size_t>(found->get<std::uint64_t>());
}

bool flag_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return false;
  if (!found->is_boolean()) throw sim::InputError{fmt::format("{}: expected true or false", key)};
  return found->get<bool>();
}

}  // namespace traingraph::scenarios::serve
