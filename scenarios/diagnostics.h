// All errors of a scenario in one go: each names its place (file:line:column, preset or --set), the key's path, what was
// found and what is allowed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/document.h"
#include "sim/error.h"

namespace traingraph::scenarios {

/// What load() throws: what() is the sorted list, one message a line.
class ScenarioError : public sim::InputError {
 public:
  using sim::InputError::InputError;
};

class Diagnostics {
 public:
  /// "<place>: <path>: <text>"; without the path when it is empty.
  void error(const Origin& place, std::string_view path, std::string_view text);

  /// The value at `path`, and what is inside it, cannot be relied on (error() notes this for its own path).
  void mark_failed(std::string_view path);
  /// Whether `path`, something inside it, or something around it has failed: what follows from it is not reported.
  [[nodiscard]] bool failed(std::string_view path) const;

  [[nodiscard]] bool empty() const { return errors_.empty(); }
  /// Sorted by place, repeated ones once; after a hundred only their number.
  [[nodiscard]] std::string text() const;
  /// Throws ScenarioError if there is any error.
  void check() const;

 private:
  struct Error {
    Origin place;
    std::string line;
  };
  std::vector<Error> errors_;
  std::vector<std::string> failed_;
};

/// The allowed word nearest to `word` by edit distance (insert, delete, replace, swap of neighbours; case counts half), or
/// empty when none is near enough to be meant: at most a third of its letters, and two at most for words under eight
/// letters.
[[nodiscard]] std::string_view nearest(std::string_view word, const std::vector<std::string>& allowed);

/// "; did you mean 'x'?" for a near match, else "; allowed: a, b, c".
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string>& allowed);

}  // namespace traingraph::scenarios
