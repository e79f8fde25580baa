// The program as its users meet it: what it prints where, its exit codes, and what it leaves behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

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
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// Eight GPUs, each with one 400 Gb/s port on one switch, a microsecond a link.
// Ring all-reduce: 2(N-1)(L + S/(N B)) = 14 (2 us + 1 GiB / (8 x 50 GB/s)) = 37.60896384 ms.
constexpr const char* kRing = R"(
cluster:
  nodes: 8
  node:
    gpus: 1
    nic: {bandwidth: 400 Gb/s, latency: 1 us}
  scale_out: {kind: single_switch}
workload:
  kind: collective
  collective: all_reduce
  algorithm: ring
  bytes: 1 GiB
  steps: 1
)";
constexpr double kRingSeconds = 37.60896384e-3;

// Far more work than any test waits for: a thousand ring all-reduces over 1,024 ranks, two million transfers each.
constexpr const char* kLong = R"(
cluster:
  nodes: 1024
  node:
    gpus: 1
    nic: {bandwidth: 400 Gb/s, latency: 1 us}
  scale_out: {kind: single_switch}
workload:
  kind: collective
  collective: all_reduce
  algorithm: ring
  bytes: 1 GiB
  iterations: 1000
  steps: 1
run:
  collectives: step
)";

class Cli : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::string ring = folder.write("ring.yaml", kRing);
  std::string result = folder.file("r.h5");

  [[nodiscard]] std::vector<std::string> others() const {  // files beside the scenario
    std::vector<std::string> names = folder.names();
    std::erase_if(names, [](const std::string& name) { return name.ends_with(".yaml"); });
    return names;
  }
};

TEST_F(Cli, VersionSaysWhatThisBinaryIs) {
  const Finished version = execute({"--version"});
  EXPECT_EQ(version.code, 0);
  for (const char* line : {"traingraph ", "\ncommit ", "\ncompiler ", "\nBoost      1.", "\nHDF5       1."}) {
    EXPECT_THAT(version.out, HasSubstr(line));
  }
  EXPECT_EQ(version.err, "");
}

TEST_F(Cli, HelpThatWasAskedForGoesToStdout) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--help"}, {"-h"}, {"help", "run"}, {"run", "-h"}, {"topo", "show", "--help"}}) {
    const Finished help = execute(words);
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("Usage"));
    EXPECT_EQ(help.err, "");
  }
}

TEST_F(Cli, AWrongCommandLineIsTwoOnStderr) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {}, {"rnu", ring}, {ring}, {"run"}, {"run", ring, "--fromat", "json"}, {"run", ring, "--format", "xml"}}) {
    const Finished wrong = execute(words);
    EXPECT_EQ(wrong.code, 2);
    EXPECT_EQ(wrong.out, "");
    EXPECT_THAT(wrong.err, StartsWith("traingraph: "));
  }
  EXPECT_THAT(execute({ring}).err, HasSubstr("did you mean `traingraph run " + ring + "`?"));
}

