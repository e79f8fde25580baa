#include "scenarios/nccl_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "scenarios/diagnostics.h"
#include "topology/import/text.h"

namespace traingraph::scenarios {

namespace {

using topology::imports::Line;
using topology::imports::lines_of;
using topology::imports::number;
using topology::imports::whole_number;
using topology::imports::Word;
using workloads::CollectiveKind;

constexpr double kGiga = 1e9;

struct TestName {
  std::string_view text;
  CollectiveKind kind;
};
// longer names first: "all_gather" holds "gather"
constexpr std::array<TestName, 11> kTests{{{"all_reduce", CollectiveKind::all_reduce},
                                           {"all_gather", CollectiveKind::all_gather},
                                           {"reduce_scatter", CollectiveKind::reduce_scatter},
                                           {"alltoall", CollectiveKind::all_to_all},
                                           {"all_to_all", CollectiveKind::all_to_all},
                                           {"sendrecv", CollectiveKind::send_recv},
                                           {"send_recv", CollectiveKind::send_recv},
                                           {"broadcast", CollectiveKind::broadcast},
                                           {"scatter", CollectiveKind::scatter},
                                           {"gather", CollectiveKind::gather},
                                           {"reduce", CollectiveKind::reduce}}};

std::optional<CollectiveKind> named(std::string_view text) {
  for (const TestName& t : kTests) {
    if (text.find(t.text) != std::string_view::npos) return t.kind;
  }
  return std::nullopt;
}

/// A row: size count type [redop] [root] then time algbw busbw [wrong], once or twice.
std::optional<NcclLogRow> row_of(std::vector<Word> words) {
  // MPI may put the rank before every line: "[1,0]<stdout>:"
  if (!words.empty() && words[0].text.find("<stdout>:") != std::string_view::npos) words.erase(words.begin());
  constexpr std::size_t kFewest = 6;
  if (words.size() < kFewest) return std::nullopt;
  const auto bytes = number(words[0].text), count = number(words[1].text);
  if (!bytes || !count || *bytes < 0 || number(words[2].text)) return std::nullopt;
  std::size_t at = 3;
  if (at < words.size() && !number(words[at].text) && words[at].text != "N/A") ++at;  // redop
  std::size_t end = at;                                                               // further columns are not ours
  while (end < words.size() && (number(words[end].text) || words[end].text == "N/A")) ++end;
  const std::size_t left = end - at;
  if (left == 9 || left == 7 || left == 5) ++at;  // root
  if (at + 3 > end) return std::nullopt;
  const auto time = number(words[at].text), algbw = number(words[at + 1].text), busbw = number(words[at + 2].text);
  if (!time || !algbw || !busbw || *time <= 0) return std::nullopt;
  return NcclLogRow{*bytes, *time * 1e-6, *algbw * kGiga, *busbw * kGiga};
}

/// What busbw / algbw of the last row leaves possible; only all-reduce has a factor above 1.
std::optional<CollectiveKind> by_factor(const NcclLog& log) {
  const NcclLogRow& last = log.rows.back();
  if (log.ranks < 3 || last.algbw < 0.1 * kGiga) return std::nullopt;
  const double expected = 2.0 * (log.ranks - 1) / log.ranks;
  if (std::abs(last.busbw / last.algbw - expected) < 0.02) return CollectiveKind::all_reduce;
  return std::nullopt;
}

}  // namespace

NcclLog read_nccl_log(std::string name, std::string_view text) {
  NcclLog log{.name = std::move(name), .gpu = {}, .kind = {}, .rows = {}};
  std::set<std::string, std::less<>> hosts;
  for (const Line& line : lines_of(text)) {
    const std::size_t rank = line.text.find(" Rank ");
    const std::size_t pid = line.text.find(" Pid ");
    if (line.text.find('#') < rank && rank < pid && pid != std::string_view::npos) {
      const std::vector<Word> words = Line{line.text.substr(pid), line.number}.words();
      if (words.size() > 3 && words[2].text == "on") {
        ++log.ranks;
        hosts.emplace(words[3].text);
        const std::size_t bus = line.text.find(']', pid);
        if (log.gpu.empty() && bus != std::string_view::npos)
          log.gpu = topology::imports::trimmed(line.text.substr(bus + 1));
      }
      continue;
    }
    if (line.text.find("_perf") != std::string_view::npos && !log.kind) log.kind = named(line.text);
    if (const auto row = row_of(line.words()); row && row->bytes > 0) log.rows.push_back(*row);
  }
  if (log.rows.empty()) throw ScenarioError{fmt::format("{}:1:1: no row of an nccl-tests table", log.name)};
  log.hosts = static_cast<std::uint32_t>(hosts.size());
  const std::size_t slash = log.name.rfind('/');
  if (!log.kind) log.kind = named(std::string_view{log.name}.substr(slash == std::string::npos ? 0 : slash + 1));
  if (!log.kind) log.kind = by_factor(log);
  return log;
}

}  // namespace traingraph::scenarios
