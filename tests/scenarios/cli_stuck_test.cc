// Programs that cannot finish, as their users meet them: exit code 2, who waits for what, and no result file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/scenarios/cli_process.h"

namespace traingraph::scenarios {
namespace {

using cli_tests::execute;
using cli_tests::Finished;
using cli_tests::TemporaryFolder;
using testing::HasSubstr;

// Two ranks that wait for each other's message before they send their own.
constexpr const char* kDeadlock = R"(
cluster:
  nodes: 2
  node:
    gpus: 1
    nic: {bandwidth: 400 Gb/s, latency: 1 us}
  scale_out: {kind: single_switch}
workload:
  kind: custom
  steps: 1
  tasks:
    - {id: first_waits, kind: receive, rank: 0, peer: 1}
    - {id: first_sends, kind: send, rank: 0, peer: 1, bytes: 1 MB}
    - {id: second_waits, kind: receive, rank: 1, peer: 0}
    - {id: second_sends, kind: send, rank: 1, peer: 0, bytes: 1 MB}
)";

// Four ranks that add up their gradients; rank 2 leaves the call out.
constexpr const char* kAbsentMember = R"(
cluster:
  nodes: 4
  node:
    gpus: 1
    nic: {bandwidth: 400 Gb/s, latency: 1 us}
  scale_out: {kind: single_switch}
workload:
  kind: custom
  steps: 1
  groups: [{name: all, ranks: [0, 1, 2, 3]}]
  tasks:
    - {id: gradients, kind: collective, group: all, except: [2], collective: all_reduce, bytes: 1 MB}
    - {id: idle, kind: compute, rank: 2, duration: 1 ms}
)";

class CliStuck : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::string result = folder.file("r.h5");
};

TEST_F(CliStuck, ADeadlockIsTwoAndNamesWhatWaits) {
  const Finished stuck = execute({"run", folder.write("deadlock.yaml", kDeadlock), "-o", result});
  EXPECT_EQ(stuck.code, 2);
  EXPECT_EQ(stuck.out, "");
  EXPECT_THAT(stuck.err, HasSubstr("first_waits"));
  EXPECT_THAT(stuck.err, HasSubstr("second_waits"));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"deadlock.yaml"});
}

TEST_F(CliStuck, ACollectiveThatAMemberNeverEntersIsTwoAndNamesIt) {
  const Finished stuck = execute({"run", folder.write("absent.yaml", kAbsentMember), "-o", result});
  EXPECT_EQ(stuck.code, 2);
  EXPECT_EQ(stuck.out, "");
  EXPECT_EQ(
      stuck.err,
      "traingraph: collective 'all_reduce' on communicator 'all' (call number 1) never completes: ranks 0, 1, 3 entered, "
      "rank 2 never arrives\n");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"absent.yaml"});
  const Finished all = execute({"run", folder.file("absent.yaml"), "--set", "workload.tasks[0].except="});
  EXPECT_EQ(all.code, 0) << all.err;
}

}  // namespace
}  // namespace traingraph::scenarios
