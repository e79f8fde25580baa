#include <fmt/format.h>

#include <limits>
#include <string>

#include "scenarios/limits_config.h"
#include "scenarios/schema.h"
#include "scenarios/variant_fields.h"

namespace traingraph::scenarios {

namespace {

using analysis::theory::AllReduceKind;
using analysis::theory::Assumptions;
using analysis::theory::Gpu;
using analysis::theory::LatencyKind;
using analysis::theory::LatencySum;
using analysis::theory::LimitsScan;
using analysis::theory::NetworkLevel;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr double kDay = 86400;  // seconds
constexpr Range kExponent{.low = -1, .high = 2};
constexpr Range kCompute{.low = 1e10, .high = 1e60};
constexpr Range kLimitStart{.low = 1e10, .high = 1e36};  // where its search ends

const Words<LatencySum> kLatencySums{{"sum", LatencySum::sum}, {"largest", LatencySum::largest}};

/// The model adds both directions of a port; people state one.
Leaf one_direction_leaf(double& both) {
  constexpr double kDirections = 2;
  return {"bandwidth, or unlimited",
          [&both](const Value& value) {
            if (value.kind == ValueKind::scalar && value.text == "unlimited") {
              both = kUnlimited;
              return std::string{};
            }
            sim::Bandwidth one;
            std::string error = detail::read_quantity(value, kPositive, one);
            if (error.empty()) both = kDirections * one.bytes_per_s();
            return error;
          },
          [&both]() -> std::optional<std::string> {
            return both == kUnlimited ? "unlimited" : format(sim::Bandwidth::bytes_per_s(both / kDirections));
          }};
}

/// A run lasts longer than anything that the clock of a simulation counts: days without a bound.
Leaf days_leaf(double& seconds) {
  return {"time in days such as 91.25 d",
          [&seconds](const Value& value) -> std::string {
            const std::string wrong = fmt::format("expected a time in days such as 91.25 d, found {}", describe(value));
            if (value.kind != ValueKind::scalar || !value.text.ends_with(" d")) return wrong;
            const auto days = parse_number(std::string_view{value.text}.substr(0, value.text.size() - 2));
            if (!days.value || !(*days.value > 0)) return wrong;
            seconds = *days.value * kDay;
            return {};
          },
          [&seconds] { return std::optional<std::string>{fmt::format("{} d", seconds / kDay)}; }};
}

/// A number, or a word that stands for another rule.
template <class Kind>
Leaf number_or_rule(double& number, Kind& kind, Kind plain, const Words<Kind>& rules) {
  std::string type = "number";
  for (const auto& [word, rule] : rules) type += " or " + word;
  return {std::move(type),
          [&number, &kind, plain, rules](const Value& value) {
            for (const auto& [word, rule] : rules) {
              if (value.kind != ValueKind::scalar || value.text != word) continue;
              kind = rule;
              return std::string{};
            }
            kind = plain;
            return leaf(number, kPositive).read(value);
          },
          [&number, &kind, rules] {
            for (const auto& [word, rule] : rules) {
              if (rule == kind) return std::optional<std::string>{word};
            }
            return leaf(number).print();
          }};
}

void fields(Fields& f, NetworkLevel& level) {
  f.leaf({.name = "bandwidth", .doc = "per GPU, one direction", .need = kRequired}, one_direction_leaf(level.bytes_per_s));
  f.leaf({.name = "latency", .doc = "of one collective or message, end to end", .need = kRequired},
         leaf(AsSeconds{level.latency_s}));
  f.leaf({.name = "group", .doc = "members of one group, a power of two; 0: unlimited, as the outermost level must be"},
         leaf(level.fan_out));
}

void fields(Fields& f, Gpu& gpu) {
  f.leaf({.name = "name", .doc = "for people"}, leaf(gpu.name));
  f.group({.name = "matmul", .doc = "the tiled data-movement model of one GPU", .need = kRequired},
          [&] { fields(f, gpu.matmul); });
  f.list_of<NetworkLevel>({.name = "network", .doc = "levels, innermost first", .need = kRequired}, gpu.levels,
                          [](Fields& inner, NetworkLevel& level) { fields(inner, level); });
}

void scaling_fields(Fields& f, Assumptions& a) {
  f.leaf({.name = "tokens_per_param", .doc = "kappa, tokens per active parameter D/N [paper]"},
         leaf(a.tokens_per_param, kPositive));
  f.leaf({.name = "reference_compute", .doc = "C0, FLOP of the reference run [paper]"},
         leaf(a.reference_compute, kPositive));
  f.leaf({.name = "reference_batch", .doc = "B0, tokens per optimizer step of the reference run [paper]"},
         leaf(a.reference_batch, kPositive));
  f.leaf({.name = "reference_layers", .doc = "L0, blocks of two linear layers of the reference run [paper]"},
         leaf(a.reference_layers, kPositive));
  f.leaf({.name = "batch_exponent", .doc = "beta, B ~ C^beta [paper]"}, leaf(a.batch_exponent, kExponent));
  f.leaf({.name = "depth_exponent", .doc = "lambda, L ~ C^lambda [paper]"}, leaf(a.depth_exponent, kExponent));
  f.leaf({.name = "hidden_ratio", .doc = "ff/d: 4 for the MLP, 1 standing in for attention [paper]"},
         leaf(a.hidden_ratio, kPositive));
  f.leaf({.name = "duration", .doc = "longest training time [paper: three months]"}, days_leaf(a.duration_s));
  f.leaf({.name = "experts", .doc = "E, experts per block; 1: dense [paper]"}, leaf(a.experts, kAtLeastOne));
  f.leaf({.name = "active_experts", .doc = "k, experts that a token uses [paper]"}, leaf(a.active_experts, kAtLeastOne));
  f.leaf({.name = "batch_sparsity_exponent", .doc = "B ~ (E/k)^this [paper]"}, leaf(a.batch_sparsity_exponent, kExponent));
}

void step_fields(Fields& f, Assumptions& a) {
  f.leaf({.name = "word_bits", .doc = "bits of a word, FLOP per clock growing as it shrinks; native: the GPU's [ours]"},
         or_word(a.word_bits, 0.0, "native", leaf(a.word_bits, kPositive)));
  f.leaf({.name = "all_reduce_words",
          .doc = "words moved per word all-reduced, times (p-1)/p: 2 in the network, 3 multicast, 4 ring, "
                 "in_switch 2p/(p-1) [paper]"},
         number_or_rule(a.all_reduce_words, a.all_reduce, AllReduceKind::factor, {{"in_switch", AllReduceKind::in_switch}}));
  f.leaf({.name = "latency_levels", .doc = "of the latencies of the levels crossed: their sum or the largest [ours]"},
         leaf(a.latency_sum, kLatencySums));
  f.leaf({.name = "latency_factor", .doc = "latencies of a level that an all-reduce pays; ring: 2(p-1), direct: 2 [ours]"},
         number_or_rule(a.latency_factor, a.latency, LatencyKind::factor,
                        {{"ring", LatencyKind::ring}, {"direct", LatencyKind::direct}}));
  f.leaf({.name = "overlap", .doc = "communication hides behind arithmetic [paper]"}, leaf(a.overlap));
  f.leaf({.name = "defer_weight_gradients", .doc = "weight gradients fill the time of a block's communication [paper]"},
         leaf(a.defer_weight_gradients));
  f.leaf({.name = "two_dimensional_tp", .doc = "tensor parallelism over d too, not over ff only [paper]"},
         leaf(a.two_dimensional_tp));
  f.leaf({.name = "pipeline_traffic", .doc = "stage boundaries cost traffic [paper]"}, leaf(a.pipeline_traffic));
  f.leaf({.name = "interleave", .doc = "virtual stages per pipeline stage, 1: none; maximal: one block each [paper]"},
         or_word(a.interleave, 0.0, "maximal", leaf(a.interleave, kAtLeastOne)));
  f.leaf({.name = "all_weights_resident",
          .doc = "weights stay on chip only if all weights of the GPU do, not if those of one product do [ours]"},
         leaf(a.all_weights_resident));
  f.leaf({.name = "memory_limit", .doc = "layouts must fit in the GPU's memory [ours]"}, leaf(a.memory_limit));
  f.leaf({.name = "min_tokens", .doc = "least tokens of a microbatch per expert-parallel rank [ours]"},
         leaf(a.min_tokens, kPositive));
}

void fields(Fields& f, LimitsScan& scan) {
  constexpr Range kPoints{.low = 1, .high = 10001};
  f.leaf({.name = "from", .doc = "FLOP, first point of the utilization curve"}, leaf(scan.from, kCompute));
  f.leaf({.name = "to", .doc = "FLOP, last point"}, leaf(scan.to, kCompute));
  f.leaf({.name = "points", .doc = "of the curve, equally spaced in the logarithm"}, leaf(scan.points, kPoints));
  f.leaf({.name = "limit_from", .doc = "FLOP, where the search for the linear-scaling limit starts"},
         leaf(scan.limit_from, kLimitStart));
  f.leaf({.name = "closed_form_stages", .doc = "pipeline stages in the closed form of the bandwidth limit [ours]"},
         leaf(scan.closed_form_stages, kAtLeastOne));
}

}  // namespace

void fields(Fields& f, LimitsConfig& config) {
  f.leaf({.name = "name", .doc = "of this set of assumptions; the file's name unless given"}, leaf(config.name));
  f.group({.name = "gpu", .doc = "GPU and network", .need = kRequired, .preset_folder = "theory"},
          [&] { fields(f, config.question.gpu); });
  scaling_fields(f, config.question.assumptions);
  step_fields(f, config.question.assumptions);
  f.group({.name = "scan", .doc = "training computes to look at"}, [&] { fields(f, config.question.scan); });
}

}  // namespace traingraph::scenarios
