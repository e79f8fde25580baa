// Programs that cannot finish: the error names what is blocked and what each waits for.
#include <gtest/gtest.h>

#include <string>

#include "sim/error.h"
#include "tests/sim/play.h"
#include "tests/sim/program_builder.h"
#include "tests/sim/sources.h"
#include "tests/sim/switch_fabric.h"

namespace traingraph::sim::tests {
namespace {

class Stuck : public ::testing::Test {
 protected:
  std::string error() {
    try {
      static_cast<void>(simulate(fabric.links, fabric.router, b.build(), options));
    } catch (const InputError& e) {
      return e.what();
    }
    return "no error";
  }
  /// The text behind "deadlock at <when>: ".
  std::string deadlock() {
    const std::string text = error();
    return text.starts_with("deadlock at ") ? text.substr(text.find(": ") + 2) : text;
  }
  void all_call(std::uint32_t kind) {
    for (const RankId r : {x, y, z}) b.call(r, world, kind, {.label = "sync"});
  }
  RunOptions options;
  SwitchFabric fabric{3, Bandwidth::bytes_per_s(1e9)};
  ProgramBuilder b;
  RankId x = b.rank(0), y = b.rank(1), z = b.rank(2);
  CommunicatorId world = b.communicator({x, y, z}, "dp[0]");
  std::uint32_t all_reduce = b.collective("all-reduce", Bytes{3000}, ring_all_reduce(Bytes{3000}));
  std::uint32_t all_to_all = b.collective("all-to-all", Bytes{6000}, direct_all_to_all(Bytes{6000}));
};

TEST_F(Stuck, AReceiveWithoutASend) {
  const ChannelId c = b.channel(x, y);
  b.compute(y, 2_us);
  b.receive(y, c, {.label = "recv_forward"});
  b.compute(x, 1_us);
  EXPECT_EQ(error(),
            "deadlock at 2e-06 s: 1 operation can never start or end; the first:\n"
            "  rank 1 (role 1): 'recv_forward' (step 1) waits for a message from rank 0");
}

TEST_F(Stuck, TwoRanksThatReceiveBeforeTheySend) {
  const ChannelId there = b.channel(x, y), back = b.channel(y, x);
  b.receive(x, back);
  b.send(x, there, Bytes{1});
  b.receive(y, there);
  b.send(y, back, Bytes{1});
  EXPECT_EQ(deadlock(),
            "2 operations can never start or end; the first:\n"
            "  rank 0 (role 0): 'receive' (step 1) waits for a message from rank 1\n"
            "  rank 1 (role 1): 'receive' (step 1) waits for a message from rank 0");
}

TEST_F(Stuck, ACycleOfOperationsThatTakeNoTime) {
  // Stream 1's first operation waits for stream 0's first, which waits for it. Built by hand: the builder can't name what
  // comes later.
  b.compute(x, Duration{}, {.label = "chicken"});
  b.compute(x, Duration{}, {.label = "egg", .stream = 1, .after = {Dependency{0, 0}}});
  Program p = b.build();
  Template& role = p.templates[TemplateId{0}];
  role.ops[0].first_dependency = static_cast<std::uint32_t>(role.dependencies.size());
  role.ops[0].dependencies = 1;
  role.dependencies.push_back({1, 0});
  try {
    static_cast<void>(simulate(fabric.links, fabric.router, p, {}));
    FAIL() << "no error";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(),
                 "deadlock at 0 s: 2 operations can never start or end; the first:\n"
                 "  rank 0 (role 0): 'chicken' (step 1) waits for its own 'egg' on stream 1\n"
                 "  rank 0 (role 0): 'egg' (step 1) waits for its own 'chicken' on stream 0");
  }
}

TEST_F(Stuck, ALinkThatStaysDown) {
  const ChannelId c = b.channel(x, y);
  b.send(x, c, Bytes{4000});
  b.change_link(1_us, 0, Bandwidth{});
  EXPECT_EQ(deadlock(),
            "1 operation can never start or end; the first:\n"
            "  rank 0 (role 0): 'send' (step 1) waits for its transfer, which has no rate (a link on its path is down)");
}

TEST_F(Stuck, ACollectiveOverALinkThatStaysDown) {
  all_call(all_reduce);
  b.change_link(500_ns, 0, Bandwidth{});
  const std::string text = error();
  EXPECT_NE(
      text.find("rank 0 (role 0): 'sync' (step 1) waits for its transfers, some of which have no rate (a link is down)"),
      std::string::npos)
      << text;
}

TEST_F(Stuck, AMemberThatNeverArrivesIsNamed) {
  // z calls once, the others twice.
  all_call(all_reduce);
  for (const RankId r : {x, y}) b.call(r, world, all_reduce);
  EXPECT_EQ(
      error(),
      "collective 'all-reduce' on communicator 'dp[0]' (call number 2) never completes: ranks 0, 1 entered, rank 2 never "
      "arrives");
}

TEST_F(Stuck, AMemberThatIsHeldElsewhereIsNamedWithWhatItWaitsFor) {
  const ChannelId c = b.channel(x, z);
  b.call(x, world, all_reduce, {.label = "sync"});
  b.call(y, world, all_reduce, {.label = "sync"});
  b.receive(z, c, {.label = "recv"});
  b.call(z, world, all_reduce, {.label = "sync"});
  EXPECT_EQ(deadlock(),
            "3 operations can never start or end; the first:\n"
            "  rank 0 (role 0): 'sync' (step 1) waits for rank 2 to enter 'all-reduce' on 'dp[0]'\n"
            "  rank 1 (role 1): 'sync' (step 1) waits for rank 2 to enter 'all-reduce' on 'dp[0]'\n"
            "  rank 2 (role 2): 'recv' (step 1) waits for a message from rank 0");
}

TEST_F(Stuck, EachOfTwoCallsOfOneRankIsExplainedByItsOwn) {
  // Two calls of the same communicator on two streams; the first lacks z, which waits in vain. The second, to which only y
  // has come so far, lacks x and z: x's second call stands behind its first.
  const ChannelId c = b.channel(x, z);
  b.call(x, world, all_reduce, {.label = "first"});
  b.call(x, world, all_reduce, {.label = "second"});
  b.call(y, world, all_reduce, {.label = "first"});
  b.call(y, world, all_reduce, {.label = "second", .stream = 1});
  b.receive(z, c, {.label = "recv"});
  b.call(z, world, all_reduce);
  b.call(z, world, all_reduce);
  EXPECT_EQ(deadlock(),
            "4 operations can never start or end; the first:\n"
            "  rank 0 (role 0): 'first' (step 1) waits for rank 2 to enter 'all-reduce' on 'dp[0]'\n"
            "  rank 1 (role 1): 'first' (step 1) waits for rank 2 to enter 'all-reduce' on 'dp[0]'\n"
            "  rank 1 (role 1): 'second' (step 1) waits for ranks 0, 2 to enter 'all-reduce' on 'dp[0]'\n"
            "  rank 2 (role 2): 'recv' (step 1) waits for a message from rank 0");
}

TEST_F(Stuck, MembersThatCallDifferentThings) {
  b.call(x, world, all_reduce);
  b.compute(y, 1_us);
  b.call(y, world, all_to_all);
  EXPECT_EQ(error(),
            "collective mismatch on communicator 'dp[0]': in its call number 1 rank 1 calls all-to-all of 6000 B, while "
            "others call "
            "all-reduce of 3000 B; members of a communicator must call the same collectives in the same order");
}

TEST_F(Stuck, NoPathIsTheRoutersError) {
  TableRouter nowhere;
  const ChannelId c = b.channel(x, y);
  b.send(x, c, Bytes{1});
  EXPECT_THROW(static_cast<void>(simulate(fabric.links, nowhere, b.build(), {})), InputError);
}

TEST_F(Stuck, ALongListIsCut) {
  ProgramBuilder many;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const RankId r = many.rank(i);
    many.receive(r, many.channel(r, r));
  }
  try {
    static_cast<void>(simulate({}, TableRouter{}, many.build(), {}));
    FAIL() << "no error";
  } catch (const InputError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("20 operations"), std::string::npos);
    EXPECT_NE(text.find("rank 7 "), std::string::npos);
    EXPECT_EQ(text.find("rank 8 "), std::string::npos);
    EXPECT_NE(text.find("and 12 more"), std::string::npos);
  }
}

}  // namespace
}  // namespace traingraph::sim::tests
