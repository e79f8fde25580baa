// Programs that a user writes: single collectives and task lists.
#include <gtest/gtest.h>

#include "workload_cases.h"

namespace traingraph::workloads {
namespace {

using sim::Bytes;
using sim::Duration;
using test::error_of;
using test::StarRouter;

WorkloadSpec single(CollectiveRunSpec c) {
  WorkloadSpec w;
  w.job = std::move(c);
  w.steps = 1;
  return w;
}

Duration time_on_star(const Workload& w, std::uint32_t gpus, Duration latency = {}) {
  const StarRouter star{gpus, 1e9, latency};
  return sim::simulate(star.links(), star, w.program, {}).step_time();
}

// Ring all-reduce of 8 MB on 8 GPUs at 1 GB/s: 2·7/8·8 ms = 14 ms, three of them 42 ms.
TEST(CollectiveRun, IterationsFollowEachOther) {
  CollectiveRunSpec c;
  c.bytes = Bytes{8e6};
  EXPECT_EQ(time_on_star(build(single(c), {}, regular_cluster(8, 8)), 8), Duration::ms(14));
  c.iterations = 3;
  EXPECT_EQ(time_on_star(build(single(c), {}, regular_cluster(8, 8)), 8), Duration::ms(42));
}

// nccl-tests: algbw = S/t of a call, busbw = algbw 2(N-1)/N for an all-reduce. Without latency a ring keeps every link busy:
// 1 GB/s.
TEST(CollectiveRun, ItsBandwidthIsAsNcclTestsCounts) {
  CollectiveRunSpec c;
  c.bytes = Bytes{8e6};
  c.iterations = 3;
  const Workload w = build(single(c), {}, regular_cluster(8, 8));
  EXPECT_EQ(w.collective_bytes.count(), 24e6);
  EXPECT_EQ(w.bus_bandwidth_factor, 14.0 / 8);
  EXPECT_DOUBLE_EQ(w.collective_bytes.count() / time_on_star(w, 8).in_seconds() * w.bus_bandwidth_factor, 1e9);
}

TEST(CollectiveRun, ItsDescriptionIsASentence) {
  CollectiveRunSpec c;
  c.bytes = Bytes{1073741824};
  EXPECT_EQ(build(single(c), {}, regular_cluster(8, 8)).description,
            "all_reduce (ring) of 1,073,741,824 bytes on 8 GPUs, 1 iteration");
  c.iterations = 20;
  c.ranks = 1;
  EXPECT_EQ(build(single(c), {}, regular_cluster(8, 8)).description,
            "all_reduce (ring) of 1,073,741,824 bytes on 1 GPU, 20 iterations");
}

// A member that is 5 ms late delays an in-place ring by at most that, and at least so that it can still do its own part.
TEST(CollectiveRun, ALateMemberDelaysTheEnd) {
  CollectiveRunSpec c;
  c.bytes = Bytes{8e6};
  c.late_entry.assign(8, Duration{});
  c.late_entry[3] = Duration::ms(5);
  const Duration time = time_on_star(build(single(c), {}, regular_cluster(8, 8)), 8);
  EXPECT_EQ(time, Duration::ms(19));
}

TEST(CollectiveRun, FewerRanksThanGpus) {
  CollectiveRunSpec c;
  c.bytes = Bytes{4e6};
  c.ranks = 4;
  const Workload w = build(single(c), {}, regular_cluster(8, 8));
  EXPECT_EQ(w.program.ranks.size(), 4U);
  EXPECT_EQ(time_on_star(w, 8), Duration::ms(6));  // 2·3/4·4
  c.ranks = 9;
  EXPECT_EQ(error_of([&] { return build(single(c), {}, regular_cluster(8, 8)); }),
            "the job has 9 ranks, but the fabric has 8 GPUs");
  c.ranks = 4;
  c.late_entry.assign(3, Duration{});
  EXPECT_EQ(error_of([&] { return build(single(c), {}, regular_cluster(8, 8)); }),
            "late_entry lists 3 ranks, but 4 take part");
}

// Hierarchical over 2 domains of 4: the domain size comes from the fabric.
TEST(CollectiveRun, HierarchicalTakesItsDomainsFromTheFabric) {
  CollectiveRunSpec c;
  c.bytes = Bytes{8e6};
  c.algorithm = Algorithm::hierarchical;
  // RS 3/4·8 = 6 ms, ring over 2 of 2 MB: 2·1/2·2 = 2 ms, AG 6 ms.
  EXPECT_EQ(time_on_star(build(single(c), {}, regular_cluster(8, 4)), 8), Duration::ms(14));
}

CustomTask compute(std::string id, std::uint32_t rank, Duration d, std::vector<std::string> after = {}) {
  CustomTask t;
  t.id = std::move(id);
  t.rank = rank;
  t.duration = d;
  t.after = std::move(after);
  return t;
}

CustomTask message(std::string id, TaskKind kind, std::uint32_t rank, std::uint32_t peer, double bytes,
                   std::vector<std::string> after = {}) {
  CustomTask t;
  t.id = std::move(id);
  t.kind = kind;
  t.rank = rank;
  t.peer = peer;
  t.bytes = Bytes{bytes};
  t.stream = 1;
  t.after = std::move(after);
  return t;
}

Workload build_custom(const CustomProgramSpec& c, std::uint32_t gpus) {
  WorkloadSpec w;
  w.job = c;
  w.steps = 1;
  return build(w, {}, regular_cluster(gpus, gpus));
}

// Rank 0 computes 2 ms, sends 3 MB at 1 GB/s; rank 1 waits, then computes 4 ms: 9 ms. Rank 2's 1 ms changes nothing.
TEST(CustomProgram, TasksWaitForWhatTheyName) {
  CustomProgramSpec c;
  c.tasks = {compute("a", 0, Duration::ms(2)), message("out", TaskKind::send, 0, 1, 3e6, {"a"}),
             message("in", TaskKind::receive, 1, 0, 0), compute("b", 1, Duration::ms(4), {"in"}),
             compute("c", 2, Duration::ms(1))};
  EXPECT_EQ(time_on_star(build_custom(c, 3), 3), Duration::ms(9));
}

// A collective is one task of every member; each waits for its own tasks of `after` only.
TEST(CustomProgram, ACollectiveIsPlayedByItsGroup) {
  CustomProgramSpec c;
  c.groups = {{"pair", {2, 0}}};
  CustomTask all;
  all.id = "sum";
  all.kind = TaskKind::collective;
  all.group = "pair";
  all.bytes = Bytes{2e6};
  all.after = {"a", "b"};
  c.tasks = {compute("a", 0, Duration::ms(2)), compute("b", 2, Duration::ms(3)), all};
  const Workload w = build_custom(c, 3);
  EXPECT_EQ(w.program.communicators.raw()[0].members, (std::vector<sim::RankId>{sim::RankId{2}, sim::RankId{0}}));
  EXPECT_EQ(time_on_star(w, 3), Duration::ms(5));  // 3 + 2·1/2·2
}

// A rank that a collective task excepts makes the same call by a task of its own: on another stream, after other work.
// Rank 2 computes 5 ms while its call waits for 1 ms on stream 1; rank 0 calls at 0: 1 + 2·1/2·2 = 3 ms, all over at 5 ms.
TEST(CustomProgram, AnExceptedRankMayCallByAnotherTask) {
  CustomProgramSpec c;
  c.groups = {{"pair", {0, 2}}};
  CustomTask call;
  call.kind = TaskKind::collective;
  call.group = "pair";
  call.bytes = Bytes{2e6};
  CustomTask of_zero = call;
  of_zero.id = "sum of 0";
  of_zero.except = {2};
  CustomTask of_two = call;
  of_two.id = "sum of 2";
  of_two.except = {0};
  of_two.stream = 1;
  of_two.after = {"late"};
  CustomTask late = compute("late", 2, Duration::ms(1));
  late.stream = 2;
  c.tasks = {of_zero, late, of_two, compute("long", 2, Duration::ms(5)), compute("next", 0, Duration::ms(1), {"sum of 0"})};
  const Workload w = build_custom(c, 3);
  EXPECT_EQ(time_on_star(w, 3), Duration::ms(5));
  c.tasks.back().duration = Duration::ms(4);
  EXPECT_EQ(time_on_star(build_custom(c, 3), 3), Duration::ms(7));  // 3 + 4
}

TEST(CustomProgram, AMemberThatNeverCallsEndsTheRunWithItsName) {
  CustomProgramSpec c;
  c.groups = {{"all", {0, 1, 2}}};
  CustomTask sum;
  sum.id = "sum";
  sum.kind = TaskKind::collective;
  sum.group = "all";
  sum.bytes = Bytes{3e6};
  sum.except = {1};
  c.tasks = {sum, compute("other", 1, Duration::ms(1))};
  const std::string error = error_of([&] { return time_on_star(build_custom(c, 3), 3); });
  EXPECT_EQ(
      error,
      "collective 'all_reduce' on communicator 'all' (call number 1) never completes: ranks 0, 2 entered, rank 1 never "
      "arrives");
}

// Two tasks that wait for each other on two streams: the engine ends the run and names them.
TEST(CustomProgram, ACycleIsADeadlockThatNamesTheTasks) {
  CustomProgramSpec c;
  CustomTask second = compute("second", 0, Duration::ms(1), {"first"});
  second.stream = 1;
  c.tasks = {compute("first", 0, Duration::ms(1), {"second"}), second};
  const Workload w = build_custom(c, 1);
  const std::string error = error_of([&] { return time_on_star(w, 1); });
  EXPECT_NE(error.find("first"), std::string::npos) << error;
  EXPECT_NE(error.find("second"), std::string::npos) << error;
}

TEST(CustomProgram, AReceiveWithoutASendIsADeadlock) {
  CustomProgramSpec c;
  c.tasks = {message("lost", TaskKind::receive, 1, 0, 0), compute("a", 0, Duration::ms(1))};
  const std::string error = error_of([&] { return time_on_star(build_custom(c, 2), 2); });
  EXPECT_NE(error.find("lost"), std::string::npos) << error;
}

TEST(CustomProgram, MistakesAreNamed) {
  const auto error = [](std::vector<CustomTask> tasks, std::vector<CustomGroup> groups = {}, std::uint32_t ranks = 0) {
    CustomProgramSpec c;
    c.tasks = std::move(tasks);
    c.groups = std::move(groups);
    c.ranks = ranks;
    return error_of([&] { return build_custom(c, 4); });
  };
  CustomTask sum;
  sum.id = "sum";
  sum.kind = TaskKind::collective;
  sum.group = "g";
  EXPECT_EQ(error({}), "a custom program needs at least one task");
  EXPECT_EQ(error({compute("a", 0, {}), compute("a", 1, {})}), "two tasks are called 'a'");
  EXPECT_EQ(error({compute("a", 0, {}, {"z"})}), "task 'a': after 'z', which does not exist");
  EXPECT_EQ(
      error({compute("a", 0, {}), compute("b", 1, {}, {"a"})}),
      "task 'b' of rank 1: after 'a', which is a task of another rank; ranks meet by send and receive or by collectives");
  EXPECT_EQ(error({message("m", TaskKind::send, 1, 1, 1)}), "task 'm': rank 1 is its own peer");
  EXPECT_EQ(error({sum, compute("a", 0, {})}), "task 'sum': there is no group 'g'");
  EXPECT_EQ(error({sum}, {{"g", {0, 0}}}), "group 'g' names rank 0 twice");
  EXPECT_EQ(error({sum}, {{"g", {}}, {"h", {0}}}), "group 'g' has no ranks");
  EXPECT_EQ(error({sum}, {{"g", {0}}, {"g", {1}}}), "two groups are called 'g'");
  sum.except = {2};
  EXPECT_EQ(error({sum}, {{"g", {0, 1}}}), "task 'sum': except rank 2, which is not in group 'g' or was excepted before");
  sum.except = {0, 1};
  EXPECT_EQ(error({sum}, {{"g", {0, 1}}}), "task 'sum': excepts every rank of group 'g'");
  EXPECT_EQ(error({compute("a", 3, {})}, {}, 2), "the tasks name rank 3, but the program has 2 ranks");
  EXPECT_EQ(error({compute("a", 4, {})}), "the job has 5 ranks, but the fabric has 4 GPUs");
}

}  // namespace
}  // namespace traingraph::workloads
