// What a service gives back for the page: the parts of an HTTP response, without HTTP.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace traingraph::scenarios::serve {

struct Answer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

inline constexpr int kBadRequest = 400;
inline constexpr int kForbidden = 403;
inline constexpr int kNotFound = 404;
inline constexpr int kConflict = 409;
inline constexpr int kUnsupportedType = 415;
inline constexpr int kTooBusy = 503;
inline constexpr int kServerError = 500;

[[nodiscard]] Answer json_answer(const nlohmann::ordered_json& json, int status = 200);
/// {"error": text}
[[nodiscard]] Answer error_answer(int status, std::string_view text);

}  // namespace traingraph::scenarios::serve
