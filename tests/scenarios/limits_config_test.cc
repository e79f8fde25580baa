// The keys of `traingraph limits`: every one sets its field, presets are the paper's table, errors name place and remedy.
#include "scenarios/limits_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "scenarios/describer.h"
#include "scenarios/diagnostics.h"
#include "scenarios/published_limits.h"

namespace traingraph::scenarios {
namespace {

using analysis::theory::AllReduceKind;
using analysis::theory::LatencyKind;
using analysis::theory::LatencySum;
using testing::HasSubstr;
using testing::StartsWith;

struct KeyCase {
  const char* key;
  const char* value;
  std::function<bool(const LimitsConfig&)> holds;
};

/// Every key outside `gpu`, with a value that is not its default.
std::vector<KeyCase> cases() {
  using C = const LimitsConfig&;
  return {
      {"name", "mine", [](C c) { return c.name == "mine"; }},
      {"tokens_per_param", "40", [](C c) { return c.question.assumptions.tokens_per_param == 40; }},
      {"reference_compute", "2e25", [](C c) { return c.question.assumptions.reference_compute == 2e25; }},
      {"reference_batch", "1e6", [](C c) { return c.question.assumptions.reference_batch == 1e6; }},
      {"reference_layers", "60", [](C c) { return c.question.assumptions.reference_layers == 60; }},
      {"batch_exponent", "0.25", [](C c) { return c.question.assumptions.batch_exponent == 0.25; }},
      {"depth_exponent", "0", [](C c) { return c.question.assumptions.depth_exponent == 0; }},
      {"hidden_ratio", "4", [](C c) { return c.question.assumptions.hidden_ratio == 4; }},
      {"duration", "365 d", [](C c) { return c.question.assumptions.duration_s == 365 * 86400.0; }},
      {"experts", "8", [](C c) { return c.question.assumptions.experts == 8; }},
      {"active_experts", "1.5", [](C c) { return c.question.assumptions.active_experts == 1.5; }},
      {"batch_sparsity_exponent", "1", [](C c) { return c.question.assumptions.batch_sparsity_exponent == 1; }},
      {"word_bits", "8", [](C c) { return c.question.assumptions.word_bits == 8; }},
      {"all_reduce_words", "in_switch", [](C c) { return c.question.assumptions.all_reduce == AllReduceKind::in_switch; }},
      {"latency_levels", "largest", [](C c) { return c.question.assumptions.latency_sum == LatencySum::largest; }},
      {"latency_factor", "ring", [](C c) { return c.question.assumptions.latency == LatencyKind::ring; }},
      {"overlap", "false", [](C c) { return !c.question.assumptions.overlap; }},
      {"defer_weight_gradients", "false", [](C c) { return !c.question.assumptions.defer_weight_gradients; }},
      {"two_dimensional_tp", "false", [](C c) { return !c.question.assumptions.two_dimensional_tp; }},
      {"pipeline_traffic", "false", [](C c) { return !c.question.assumptions.pipeline_traffic; }},
      {"interleave", "2", [](C c) { return c.question.assumptions.interleave == 2; }},
      {"all_weights_resident", "true", [](C c) { return c.question.assumptions.all_weights_resident; }},
      {"memory_limit", "true", [](C c) { return c.question.assumptions.memory_limit; }},
      {"min_tokens", "128", [](C c) { return c.question.assumptions.min_tokens == 128; }},
      {"scan.from", "1e25", [](C c) { return c.question.scan.from == 1e25; }},
      {"scan.to", "1e30", [](C c) { return c.question.scan.to == 1e30; }},
      {"scan.points", "3", [](C c) { return c.question.scan.points == 3; }},
      {"scan.limit_from", "1e26", [](C c) { return c.question.scan.limit_from == 1e26; }},
      {"scan.closed_form_stages", "8", [](C c) { return c.question.scan.closed_form_stages == 8; }},
  };
}

/// What loading with these overrides says; "" when it is accepted.
std::string refusal(const std::vector<std::string>& overrides) {
  try {
    static_cast<void>(load_limits_preset("h100", overrides));
  } catch (const ScenarioError& e) {
    return e.what();
  }
  return "";
}

TEST(LimitsConfig, EveryKeyHasACaseAndSetsItsField) {
  std::set<std::string> covered;
  for (const KeyCase& c : cases()) {
    covered.insert(c.key);
    std::vector<std::string> overrides{std::string{c.key} + "=" + c.value};
    if (std::string{c.key} == "active_experts") overrides.push_back("experts=4");
    EXPECT_FALSE(c.holds(load_limits_preset("h100"))) << c.key;
    EXPECT_TRUE(c.holds(load_limits_preset("h100", overrides))) << c.key;
  }
  LimitsConfig defaults;
  Describer describer;
  fields(describer, defaults);
  for (const KeyInfo& key : describer.keys()) {
    EXPECT_TRUE(key.path.starts_with("gpu") || covered.contains(key.path)) << key.path;
  }
}

TEST(LimitsConfig, WordsThatAreRulesAndNumbersAreBothRead) {
  EXPECT_EQ(load_limits_preset("h100", {"latency_factor=direct"}).question.assumptions.latency, LatencyKind::direct);
  const auto four = load_limits_preset("h100", {"all_reduce_words=in_switch", "all_reduce_words=4"}).question.assumptions;
  EXPECT_EQ(four.all_reduce, AllReduceKind::factor);
  EXPECT_EQ(four.all_reduce_words, 4);
  EXPECT_EQ(load_limits_preset("h100", {"interleave=maximal"}).question.assumptions.interleave, 0);
}

// The table of GPUs of arXiv 2411.01137; bandwidths with both directions added.
TEST(LimitsConfig, PresetsAreThePapers) {
  const auto h100 = load_limits_preset("h100").question.gpu;
  EXPECT_EQ(h100.name, "H100");
  EXPECT_EQ(h100.peak_flop_per_s(), 4096.0 * 132 * 1830e6);
  ASSERT_EQ(h100.levels.size(), 2U);
  EXPECT_EQ(h100.levels[0].bytes_per_s, 9e11);
  EXPECT_EQ(h100.levels[1].bytes_per_s, 1e11);
  EXPECT_EQ(h100.levels[0].latency_s, 5e-6);
  EXPECT_EQ(h100.levels[0].fan_out, 8);
  EXPECT_EQ(load_limits_preset("v100").question.gpu.levels[1].bytes_per_s, 1.25e10);
  EXPECT_EQ(load_limits_preset("gtx580").question.gpu.matmul.word_bytes, 4);
}

TEST(LimitsConfig, VariantsChangeWhatTheySay) {
  const auto h100 = load_limits_preset("h100").question.gpu;
  const auto superpod = load_limits_preset("h100_superpod").question.gpu;
  EXPECT_EQ(superpod.levels[0].fan_out, 256);
  EXPECT_EQ(superpod.matmul.sms, h100.matmul.sms);
  const auto zl = load_limits_preset("h100_zl").question.gpu;
  EXPECT_EQ(zl.matmul.matmul_latency_s, 0);
  EXPECT_EQ(zl.levels[0].latency_s + zl.levels[1].latency_s, 0);
  const auto infinite = load_limits_preset("h100_infinite_network").question.gpu;
  ASSERT_EQ(infinite.levels.size(), 1U);
  EXPECT_TRUE(std::isinf(infinite.levels[0].bytes_per_s));
  EXPECT_EQ(infinite.matmul.matmul_latency_s, 4.5e-6);
  const auto many = load_limits_preset("h100_singleton256").question.gpu;
  EXPECT_EQ(many.peak_flop_per_s(), 256 * h100.peak_flop_per_s());
  EXPECT_EQ(many.levels[0].bytes_per_s, 1.28e13);
  EXPECT_EQ(many.matmul.memory_bandwidth.bytes_per_s(), 256 * h100.matmul.memory_bandwidth.bytes_per_s());
  EXPECT_EQ(many.matmul.l2_size, h100.matmul.l2_size);
  const auto fast = load_limits_preset("h100_net100_lat10").question.gpu;
  EXPECT_EQ(fast.levels[1].bytes_per_s, 100 * h100.levels[1].bytes_per_s);
  EXPECT_DOUBLE_EQ(fast.levels[1].latency_s, h100.levels[1].latency_s / 10);
}

TEST(LimitsConfig, AnOverrideReachesIntoThePresetsNetwork) {
  const auto gpu = load_limits_preset("h100", {"gpu.network[1].bandwidth=100 GB/s", "gpu.matmul.latency=0"}).question.gpu;
  EXPECT_EQ(gpu.levels[1].bytes_per_s, 2e11);
  EXPECT_EQ(gpu.levels[0].bytes_per_s, 9e11);
  EXPECT_EQ(gpu.matmul.matmul_latency_s, 0);
  EXPECT_EQ(load_limits_preset("h100_zl", {"gpu.network[0].latency=2 us"}).question.gpu.levels[0].latency_s, 2e-6);
}

TEST(LimitsConfig, ErrorsNamePlaceKeyAndRemedy) {
  EXPECT_EQ(refusal({"duraton=3 d"}), "--set duraton=3 d: unknown key 'duraton'; did you mean 'duration'?");
  EXPECT_THAT(refusal({"duration=91"}), HasSubstr("duration: expected a time in days such as 91.25 d, found '91'"));
  EXPECT_THAT(refusal({"experts=2", "active_experts=4"}), HasSubstr("active_experts: 4 active of 2 experts"));
  EXPECT_THAT(refusal({"gpu.network[0].group=6"}), HasSubstr("a power of two"));
  EXPECT_THAT(refusal({"gpu.network[2].latency=0"}), HasSubstr("'network[2]' is not in the file"));
  EXPECT_THAT(refusal({"scan.from=1e33"}), HasSubstr("before it starts"));
  EXPECT_THAT(refusal({"all_reduce_words=0"}), HasSubstr("all_reduce_words"));
  EXPECT_THROW(static_cast<void>(load_limits_preset("h10")), ScenarioError);
}

TEST(LimitsConfig, TheEffectiveQuestionReadsBack) {
  const LimitsConfig config = load_limits_preset("h100_infinite_network", {"latency_factor=ring", "duration=30 d"});
  const std::string yaml = effective_yaml(config);
  EXPECT_THAT(yaml, HasSubstr("bandwidth: unlimited"));
  EXPECT_THAT(yaml, HasSubstr("duration: 30 d"));
  EXPECT_THAT(yaml, HasSubstr("arXiv:2411.01137"));
}

TEST(LimitsConfig, TheListOfKeysSaysWhoseEachAssumptionIs) {
  LimitsConfig defaults;
  Describer describer;
  fields(describer, defaults);
  for (const KeyInfo& key : describer.keys()) {
    if (key.path == "name" || key.path.starts_with("gpu") || key.path.starts_with("scan")) continue;
    EXPECT_TRUE(key.doc.find("[paper") != std::string::npos || key.doc.ends_with("[ours]")) << key.path;
  }
  EXPECT_THAT(describe_limits_schema(), HasSubstr("[91.25 d]"));
}

// Each within a fifth of what is published, or on its side of it.
TEST(PublishedLimits, AreReproduced) {
  const std::vector<PublishedLimit> results = published_limits();
  EXPECT_EQ(results.size(), 9U);
  for (const PublishedLimit& p : results) {
    EXPECT_FALSE(p.source.empty()) << p.claim;
    EXPECT_LE(p.ratio(), 1.25) << p.claim;
    EXPECT_GE(p.ratio(), p.relation == LimitRelation::about ? 0.75 : 0.01) << p.claim;
  }
}

}  // namespace
}  // namespace traingraph::scenarios
