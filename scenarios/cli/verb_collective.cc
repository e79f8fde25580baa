#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "analysis/format.h"
#include "scenarios/cli/nccl_request.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/verbs.h"

namespace traingraph::scenarios::cli {
namespace {

constexpr std::size_t kShownLinks = 10;
constexpr double kGiga = 1e9;

bool reduces(workloads::CollectiveKind kind) {
  return kind == workloads::CollectiveKind::all_reduce || kind == workloads::CollectiveKind::reduce_scatter ||
         kind == workloads::CollectiveKind::reduce;
}

std::string text_of(const Options& options, const CollectiveTable& t) {
  const auto kind = *options.nccl.kind;
  std::string out;
  const auto to = std::back_inserter(out);
  fmt::format_to(
      to,
      "# nThread 1 nGpus 1 minBytes {:.0f} maxBytes {:.0f} step: {}(factor) warmup iters: 0 iters: 1 agg iters: 1 "
      "validation: 0 graph: 0\n#\n",
      options.nccl.sizes.front(), options.nccl.sizes.back(), options.nccl.factor);
  fmt::format_to(to, "# {} on {}: {}, {}\n#\n", to_string(kind), t.fabric, analysis::counted(t.ranks, "rank"),
                 analysis::counted(t.nodes, "scale-up domain"));
  fmt::format_to(to, "#{:>61}out-of-place{:>24}in-place{:>10}\n", "", "", "");
  fmt::format_to(to, "# {:>11}{:>14}{:>10}{:>8}{:>8}", "size", "count", "type", "redop", "root");
  for (int i = 0; i < 2; ++i) fmt::format_to(to, "{:>9}{:>8}{:>8}{:>7}", "time", "algbw", "busbw", "#wrong");
  fmt::format_to(to, "  algorithm\n# {:>11}{:>14}{:>26}", "(B)", "(elements)", "");
  for (int i = 0; i < 2; ++i) fmt::format_to(to, "{:>9}{:>8}{:>8}{:>7}", "(us)", "(GB/s)", "(GB/s)", "");
  out += '\n';
  for (const CollectiveRow& r : t.rows) {
    fmt::format_to(to, "{:>13.0f}{:>14}{:>10}{:>8}{:>8}", r.bytes, r.elements, "float", reduces(kind) ? "sum" : "none",
                   kind == workloads::CollectiveKind::broadcast || kind == workloads::CollectiveKind::reduce ? 0 : -1);
    for (int i = 0; i < 2; ++i) {
      fmt::format_to(to, "{:>9}{:>8.2f}{:>8.2f}{:>7}", nccl_time(r.time_s), r.algbw / kGiga, r.busbw / kGiga, "N/A");
    }
    fmt::format_to(to, "  {}/{}\n", r.algorithm, r.protocol);
  }
  double sum = 0;
  for (const CollectiveRow& r : t.rows) sum += r.busbw / kGiga;
  fmt::format_to(to, "# Avg bus bandwidth    : {:.6g}\n#\n", sum / static_cast<double>(t.rows.size()));
  return out;
}

std::string explanation(const CollectiveTable& t) {
  std::string out;
  const auto to = std::back_inserter(out);
  if (!t.rows.front().costs.empty()) fmt::format_to(to, "NCCL's cost table, us (the fastest first)\n");
  for (const CollectiveRow& r : t.rows) {
    if (r.costs.empty()) continue;
    fmt::format_to(to, "{:>13.0f}", r.bytes);
    for (const workloads::NcclChoice& c : r.costs) {
      fmt::format_to(to, "  {}/{} {}", to_string(c.algorithm), to_string(c.protocol), nccl_time(c.time_s));
    }
    out += '\n';
  }
  fmt::format_to(to, "\nfullest links while the fabric carries the traffic of {}\n", t.rows.back().algorithm);
  for (std::size_t i = 0; i < std::min(kShownLinks, t.load.size()); ++i) {
    fmt::format_to(to, "  {:<48}{:>8}  {:.4g} B per byte of the buffer\n", t.load[i].name,
                   analysis::percent(t.load[i].utilization), t.load[i].bytes_share);
  }
  return out;
}

std::string json_of(const Options& options, const CollectiveTable& t) {
  nlohmann::ordered_json json;
  json["schema"] = "traingraph/collective/1";
  json["collective"] = to_string(*options.nccl.kind);
  json["fabric"] = t.fabric;
  json["ranks"] = t.ranks;
  json["scale_up_domains"] = t.nodes;
  json["rows"] = nlohmann::ordered_json::array();
  for (const CollectiveRow& r : t.rows) {
    json["rows"].push_back({{"bytes", r.bytes},
                            {"elements", r.elements},
                            {"algorithm", r.algorithm},
                            {"protocol", r.protocol},
                            {"time_s", r.time_s},
                            {"latency_s", r.latency_s},
                            {"algbw_bytes_per_s", r.algbw},
                            {"busbw_bytes_per_s", r.busbw}});
    for (const workloads::NcclChoice& c : r.costs) {
      json["rows"].back()["nccl_costs"].push_back(
          {{"algorithm", to_string(c.algorithm)}, {"protocol", to_string(c.protocol)}, {"time_s", c.time_s}});
    }
  }
  json["links"] = nlohmann::ordered_json::array();
  for (const LinkLoad& l : t.load) {
    json["links"].push_back({{"name", l.name}, {"bytes_per_buffer_byte", l.bytes_share}, {"utilization", l.utilization}});
  }
  return json.dump(2) + "\n";
}

}  // namespace

void collective(const Options& options) {
  CollectiveRequest request = nccl_request(options, "collective");
  request.kind = *options.nccl.kind;
  request.sizes = options.nccl.sizes;
  request.gpus = options.nccl.gpus;
  const CollectiveTable table = run_collective_table(request);
  if (options.format == Format::json) return write_stdout(json_of(options, table));
  write_stdout(text_of(options, table) + (options.explain ? explanation(table) : ""));
}

}  // namespace traingraph::scenarios::cli
