#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "scenarios/cli/exit_code.h"
#include "scenarios/cli/nccl_request.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/verbs.h"
#include "scenarios/import_request.h"
#include "scenarios/log_comparison.h"
#include "scenarios/scenario.h"
#include "scenarios/yaml_reader.h"

namespace traingraph::scenarios::cli {
namespace {

constexpr double kGiga = 1e9;

/// As many ranks on as many hosts of the cluster, from the first one on.
std::vector<std::uint32_t> gpus_of(const NcclLog& log, const topology::ClusterSpec& cluster) {
  const bool listed = std::holds_alternative<topology::Custom>(cluster.scale_out);
  const std::uint32_t per_node =
      listed ? std::max(1U, static_cast<std::uint32_t>(gpu_count(cluster)) / cluster.nodes) : cluster.gpus_per_node;
  const std::uint32_t ranks = log.ranks, hosts = std::max(log.hosts, 1U);
  if (ranks == 0) return {};
  if (ranks % hosts != 0) {
    throw UsageError{fmt::format("{}: {} ranks on {} hosts; they must be as many on each", log.name, ranks, hosts)};
  }
  // domains of several hosts are filled evenly
  std::uint32_t of_domain = 1;
  if (const auto* n = std::get_if<topology::NvSwitch>(&cluster.scale_up)) of_domain = std::max(1U, n->gpus / per_node);
  const std::uint32_t domains = (hosts + of_domain - 1) / of_domain;
  const std::uint32_t used = hosts % domains == 0 ? hosts / domains : of_domain;
  std::vector<std::uint32_t> gpus;
  for (std::uint32_t h = 0; h < hosts; ++h) {
    const std::uint32_t host = h / used * of_domain + h % used;
    for (std::uint32_t r = 0; r < ranks / hosts; ++r) gpus.push_back(host * per_node + r);
  }
  if (ranks / hosts > per_node) {
    throw UsageError{
        fmt::format("{}: {} ranks a host, but the cluster's nodes have {} GPUs", log.name, ranks / hosts, per_node)};
  }
  return gpus;
}

std::string text_of(const NcclLog& log, const CollectiveTable& t, workloads::CollectiveKind kind, const LogComparison& c) {
  std::string out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "{}: {}, {} ranks on {} hosts{}{}\n", log.name, to_string(kind), t.ranks, std::max(log.hosts, 1U),
                 log.gpu.empty() ? "" : ", ", log.gpu);
  fmt::format_to(to, "predicted on {}\n\n", t.fabric);
  fmt::format_to(to, "{:>13}{:>12}{:>12}{:>8}{:>12}{:>12}  algorithm\n", "size", "measured", "predicted", "ratio",
                 "measured", "predicted");
  fmt::format_to(to, "{:>13}{:>12}{:>12}{:>8}{:>12}{:>12}\n", "(B)", "(us)", "(us)", "", "busbw GB/s", "busbw GB/s");
  for (const ComparedRow& r : c.rows) {
    fmt::format_to(to, "{:>13.0f}{:>12}{:>12}{:>8.2f}{:>12.2f}{:>12.2f}  {}/{}{}\n", r.measured.bytes,
                   nccl_time(r.measured.time_s), nccl_time(r.predicted.time_s), r.measured.time_s / r.predicted.time_s,
                   r.measured.busbw / kGiga, r.predicted.busbw / kGiga, r.predicted.algorithm, r.predicted.protocol,
                   r.off ? "  off" : "");
  }
  fmt::format_to(to, "\nlarge messages: {:.2f} of the predicted bus bandwidth", c.large_ratio);
  if (c.small_ratio > 0) fmt::format_to(to, "; small messages: {:.2f} times the predicted time", c.small_ratio);
  out += '\n';
  fmt::format_to(to, "{}\n", c.flagged ? "FLAGGED: " + c.cause : "within the usual spread");
  return out;
}

nlohmann::ordered_json json_of(const NcclLog& log, const CollectiveTable& t, workloads::CollectiveKind kind,
                               const LogComparison& c) {
  nlohmann::ordered_json json{{"log", log.name},
                              {"collective", to_string(kind)},
                              {"ranks", t.ranks},
                              {"hosts", log.hosts},
                              {"fabric", t.fabric},
                              {"large_busbw_ratio", c.large_ratio},
                              {"small_time_ratio", c.small_ratio},
                              {"flagged", c.flagged},
                              {"cause", c.cause},
                              {"rows", nlohmann::ordered_json::array()}};
  for (const ComparedRow& r : c.rows) {
    json["rows"].push_back({{"bytes", r.measured.bytes},
                            {"measured_time_s", r.measured.time_s},
                            {"predicted_time_s", r.predicted.time_s},
                            {"measured_busbw_bytes_per_s", r.measured.busbw},
                            {"predicted_busbw_bytes_per_s", r.predicted.busbw},
                            {"algorithm", r.predicted.algorithm},
                            {"protocol", r.predicted.protocol},
                            {"off", r.off}});
  }
  return json;
}

}  // namespace

void compare(const Options& options) {
  const CollectiveRequest base = nccl_request(options, "compare");
  nlohmann::ordered_json json{{"schema", "traingraph/compare/1"}, {"logs", nlohmann::ordered_json::array()}};
  std::string text;
  std::string flagged;
  for (const std::string& file : options.files) {
    const NcclLog log = read_nccl_log(file, read_text(file, {kLargestImport, "a log", "64 MiB"}));
    const auto kind = options.nccl.kind ? options.nccl.kind : log.kind;
    if (!kind) throw UsageError{fmt::format("{}: which collective this is does not show; give --op", file)};
    CollectiveRequest request = base;
    request.kind = *kind;
    request.gpus = gpus_of(log, base.cluster);
    for (const NcclLogRow& r : log.rows) request.sizes.push_back(r.bytes);
    const CollectiveTable table = run_collective_table(request);
    const LogComparison c = compare_log(log, table);
    json["logs"].push_back(json_of(log, table, *kind, c));
    text += (text.empty() ? "" : "\n") + text_of(log, table, *kind, c);
    if (c.flagged) flagged += (flagged.empty() ? "" : ", ") + file;
  }
  write_stdout(options.format == Format::json ? json.dump(2) + "\n" : text);
  if (!flagged.empty()) throw ComparisonFailed{fmt::format("compare: flagged: {}", flagged)};
}

}  // namespace traingraph::scenarios::cli
