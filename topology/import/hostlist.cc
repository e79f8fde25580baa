#include "topology/import/hostlist.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "topology/import/text.h"

namespace traingraph::topology::imports {
namespace {

constexpr std::size_t kMostNames = 1'000'000;

class Expander {
 public:
  explicit Expander(std::string_view text) : text_{text} {}

  std::variant<std::vector<std::string>, HostlistError> expand() {
    while (at_ < text_.size() && !error_) {
      item();
      if (at_ < text_.size() && !error_) {
        if (text_[at_] != ',') fail(at_, "a comma is missing");
        ++at_;
        if (at_ == text_.size()) fail(at_, "nothing after the comma");
      }
    }
    if (error_) return *error_;
    return std::move(names_);
  }

 private:
  void fail(std::size_t offset, std::string text) {
    if (!error_) error_ = HostlistError{offset, std::move(text)};
  }

  /// One name, possibly with brackets, up to a comma outside of them.
  void item() {
    std::vector<std::string> names{""};
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && !error_) {
      const char c = text_[at_];
      if (c == ']' || c == ' ' || c == '\t' || c == '=' || c == '"') {
        return fail(at_, fmt::format("{} in a list of hosts", shown(std::string_view{&c, 1})));
      }
      if (c == '[') {
        names = bracket(names);
      } else {
        for (std::string& n : names) n += c;
        ++at_;
      }
    }
    if (begin == at_) return fail(at_, "an empty name in a list of hosts");
    if (names_.size() + names.size() > kMostNames) return fail(begin, fmt::format("more than {} hosts", kMostNames));
    for (std::string& n : names) names_.push_back(std::move(n));
  }

  std::vector<std::string> bracket(const std::vector<std::string>& heads) {
    const std::size_t open = at_;
    const std::size_t close = text_.find(']', open);
    if (close == std::string_view::npos) {
      fail(open, "a bracket that is not closed");
      return {};
    }
    std::vector<std::string> middles;
    std::size_t begin = open + 1;
    while (begin <= close && !error_) {
      const std::size_t end = std::min(text_.find(',', begin), close);
      range(begin, text_.substr(begin, end - begin), middles);
      begin = end + 1;
    }
    at_ = close + 1;
    std::vector<std::string> out;
    if (error_) return out;
    if (heads.size() * middles.size() > kMostNames) {
      fail(open, fmt::format("more than {} hosts", kMostNames));
      return out;
    }
    for (const std::string& h : heads) {
      for (const std::string& m : middles) out.push_back(h + m);
    }
    return out;
  }

  void range(std::size_t offset, std::string_view part, std::vector<std::string>& out) {
    const std::size_t dash = part.find('-');
    const std::string_view low = part.substr(0, dash);
    const std::string_view high = dash == std::string_view::npos ? low : part.substr(dash + 1);
    const auto first = whole_number(low), last = whole_number(high);
    if (!first || !last)
      return fail(offset, fmt::format("found {}, allowed: a number or a range such as 01-16", shown(part)));
    if (*last < *first) return fail(offset, fmt::format("the range {} runs backwards", shown(part)));
    if (*last - *first >= kMostNames) return fail(offset, fmt::format("more than {} hosts", kMostNames));
    for (std::uint32_t i = *first; i <= *last && i >= *first; ++i) {
      out.push_back(fmt::format("{:0{}}", i, low.size()));
      if (i == *last) break;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string> names_;
  std::optional<HostlistError> error_;
};

}  // namespace

std::variant<std::vector<std::string>, HostlistError> expand_hostlist(std::string_view text) {
  return Expander{text}.expand();
}

}  // namespace traingraph::topology::imports
