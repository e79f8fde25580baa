#include "scenarios/cli/nccl_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/cli/exit_code.h"
#include "scenarios/diagnostics.h"

namespace traingraph::scenarios::cli {
namespace {

using workloads::CollectiveKind;

constexpr double kLargestSize = 1099511627776;  // 1 TiB

double number(std::string_view option, std::string_view word, std::string_view allowed) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || !(value > 0) || !std::isfinite(value)) {
    throw UsageError{fmt::format("{}: found '{}', allowed: {}", option, word, allowed)};
  }
  return value;
}

/// As nccl-tests reads them: 8, 64K, 1M, 16G, binary.
double size(std::string_view option, const std::string& word) {
  constexpr std::string_view kAllowed = "a size from 1 to 1T, such as 8, 64K, 1M, 16G (binary)";
  std::string_view text = word;
  if (text.ends_with('B') || text.ends_with('b')) text.remove_suffix(1);
  double factor = 1;
  if (!text.empty()) {
    constexpr std::string_view kPrefixes = "KMGT";
    const char last = text.back();
    const std::size_t at = kPrefixes.find(last >= 'a' && last <= 'z' ? static_cast<char>(last - 'a' + 'A') : last);
    if (at != std::string_view::npos) {
      factor = std::pow(1024.0, static_cast<double>(at) + 1);
      text.remove_suffix(1);
    }
  }
  const double bytes = number(option, text, kAllowed) * factor;
  if (bytes > kLargestSize || bytes < 1)
    throw UsageError{fmt::format("{}: found '{}', allowed: {}", option, word, kAllowed)};
  return std::floor(bytes);
}

std::vector<double> sizes(const RawOptions& raw) {
  const double low = size("-b", raw.min_bytes.value_or("8")), high = size("-e", raw.max_bytes.value_or("16G"));
  const double factor = number("-f", raw.step_factor.value_or("2"), "a number above 1");
  if (factor < 1.01) throw UsageError{fmt::format("-f: found '{}', allowed: a number above 1", *raw.step_factor)};
  if (high < low) throw UsageError{fmt::format("-e: {:.0f} bytes is less than the {:.0f} of -b", high, low)};
  std::vector<double> all;
  for (double bytes = low; bytes <= high; bytes = std::max(std::floor(bytes * factor), bytes + 1)) all.push_back(bytes);
  return all;
}

/// "0-7,16-23"
std::vector<std::uint32_t> gpu_list(std::string_view text) {
  constexpr std::uint32_t kMost = 1U << 20U;
  std::vector<std::uint32_t> gpus;
  const auto wrong = [&] {
    throw UsageError{fmt::format("--gpus: found '{}', allowed: numbers and ranges such as 0-7,16-23", text)};
  };
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    std::uint32_t first = 0, last = 0;
    auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), first);
    last = first;
    if (error == std::errc{} && end != part.data() + part.size() && *end == '-') {
      std::tie(end, error) = [&] {
        const auto r = std::from_chars(end + 1, part.data() + part.size(), last);
        return std::pair{r.ptr, r.ec};
      }();
    }
    if (error != std::errc{} || end != part.data() + part.size() || last < first || last - first >= kMost) wrong();
    for (std::uint32_t g = first; g <= last; ++g) gpus.push_back(g);
  }
  if (gpus.empty()) wrong();
  return gpus;
}

CollectiveKind kind(std::string_view place, const std::string& word) {
  const std::vector<std::pair<std::string, CollectiveKind>> kKinds{{"all_reduce", CollectiveKind::all_reduce},
                                                                   {"all_gather", CollectiveKind::all_gather},
                                                                   {"reduce_scatter", CollectiveKind::reduce_scatter},
                                                                   {"broadcast", CollectiveKind::broadcast},
                                                                   {"reduce", CollectiveKind::reduce},
                                                                   {"alltoall", CollectiveKind::all_to_all},
                                                                   {"sendrecv", CollectiveKind::send_recv},
                                                                   {"gather", CollectiveKind::gather},
                                                                   {"scatter", CollectiveKind::scatter}};
  std::vector<std::string> names;
  for (const auto& [name, value] : kKinds) {
    if (word == name) return value;
    names.push_back(name);
  }
  if (word == "all_to_all") return CollectiveKind::all_to_all;
  if (word == "send_recv") return CollectiveKind::send_recv;
  throw UsageError{fmt::format("{}: unknown collective '{}'{}", place, word, suggestion(word, names))};
}

/// One of NCCL's words, in any case; none for auto.
template <class E, class All>
std::optional<E> nccl_word(std::string_view option, const std::optional<std::string>& word, const All& all) {
  const auto lower = [](std::string text) {
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
  };
  if (!word || lower(*word) == "auto") return std::nullopt;
  std::vector<std::string> names{"auto"};
  for (const E value : all) {
    if (lower(to_string(value)) == lower(*word)) return value;
    names.push_back(to_string(value));
  }
  throw UsageError{fmt::format("{}: found '{}', allowed: {}", option, *word, fmt::join(names, ", "))};
}

}  // namespace

NcclOptions understand_nccl(const RawOptions& raw) {
  NcclOptions o;
  o.algorithm = nccl_word<workloads::NcclAlgorithm>("--algo", raw.algo, workloads::kNcclAlgorithms);
  o.protocol = nccl_word<workloads::NcclProtocol>("--proto", raw.proto, workloads::kNcclProtocols);
  o.node = raw.nccl.value_or("");
  if (raw.verb == Verb::collective) {
    o.kind = kind("collective", raw.subject);
    o.sizes = sizes(raw);
    o.factor = raw.step_factor.value_or(o.factor);
    if (raw.gpus) o.gpus = gpu_list(*raw.gpus);
  } else if (raw.op) {
    o.kind = kind("--op", *raw.op);
  }
  return o;
}

}  // namespace traingraph::scenarios::cli
