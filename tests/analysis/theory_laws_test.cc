// What must hold of the closed-form model whatever its numbers, and the results that the paper publishes.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "analysis/theory/breakdown.h"
#include "analysis/theory/latency_wall.h"
#include "analysis/theory/sensitivity.h"
#include "tests/analysis/theory_support.h"

namespace traingraph::analysis::theory {
namespace {

using test::question;
using test::search_for;

double best_relative(const std::string& gpu, double compute, const std::vector<std::string>& overrides = {}) {
  const auto found = search_for(gpu, overrides).best(compute);
  return found ? found->times.relative : 0;
}

ClosedForms forms_of(const std::string& gpu, const std::vector<std::string>& overrides = {}) {
  const LimitsQuestion q = question(gpu, overrides);
  return closed_forms(q.gpu, q.assumptions, q.scan.closed_form_stages);
}

// Faster links, shorter latencies, more time, less traffic: the best layout cannot get worse, since the old one is still
// there and not slower.
TEST(TheoryLaws, BetterHardwareNeverHurts) {
  const std::vector<std::vector<std::string>> better{{"gpu.network[1].bandwidth=100 GB/s"},
                                                     {"gpu.network[0].bandwidth=900 GB/s"},
                                                     {"gpu.network[1].latency=1 us", "gpu.network[0].latency=1 us"},
                                                     {"gpu.matmul.latency=1 us"},
                                                     {"gpu.matmul.memory_bandwidth=8 TB/s"},
                                                     {"all_reduce_words=2"},
                                                     {"pipeline_traffic=false"}};
  for (const double compute : {1e26, 3e28, 1e30}) {
    const double base = best_relative("h100", compute);
    for (const auto& overrides : better) EXPECT_GE(best_relative("h100", compute, overrides), base) << overrides.front();
  }
}

TEST(TheoryLaws, WorseAssumptionsNeverHelp) {
  const std::vector<std::string> worse{"overlap=false",
                                       "defer_weight_gradients=false",
                                       "two_dimensional_tp=false",
                                       "all_reduce_words=4",
                                       "memory_limit=true",
                                       "min_tokens=4096",
                                       "all_weights_resident=true"};
  for (const double compute : {1e26, 3e28, 1e30}) {
    const double base = best_relative("h100", compute);
    for (const std::string& change : worse) EXPECT_LE(best_relative("h100", compute, {change}), base) << change;
  }
}

// A network that costs nothing leaves arithmetic, memory and bubbles: no time is lost to traffic, and without any latency
// nothing bounds the compute.
TEST(TheoryLaws, AFreeNetworkCostsNothing) {
  const LayoutSearch search = search_for("h100_infinite_network_zl");
  for (const double compute : {1e26, 1e29, 1e32}) {
    const auto found = search.best(compute);
    ASSERT_TRUE(found.has_value());
    const Breakdown b = breakdown(found->times, search.model());
    EXPECT_EQ(b.network[0], 0.0);
    EXPECT_EQ(b.tail, 0.0);
    EXPECT_GE(found->times.relative, 0.8);
  }
  EXPECT_EQ(latency_wall(search), INFINITY);
  EXPECT_EQ(forms_of("h100_infinite_network_zl").wall_log10, INFINITY);
  EXPECT_EQ(*forms_of("h100_infinite_network_zl").bandwidth_log10, INFINITY);
}

TEST(TheoryLaws, TheBreakdownAddsUpToTheStep) {
  for (const std::vector<std::string>& overrides : {std::vector<std::string>{}, {"overlap=false"}}) {
    for (const char* gpu : {"v100", "h100", "h100_global_nvlink", "gtx580"}) {
      const LayoutSearch search = search_for(gpu, overrides);
      for (const double compute : {1e25, 1e27, 1e29, 1e30}) {
        const auto found = search.best(compute);
        if (!found) continue;
        const Breakdown b = breakdown(found->times, search.model());
        double sum = b.arithmetic + b.kernels + b.latency + b.bubble + b.tail;
        for (const double share : b.network) {
          EXPECT_GE(share, 0.0);
          sum += share;
        }
        EXPECT_NEAR(sum, 1, 1e-12);
        EXPECT_GE(b.kernels, 0.0);
        EXPECT_GE(b.latency, -1e-12);
        EXPECT_NEAR(b.arithmetic, found->times.relative, 1e-12);
      }
    }
  }
}

// Below the limit arithmetic binds; at the wall it is latency.
TEST(TheoryLaws, WhatBindsIsNamed) {
  const LayoutSearch search = search_for("h100");
  EXPECT_EQ(to_string(binds(search.best(1e26)->times, search.model())), "arithmetic");
  EXPECT_EQ(to_string(binds(search.best(1.57e31)->times, search.model())), "latency");
  const LayoutSearch slow = search_for("h100", {"gpu.network[1].bandwidth=1 GB/s"});
  EXPECT_EQ(to_string(binds(slow.best(1e28)->times, slow.model())), "network 1");
}

// arXiv 2411.01137: utilization falls from about 2e28 FLOP on, nothing larger than about 2e31 FLOP can be trained in three
// months, and better interconnects move the former by no more than two orders of magnitude.
TEST(TheoryLaws, ThePublishedLimitsComeOut) {
  const double limit = *linear_scaling_limit(search_for("h100"), 27).first;
  EXPECT_NEAR(limit, std::log10(2e28), 0.1);
  EXPECT_NEAR(latency_wall(search_for("h100")), std::log10(2e31), 0.15);
  const double better = *linear_scaling_limit(search_for("h100_infinite_network"), 27).first;
  EXPECT_GT(better - limit, 1);
  EXPECT_LT(better - limit, 2);
}

// Batches that grow as C^(1/3): limit 1.4e30, wall 2e34.
TEST(TheoryLaws, LargerBatchesBuyMore) {
  const LayoutSearch search = search_for("h100", {"batch_exponent=0.3333333333333333"});
  EXPECT_NEAR(*linear_scaling_limit(search, 27).first, std::log10(1.4e30), 0.05);
  EXPECT_NEAR(latency_wall(search), std::log10(2e34), 0.05);
}

// The interactive simulator's example: 16 million GTX 580 of 2012 as 1024 x 32 x 512, about 1e26 FLOP.
TEST(TheoryLaws, Gtx580OfTwentyTwelveIsTheAuthorsExample) {
  const LayoutSearch search = search_for("gtx580");
  const auto found = search.best(1e26);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->layout.gpus_exponent(), 24);
  EXPECT_EQ(found->layout.degree(kData), 1024);
  EXPECT_EQ(found->layout.degree(kPipeline), 32);
  EXPECT_EQ(found->layout.degree(kTensorHidden) * found->layout.degree(kTensorModel), 512);
  EXPECT_NEAR(std::pow(10, *linear_scaling_limit(search, 25).first), 1.2e26, 0.05e26);
}

// Closed form of the wall: tau0 = 18 us of products and 10 us of all-reduces each way, 38 us.
TEST(TheoryLaws, TheClosedFormOfTheWallIsTheSearchs) {
  const ClosedForms h100 = forms_of("h100");
  EXPECT_NEAR(h100.block_latency_s, 38e-6, 1e-12);
  EXPECT_NEAR(h100.wall_log10, std::log10(1.578e31), 1e-3);
  EXPECT_NEAR(h100.latency_limit_log10, std::log10(0.04) + h100.wall_log10, 1e-12);
  for (const char* gpu : {"v100", "a100", "h100", "h100_superpod", "h100_net100_lat10"}) {
    const double form = forms_of(gpu).wall_log10;
    EXPECT_NEAR(latency_wall(search_for(gpu)), form, 0.01) << gpu;
    EXPECT_LE(latency_wall(search_for(gpu)), form) << gpu;  // products take more than their latency
  }
}

TEST(TheoryLaws, WithoutGrowingDepthAgainstBatchThereIsNoWall) {
  EXPECT_EQ(forms_of("h100", {"batch_exponent=0.7"}).wall_log10, INFINITY);
}

TEST(TheoryLaws, TheClosedFormOfTheBandwidthLimitIsNearTheSearchs) {
  const ClosedForms h100 = forms_of("h100");
  EXPECT_NEAR(h100.words_per_cube_edge, 6926, 1);
  EXPECT_NEAR(*h100.bandwidth_log10, std::log10(2.16e28), 2e-3);
  EXPECT_NEAR(*linear_scaling_limit(search_for("h100"), 27).first, *h100.bandwidth_log10, 0.05);
  EXPECT_FALSE(forms_of("h100", {"experts=8"}).bandwidth_log10.has_value());
}

// C_wall ~ (T/tau0)^2 at beta = lambda: doubling the duration quadruples it, doubling kappa halves it.
TEST(TheoryLaws, TheWallsSensitivitiesAreThoseOfItsFormula) {
  LimitsQuestion q = question("h100");
  q.scan.limit_from = 3e27;
  q.scan.points = 1;
  std::map<std::string, InputSensitivity> by_input;
  for (const InputSensitivity& s : limits_sensitivity(limits(q))) by_input[s.input] = s;
  EXPECT_NEAR(by_input.at("duration").wall->slope, 2, 0.02);
  EXPECT_NEAR(by_input.at("reference_batch").wall->slope, 2, 0.02);
  EXPECT_NEAR(by_input.at("tokens_per_param").wall->slope, -1, 0.02);
  EXPECT_NEAR(by_input.at("gpu.network[0].bandwidth").wall->slope, 0, 0.01);
  EXPECT_GT(by_input.at("gpu.network[1].bandwidth").linear->slope, 0.3);
}

// Half the word at twice the rate and the same traffic in words: half the bytes, so the network keeps up.
TEST(TheoryLaws, ShorterWordsComputeFaster) {
  const Gpu gpu = question("h100").gpu;
  const Gpu fp8 = with_word_bits(gpu, 8);
  EXPECT_EQ(fp8.peak_flop_per_s(), 2 * gpu.peak_flop_per_s());
  EXPECT_EQ(fp8.matmul.word_bytes, 1.0);
  EXPECT_EQ(with_word_bits(gpu, 0).peak_flop_per_s(), gpu.peak_flop_per_s());
}

TEST(TheoryLaws, RecordsThatCannotBeAreRefused) {
  Gpu gpu = question("h100").gpu;
  EXPECT_EQ(fault_of(gpu), "");
  gpu.levels[0].fan_out = 6;
  EXPECT_EQ(fault_of(gpu), "found 6 members in a group of level 0, allowed: a power of two");
  gpu.levels.clear();
  EXPECT_EQ(fault_of(gpu), "found 0 network levels, allowed: 1 to 4");
}

}  // namespace
}  // namespace traingraph::analysis::theory
