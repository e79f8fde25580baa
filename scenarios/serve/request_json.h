// Reading the JSON that the page posts: an object with known keys of known types, or sim::InputError that says which is
// wrong.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/error.h"

namespace traingraph::scenarios::serve {

/// The object in `text`; every key must be one of `allowed`.
[[nodiscard]] nlohmann::ordered_json parse_request(const std::string& text, std::initializer_list<std::string_view> allowed);
[[nodiscard]] std::string text_of(const nlohmann::ordered_json& json, const char* key, std::string otherwise);
/// A list of at most `most` texts; empty when the key is not there.
[[nodiscard]] std::vector<std::string> texts_of(const nlohmann::ordered_json& json, const char* key, std::size_t most);
[[nodiscard]] std::size_t count_of(const nlohmann::ordered_json& json, const char* key, std::size_t otherwise,
                                   std::size_t least, std::size_t most);
[[nodiscard]] bool flag_of(const nlohmann::ordered_json& json, const char* key);

}  // namespace traingraph::scenarios::serve