TEST_F(Cli, ARunPrintsItsResultAndNothingElse) {
  const Finished run = execute({"run", ring, "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json.at("schema"), "traingraph/run/1");
  EXPECT_NEAR(json.at("step_time_s").get<double>(), kRingSeconds, 1e-9 * kRingSeconds + 14e-12);
  EXPECT_THAT(others(), IsEmpty());
}

TEST_F(Cli, TextAndCsvSayTheSame) {
  const Finished text = execute({"run", ring});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("37.61 ms"));
  EXPECT_THAT(text.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(execute({"run", ring, "--color", "always"}).out, HasSubstr("\x1b[1m"));
  const Finished csv = execute({"run", ring, "--format", "csv"});
  EXPECT_EQ(csv.code, 0) << csv.err;
  EXPECT_THAT(csv.out, StartsWith("name,value,unit\n"));
  EXPECT_THAT(csv.out, HasSubstr("\nstep_time_s,0.03760896"));
}

TEST_F(Cli, ASecondRunGivesTheSameBytes) {
  ASSERT_EQ(execute({"run", ring, "-o", result, "--trace", "tasks", "--trace", "transfers", "--bins", "10"}).code, 0);
  const std::string second = folder.file("s.h5");
  ASSERT_EQ(execute({"run", ring, "-o", second, "--trace", "tasks", "--trace", "transfers", "--bins", "10"}).code, 0);
  EXPECT_EQ(read_file(result), read_file(second));
  EXPECT_EQ(execute({"run", ring, "--format", "json"}).out, execute({"run", ring, "--format", "json"}).out);
}

TEST_F(Cli, TheResultFileIsHdf5AndSaidToBeThere) {
  const Finished run = execute({"run", ring, "-o", result});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, StartsWith("wrote " + result));
  EXPECT_THAT(read_file(result), StartsWith("\x89HDF\r\n"));
  EXPECT_THAT(others(), ElementsAre("r.h5"));
  EXPECT_EQ(execute({"run", ring, "-o", folder.file("q.h5"), "--quiet"}).err, "");
}

TEST_F(Cli, AnExistingResultIsRefusedBeforeTheRun) {
  const std::string endless = folder.write("endless.yaml", kLong);
  folder.write("r.h5", "precious");
  const Finished refused = execute({"run", endless, "-o", result});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(refused.err, "traingraph: " + result + ": exists already; --force replaces it\n");
  EXPECT_EQ(read_file(result), "precious");
  EXPECT_EQ(execute({"run", ring, "-o", result, "--force"}).code, 0);
  EXPECT_THAT(read_file(result), StartsWith("\x89HDF"));
  EXPECT_THAT(others(), ElementsAre("r.h5"));
}

TEST_F(Cli, AnImpossibleOutputIsFoundBeforeTheRun) {
  const std::string endless = folder.write("endless.yaml", kLong);
  const Finished no_folder = execute({"run", endless, "-o", folder.file("none/r.h5")});
  EXPECT_EQ(no_folder.code, 2);
  EXPECT_THAT(no_folder.err, HasSubstr("there is no folder"));
  const Finished too_long = execute({"run", endless, "-o", folder.file(std::string(250, 'x') + ".h5")});
  EXPECT_EQ(too_long.code, 4);
  EXPECT_THAT(others(), IsEmpty());
}

TEST_F(Cli, AFullStdoutIsFourAndTheFileIsKept) {
  Start start;
  start.words = {"run", ring, "-o", result};
  start.out_to = "/dev/full";
  const Finished full = execute(start);
  EXPECT_EQ(full.code, 4);
  EXPECT_EQ(full.err, "traingraph: cannot write to stdout: No space left on device\n");
  EXPECT_THAT(others(), ElementsAre("r.h5"));
}

TEST_F(Cli, AReaderThatLeavesEndsTheOutputSilently) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"run", ring}, {"check", ring}, {"topo", "list"}, {"--help"}}) {
    Start start;
    start.words = words;
    start.reader_leaves = true;
    const Finished left = execute(start);
    EXPECT_EQ(left.code, 0);
    EXPECT_EQ(left.err, "");
  }
}

TEST_F(Cli, AClosedStdoutDoesNotEndUpInTheResultFile) {
  ASSERT_EQ(execute({"run", ring, "-o", folder.file("good.h5")}).code, 0);
  Start start;
  start.words = {"run", ring, "-o", result};
  start.close_stdout = true;
  const Finished closed = execute(start);
  EXPECT_EQ(closed.code, 4);
  EXPECT_THAT(closed.err, HasSubstr("cannot write to stdout"));
  EXPECT_EQ(read_file(result), read_file(folder.file("good.h5")));
}

TEST_F(Cli, AnInterruptedRunLeavesNothing) {
  const std::string endless = folder.write("endless.yaml", kLong);
  for (const int signal : {SIGINT, SIGTERM}) {
    Start start;
    start.words = {"run", endless, "-o", result};
    start.meanwhile = [&](pid_t process) {
      // The file in the making appears when the simulation is about to start.
      for (int i = 0; i < 1000 && !std::filesystem::exists(result + ".part"); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
      }
      std::this_thread::sleep_for(std::chrono::milliseconds{300});
      ::kill(process, signal);
    };
    const auto begin = std::chrono::steady_clock::now();
    const Finished interrupted = execute(start);
    EXPECT_EQ(interrupted.code, 130);
    EXPECT_EQ(interrupted.out, "");
    EXPECT_EQ(interrupted.err, "traingraph: interrupted\n");
    EXPECT_THAT(others(), IsEmpty());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{60});
  }
}

// A program that takes long to build, and never ends: a signal ends it at once all the same.
TEST_F(Cli, ASignalWhileBuildingEndsTheRunToo) {
  for (const auto& [verb, signal, code] :
       {std::tuple{"run", SIGINT, 130}, {"check", SIGTERM, 130}, {"run", SIGHUP, 130}, {"run", SIGQUIT, 128 + SIGQUIT}}) {
    Start start;
    start.words = {verb,    TRAINGRAPH_SOURCE_DIR "/scenarios/examples/gpt3_175b_1024_a100.yaml",
                   "--set", "workload.model.layers=80000",
                   "--set", "workload.check_memory=false"};
    if (verb == std::string{"run"}) start.words.insert(start.words.end(), {"-o", result});
    start.meanwhile = [&, number = signal](pid_t process) {
      std::this_thread::sleep_for(std::chrono::milliseconds{400});
      ::kill(process, number);
    };
    const auto begin = std::chrono::steady_clock::now();
    const Finished interrupted = execute(start);
    EXPECT_EQ(interrupted.code, code) << verb;
    EXPECT_EQ(interrupted.out, "");
    EXPECT_THAT(others(), IsEmpty());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{10});
  }
}

