// `traingraph sweep`: the same bytes whatever threads, ranks and interruptions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/scenarios/cli_process.h"

namespace traingraph::scenarios {
namespace {

using cli_tests::execute;
using cli_tests::Finished;
using cli_tests::read_file;
using cli_tests::Start;
using cli_tests::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class CliSweep : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("ring.yaml",
                  "cluster: {nodes: 2, node: {gpus: 4, nic: {bandwidth: 50 GB/s}}, scale_out: {kind: single_switch}}\n"
                  "workload: {kind: collective, collective: all_reduce, algorithm: ring, bytes: 4 MB, steps: 1}\n"
                  "run: {collectives: step}\n");
    file_ = folder_.write("sweep.yaml",
                          "scenario: ring.yaml\nset: {workload.iterations: 600}\n"
                          "grid:\n  workload.ranks: [2, 4, 8, 9]\n  workload.bytes: [1 MB, 2 MB, 3 MB]\n");
  }
  [[nodiscard]] std::string table(const std::string& name, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"sweep", file_, "-o", folder_.file(name)};
    words.insert(words.end(), more.begin(), more.end());
    const Finished done = execute(words);
    EXPECT_EQ(done.code, 0) << done.err;
    return read_file(folder_.file(name));
  }
  [[nodiscard]] std::size_t journal_lines(const std::string& name) const {
    const std::string path = folder_.file(name + ".journal");
    if (!std::filesystem::exists(path)) return 0;
    const std::string text = read_file(path);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  TemporaryFolder folder_;
  std::string file_;
};

TEST_F(CliSweep, OneRowAPoint) {
  const Finished done = execute({"sweep", file_});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, StartsWith("point,workload.ranks,workload.bytes,error,description,network,gpus,steps,step_time_s,"));
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), '\n'), 13);
  EXPECT_THAT(done.out, HasSubstr("600 iterations\",flow,2,1,0.012,"));       // 600 x 2 x 1/2 x 1 MB / 50 GB/s
  EXPECT_THAT(done.out, HasSubstr("\n9,9,1 MB,\"--set workload.ranks=9: "));  // there are eight GPUs
  EXPECT_EQ(table("a.csv"), done.out);
}

TEST_F(CliSweep, ThreadsChangeNothing) {
  EXPECT_EQ(table("one.csv", {"--threads", "1"}), table("three.csv", {"--threads", "3"}));
  EXPECT_EQ(table("one.h5", {"--threads", "1"}), table("three.h5", {"--threads", "3"}));
  EXPECT_THAT(folder_.names(), ElementsAre("one.csv", "one.h5", "ring.yaml", "sweep.yaml", "three.csv", "three.h5"));
}

TEST_F(CliSweep, AKilledSweepGoesOnWhereItWas) {
  Start start;
  start.words = {"sweep", file_, "-o", folder_.file("killed.csv"), "--threads", "1"};
  start.meanwhile = [&](pid_t pid) {
    while (journal_lines("killed.csv") < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ::kill(pid, SIGKILL);
  };
  EXPECT_EQ(execute(start).code, 128 + SIGKILL);
  const std::size_t finished = journal_lines("killed.csv") - 1;
  ASSERT_GE(finished, 2U);
  ASSERT_LT(finished, 12U);
  const Finished rest = execute({"sweep", file_, "-o", folder_.file("killed.csv")});
  EXPECT_THAT(rest.err, HasSubstr("goes on: " + std::to_string(finished) + " of 12 points are finished"));
  EXPECT_EQ(read_file(folder_.file("killed.csv")), table("whole.csv"));
  EXPECT_EQ(journal_lines("killed.csv"), 0U);
}

TEST_F(CliSweep, AFinishedTableIsNotReplacedAndAChangedSweepNotContinued) {
  static_cast<void>(table("t.csv"));
  const Finished again = execute({"sweep", file_, "-o", folder_.file("t.csv")});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("t.csv"));
  folder_.write("u.csv.journal", "traingraph sweep 0000000000000000 of 12 points\n");
  const Finished other = execute({"sweep", file_, "-o", folder_.file("u.csv")});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("belongs to another sweep"));
  EXPECT_EQ(table("u.csv", {"--force"}), read_file(folder_.file("t.csv")));
}

TEST_F(CliSweep, WithoutAFileItSaysSo) {
  EXPECT_THAT(execute({"sweep"}).err, HasSubstr("sweep: the sweep's file is missing"));
  EXPECT_THAT(execute({"sweep", file_, "-o", folder_.file("x.txt")}).err, HasSubstr("end it in .h5 or .csv"));
}

int shell(const std::string& command) { return std::system(command.c_str()); }  // NOLINT(cert-env33-c): as a user would

const std::string kMpirun = "mpirun --allow-run-as-root --oversubscribe ";

bool has_mpi() {
  return shell("mpirun --version >/dev/null 2>&1") == 0 &&
         shell(std::string{"ldd "} + TRAINGRAPH_BINARY + " | grep -q libmpi") == 0;
}

TEST_F(CliSweep, RanksChangeNothing) {
  if (!has_mpi()) GTEST_SKIP() << "built without MPI, or no mpirun";
  const std::string expected = table("threads.csv");
  for (const std::string ranks : {"1", "2", "4"}) {
    const std::string name = folder_.file("ranks" + ranks + ".csv");
    EXPECT_EQ(shell(kMpirun + "-n " + ranks + " " + TRAINGRAPH_BINARY + " sweep " + file_ + " -o " + name + " 2>/dev/null"),
              0);
    EXPECT_EQ(read_file(name), expected) << ranks;
  }
}

// The third rank may use one second of processor time, then the system kills it.
TEST_F(CliSweep, ADeadRankEndsTheJobAndLeavesWhatIsFinished) {
  if (!has_mpi()) GTEST_SKIP() << "built without MPI, or no mpirun";
  const std::string longer = "workload.iterations=60000";
  const std::string sweep =
      std::string{TRAINGRAPH_BINARY} + " sweep " + file_ + " -o " + folder_.file("dead.csv") + " --set " + longer;
  const std::string said = folder_.file("said");
  EXPECT_NE(shell(kMpirun + "-n 2 " + sweep + " : -n 1 sh -c 'ulimit -t 2; exec " + sweep + "' >" + said + " 2>&1"), 0);
  EXPECT_THAT(read_file(said), HasSubstr("exited on signal"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("dead.csv")));
  const std::size_t finished = journal_lines("dead.csv") - 1;
  EXPECT_GE(finished, 1U);
  const Finished rest = execute({"sweep", file_, "-o", folder_.file("dead.csv"), "--set", longer});
  EXPECT_THAT(rest.err, HasSubstr("goes on: " + std::to_string(finished) + " of 12 points are finished"));
  const std::string whole = read_file(folder_.file("dead.csv"));
  EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 13);
}

}  // namespace
}  // namespace traingraph::scenarios
