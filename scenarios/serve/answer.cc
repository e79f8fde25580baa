#include "scenarios/serve/answer.h"

#include <nlohmann/json.hpp>

namespace traingraph::scenarios::serve {

// Text of the user's may come back in a message: what is not UTF-8 in it is replaced.
Answer json_answer(const nlohmann::ordered_json& json, int status) {
  return {status, "application/json", json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)};
}

Answer error_answer(int status, std::string_view text) { return json_answer({{"error", text}}, status); }

}  // namespace traingraph::scenarios::serve