#if !defined(__SANITIZE_ADDRESS__)
// Sizes that nobody means: one line, at once, in 100 MB beside the program itself.
TEST_F(Cli, AbsurdSizesAreInputErrors) {
  const std::string gpt = TRAINGRAPH_SOURCE_DIR "/scenarios/examples/gpt3_175b_1024_a100.yaml";
  const std::string linear = TRAINGRAPH_SOURCE_DIR "/scenarios/examples/linear_blocks_two_level.yaml";
  const std::vector<std::pair<std::string, std::string>> cases{
      {gpt, "cluster.nodes=9223372036854775808"},
      {gpt, "cluster.nodes=1000000000"},
      {gpt, "cluster.node.gpus=4000000000"},
      {gpt, "cluster.node.scale_up.planes=1000000"},
      {gpt, "cluster.node.scale_up.gpus=4294967288"},
      {gpt, "cluster.node.nic.per_node=4000000000"},
      {gpt, "cluster.scale_out.ports_per_nic=4000000000"},
      {gpt, "cluster.scale_out.rails=4000000000"},
      {gpt, "cluster.scale_out.spines_per_block=4000000000"},
      {gpt, "cluster.scale_out={kind: torus, dims: [4000000000, 4000000000], link: {bandwidth: 1 GB/s, latency: 1 us}}"},
      {gpt, "cluster.scale_out={kind: fully_connected, link: {bandwidth: 1 Gb/s, latency: 1 us}}"},
      {gpt, "workload.model.layers=1000000000"},
      {gpt, "workload.global_batch=4000000000"},
      {gpt, "workload.steps=1000000000"},
      {gpt, "workload.parallel.pp=1000000000"},
      {linear, "workload.blocks=1000000000"},
      {linear, "workload.microbatches=1000000000"},
      {ring, "workload.iterations=1000000000"},
      {ring, "workload.bytes=1e300 B"},
  };
  for (const auto& [file, override] : cases) {
    Start start;
    start.words = {"run", file, "--set", override, "-o", result};
    if (override.find("fully") != std::string::npos) {
      start.words.insert(start.words.end(),
                         {"--set", "cluster.nodes=1048576", "--set", "cluster.node.scale_up={kind: none}"});
    }
    start.address_space_bytes = 200U << 20U;
    const auto begin = std::chrono::steady_clock::now();
    const Finished refused = execute(start);
    EXPECT_EQ(refused.code, 2) << override << "\n" << refused.err;
    EXPECT_LE(std::count(refused.err.begin(), refused.err.end(), '\n'), 4) << override << "\n" << refused.err;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{5}) << override;
  }
}
#endif

TEST_F(Cli, KeepPartialKeepsThePartUnderItsOwnName) {
  const std::string endless = folder.write("endless.yaml", kLong);
  Start start;
  start.words = {"run", endless, "-o", result, "--keep-partial"};
  start.meanwhile = [&](pid_t process) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1500});
    ::kill(process, SIGINT);
  };
  EXPECT_EQ(execute(start).code, 130);
  EXPECT_THAT(others(), ElementsAre("r.h5.part"));
}

#if !defined(__SANITIZE_ADDRESS__)
TEST_F(Cli, TooLittleMemoryIsFour) {
  Start start;
  start.words = {"run", ring, "--set", "cluster.nodes=1000000", "-o", result};
  start.address_space_bytes = 256U << 20U;
  const Finished starved = execute(start);
  EXPECT_EQ(starved.code, 4);
  EXPECT_THAT(starved.err, HasSubstr("out of memory"));
  EXPECT_THAT(others(), IsEmpty());
}
#endif

TEST_F(Cli, AScenarioThatIsNotThereOrWrongIsTwo) {
  const Finished absent = execute({"run", folder.file("none.yaml")});
  EXPECT_EQ(absent.code, 2);
  EXPECT_THAT(absent.err, HasSubstr("none.yaml"));
  const std::string wrong = folder.write("wrong.yaml", "cluster: {nods: 8}\nworkload: {kind: collective}\n");
  for (const char* verb : {"run", "check"}) {
    const Finished refused = execute({verb, wrong});
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, StartsWith(wrong + ":1:"));  // an editor finds the place at the start of the line
    EXPECT_THAT(refused.err, HasSubstr("did you mean 'nodes'?"));
  }
}

