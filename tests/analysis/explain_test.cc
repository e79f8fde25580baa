#include "analysis/explain.h"

#include <gtest/gtest.h>

#include "tests/analysis/support.h"

namespace traingraph::analysis {
namespace {

std::string compacted(const std::vector<std::uint32_t>& numbers) {
  std::vector<sim::RankId> ranks;
  for (const std::uint32_t n : numbers) ranks.push_back(sim::RankId{n});
  return compact(ranks);
}

TEST(Explain, GroupsArePrintedAsRunsOfConstantStride) {
  EXPECT_EQ(compacted({}), "");
  EXPECT_EQ(compacted({7}), "7");
  EXPECT_EQ(compacted({0, 1, 2, 3}), "0-3");
  EXPECT_EQ(compacted({0, 8, 16, 24}), "0-24 step 8");
  EXPECT_EQ(compacted({3, 2, 1, 0}), "3-0 step -1");
  EXPECT_EQ(compacted({0, 1, 8, 9}), "0-1, 8-9");
  EXPECT_EQ(compacted({5, 9}), "5, 9");
  std::vector<std::uint32_t> large;
  for (std::uint32_t i = 0; i < 1024; ++i) large.push_back(16 * i);
  EXPECT_EQ(compacted(large), "0-16368 step 16");
}

TEST(Explain, ACommunicatorHasItsMembersCallsAndAlgorithm) {
  const auto w = testing::collective_workload(8, {.bytes = sim::Bytes{1e6}, .calls = 3});
  const Explanation e = explain(w.program);
  ASSERT_EQ(e.groups.size(), 1U);
  EXPECT_EQ(e.groups[0].size, 8U);
  ASSERT_EQ(e.groups[0].calls.size(), 1U);
  EXPECT_EQ(e.groups[0].calls[0].collective, "all_reduce");
  EXPECT_EQ(e.groups[0].calls[0].algorithm, "ring");
  EXPECT_EQ(e.groups[0].calls[0].calls_per_step, 3U);
  EXPECT_EQ(to_text(e), "1 communicator of 8 ranks\n  calls per step: 3 x all_reduce (ring) of 1 MB\n  all[0]: 0-7\n");
}

TEST(Explain, MessagesAreSummedByPairOfRoles) {
  const sim::Duration ms = sim::Duration::ms(1);
  const auto w = testing::pipeline({.microbatches = 5, .forward = {ms, ms}, .backward = {ms, ms}, .bytes = sim::Bytes{1e6}});
  const Explanation e = explain(w.program);
  ASSERT_EQ(e.messages.size(), 2U);
  EXPECT_EQ(e.messages[0].from, "stage 0");
  EXPECT_EQ(e.messages[0].to, "stage 1");
  EXPECT_EQ(e.messages[0].messages_per_step, 5U);
  EXPECT_DOUBLE_EQ(e.messages[0].bytes_per_step, 5e6);
  EXPECT_EQ(to_text(e),
            "stage 0 -> stage 1: 1 channel, 5 messages and 5 MB per step\n"
            "stage 1 -> stage 0: 1 channel, 5 messages and 5 MB per step\n");
}

}  // namespace
}  // namespace traingraph::analysis
