#include "scenarios/diagnostics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace traingraph::scenarios {

namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Optimal string alignment, in half letters: 2 a letter, 1 for a letter that differs in case only or '-' for '_'.
std::size_t distance(std::string_view a, std::string_view b) {
  const auto replace = [](char x, char y) -> std::size_t {
    if (x == y) return 0;
    const bool dashes = (x == '-' || x == '_' || x == ' ') && (y == '-' || y == '_' || y == ' ');
    return dashes || lower(x) == lower(y) ? 1 : 2;
  };
  std::vector<std::size_t> two_back(b.size() + 1);
  std::vector<std::size_t> back(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) back[j] = 2 * j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = 2 * i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({back[j] + 2, row[j - 1] + 2, back[j - 1] + replace(a[i - 1], b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], two_back[j - 2] + 2);
    }
    std::swap(two_back, back);
    std::swap(back, row);
  }
  return back[b.size()];
}

}  // namespace

void Diagnostics::error(const Origin& place, std::string_view path, std::string_view text) {
  errors_.push_back({place, path.empty() ? fmt::format("{}: {}", to_string(place), text)
                                         : fmt::format("{}: {}: {}", to_string(place), path, text)});
  if (!path.empty()) mark_failed(path);
}

void Diagnostics::mark_failed(std::string_view path) {
  constexpr std::size_t kMost = 1000;  // looked through by every later check
  if (failed_.size() < kMost && std::find(failed_.begin(), failed_.end(), path) == failed_.end()) failed_.emplace_back(path);
}

bool Diagnostics::failed(std::string_view path) const {
  const auto encloses = [](std::string_view outer, std::string_view inner) {
    return inner.starts_with(outer) &&
           (outer.empty() || inner.size() == outer.size() || inner[outer.size()] == '.' || inner[outer.size()] == '[');
  };
  return std::any_of(failed_.begin(), failed_.end(),
                     [&](const std::string& f) { return encloses(f, path) || encloses(path, f); });
}

std::string Diagnostics::text() const {
  std::vector<Error> sorted = errors_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Error& a, const Error& b) { return before(a.place, b.place); });
  std::vector<std::string> lines;
  std::set<std::string_view> seen;
  for (const Error& e : sorted) {
    if (seen.insert(e.line).second) lines.push_back(e.line);
  }
  constexpr std::size_t kMostShown = 100;
  if (lines.size() > kMostShown) {
    lines.push_back(fmt::format("... and {} more", lines.size() - kMostShown));
    lines.erase(lines.begin() + kMostShown, lines.end() - 1);
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

void Diagnostics::check() const {
  if (!empty()) throw ScenarioError{text()};
}

std::string_view nearest(std::string_view word, const std::vector<std::string>& allowed) {
  std::string_view best;
  constexpr std::size_t kLongest = 64;  // a longer word is no slip of a known key, and the distance is quadratic
  if (word.size() > kLongest) return best;
  std::size_t limit = std::min<std::size_t>(word.size() < 8 ? 4 : 12, std::max<std::size_t>(2, 2 * word.size() / 3));
  for (const std::string& candidate : allowed) {
    const std::size_t d = distance(word, candidate);
    if (d <= limit) {
      best = candidate;
      if (d == 0) break;
      limit = d - 1;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& allowed) {
  if (const std::string_view near = nearest(word, allowed); !near.empty()) return fmt::format("; did you mean '{}'?", near);
  return allowed.empty() ? std::string{} : fmt::format("; allowed: {}", fmt::join(allowed, ", "));
}

}  // namespace traingraph::scenarios