TEST_F(Cli, StdinIsAScenarioToo) {
  Start start;
  start.words = {"run", "-", "--format", "json", "--set", "name=ring"};
  start.in = kRing;
  const Finished piped = execute(start);
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(piped.out, execute({"run", ring, "--format", "json"}).out);
}

// 200 Gb/s instead of 400: 14 (2 us + 1 GiB / (8 x 25 GB/s)) = 75.18992768 ms.
TEST_F(Cli, SetReplacesAValueAndIsCheckedLikeTheFile) {
  const Finished slow = execute({"run", ring, "--format", "json", "--set", "cluster.node.nic.bandwidth=200 Gb/s"});
  ASSERT_EQ(slow.code, 0) << slow.err;
  EXPECT_NEAR(nlohmann::json::parse(slow.out).at("step_time_s").get<double>(), 75.18992768e-3, 1e-10);
  const Finished wrong = execute({"run", ring, "--set", "cluster.node.nic.bandwidth=200"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, StartsWith("--set cluster.node.nic.bandwidth=200: "));
}

TEST_F(Cli, WhatCheckPrintsIsTheSameScenario) {
  const Finished checked = execute({"check", ring, "--set", "workload.bytes=1 MiB"});
  ASSERT_EQ(checked.code, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("# Size of the run"));
  EXPECT_THAT(checked.out, HasSubstr("8 GPUs"));
  EXPECT_THAT(checked.out, HasSubstr("ring.yaml:3"));  // where `nodes` came from
  EXPECT_THAT(checked.out, HasSubstr("--set workload.bytes=1 MiB"));
  EXPECT_THAT(checked.out, HasSubstr("default"));
  const std::string effective = folder.write("effective.yaml", checked.out);
  const Finished again = execute({"run", effective, "--format", "json"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, execute({"run", ring, "--format", "json", "--set", "workload.bytes=1 MiB"}).out);
}

// A ring of N ranks takes 2(N-1) rounds of N transfers: 14 x 8 = 112.
TEST_F(Cli, CheckCountsWhatARunWouldDo) {
  const Finished checked = execute({"check", ring, "--format", "json"});
  ASSERT_EQ(checked.code, 0) << checked.err;
  const auto json = nlohmann::json::parse(checked.out);
  EXPECT_EQ(json.at("gpus"), 8);
  EXPECT_EQ(json.at("ranks"), 8);
  EXPECT_EQ(json.at("transfers"), 112.0);
  EXPECT_GT(json.at("memory_bytes").get<double>(), 0.0);
}

TEST_F(Cli, StatsCountEveryTransfer) {
  const Finished run = execute({"run", ring, "--stats", "--set", "run.collectives=step"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, testing::ContainsRegex("transfers +112\n"));
  EXPECT_THAT(run.out, HasSubstr("wall time"));
  EXPECT_THAT(execute({"run", ring}).out, Not(HasSubstr("wall time")));
}

TEST_F(Cli, ExplainNamesTheMembersAndTheAlgorithm) {
  const Finished text = execute({"run", ring, "--explain"});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("0-7"));
  EXPECT_THAT(text.out, HasSubstr("ring"));
  const Finished json = execute({"run", ring, "--explain", "--format", "json"});
  const auto groups = nlohmann::json::parse(json.out).at("explain").at("groups");
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].at("communicators")[0].at("ranks"), nlohmann::json::parse("[0, 1, 2, 3, 4, 5, 6, 7]"));
  EXPECT_EQ(groups[0].at("calls")[0].at("algorithm"), "ring");
}

TEST_F(Cli, ProgressIsShownOnlyWhereItIsAskedFor) {
  const std::string endless = folder.write("endless.yaml", kLong);
  for (const bool always : {true, false}) {
    Start start;
    start.words = {"run", endless, "--progress", always ? "always" : "auto"};
    start.meanwhile = [](pid_t process) {
      std::this_thread::sleep_for(std::chrono::milliseconds{2500});
      ::kill(process, SIGINT);
    };
    const Finished interrupted = execute(start);
    EXPECT_EQ(interrupted.code, 130);
    if (always) {
      EXPECT_THAT(interrupted.err, testing::ContainsRegex("[0-9]+ %  simulated [0-9.e-]+ s .*events/s"));
    } else {
      EXPECT_EQ(interrupted.err, "traingraph: interrupted\n");
    }
  }
}

TEST_F(Cli, NothingIsWrittenOutsideTheOutputPath) {
  const TemporaryFolder elsewhere;
  Start start;
  start.words = {"run", ring, "-o", result};
  start.folder = elsewhere.path();
  ASSERT_EQ(execute(start).code, 0);
  EXPECT_THAT(elsewhere.names(), IsEmpty());
  EXPECT_THAT(folder.names(), ElementsAre("r.h5", "ring.yaml"));
}

}  // namespace
}  // namespace traingraph::scenarios
