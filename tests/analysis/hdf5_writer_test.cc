// A whole run's file, read by h5py as a user would, against the Result and the record that it was written from.
#include "analysis/hdf5_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "analysis/bounds.h"
#include "analysis/fields.h"
#include "analysis/json.h"
#include "sim/error.h"
#include "tests/analysis/support.h"

namespace traingraph::analysis {
namespace {

using testing::ScratchDirectory;
using testing::Star;
using testing::StarRouter;

struct Written {
  sim::Record record;
  Result result;
};

Written write_run(const std::string& path, const ResultFileOptions& options) {
  const Star star{{.gpus = 4, .latency = sim::Duration::us(1)}};
  const StarRouter router{star};
  const auto workload = testing::data_parallel({.steps = 2, .slowest = 1.25});
  sim::RunOptions run;
  run.bins = 50;
  run.collectives = sim::CollectiveMode::step;
  ResultFile file{path, workload, options};
  Written w{sim::simulate(star.fabric.links, router, workload.program, run, file.trace()), {}};
  const sim::Record ideal = longest_chain(star.fabric.links, router, workload.program, run).value();
  w.result = analyze(
      {.fabric = star.fabric, .router = router, .workload = workload, .options = run, .record = w.record, .ideal = &ideal});
  file.finish(w.result, star.fabric, w.record);
  return w;
}

const ResultFileOptions kFull{
    .version = "0.1.0", .scenario = "cluster: {gpus: 4}\n", .seed = 42, .tasks = TraceTasks::all, .transfers = true};

/// Everything in an HDF5 file as JSON, by h5py: {"attributes": {...}, "datasets": {path: {"attributes", "rows"}}}.
nlohmann::json read_with_h5py(const ScratchDirectory& dir, const std::string& name) {
  std::ofstream{dir.file("dump.py")} << R"(
import json, sys, h5py, numpy
def plain(v):
    if isinstance(v, bytes): return v.decode()
    if isinstance(v, numpy.void): return {n: plain(v[n]) for n in v.dtype.names}
    if isinstance(v, numpy.ndarray): return [plain(x) for x in v]
    if isinstance(v, numpy.generic): return v.item()
    return v
found = {}
with h5py.File(sys.argv[1], 'r') as f:
    def visit(name, o):
        if isinstance(o, h5py.Dataset):
            found['/' + name] = {'attributes': {k: plain(v) for k, v in o.attrs.items()}, 'rows': plain(o[()])}
    f.visititems(visit)
    print(json.dumps({'attributes': {k: plain(v) for k, v in f.attrs.items()}, 'datasets': found}))
)";
  const std::string command =
      "/usr/bin/python3 " + dir.file("dump.py") + " " + dir.file(name) + " > " + dir.file("dump.json");
  if (std::system(command.c_str()) != 0) throw std::runtime_error{"h5py is needed (Debian: python3-h5py)"};
  return nlohmann::json::parse(std::ifstream{dir.file("dump.json")});
}

TEST(ResultFile, H5pyReadsEveryTableOfTheSchema) {
  const ScratchDirectory dir;
  const Written w = write_run(dir.file("r.h5"), kFull);
  EXPECT_EQ(dir.names(), std::vector<std::string>{"r.h5"});
  const auto file = read_with_h5py(dir, "r.h5");
  EXPECT_EQ(file["attributes"]["schema_version"], kSchemaVersion);
  EXPECT_EQ(file["attributes"]["traingraph_version"], "0.1.0");
  EXPECT_EQ(file["attributes"]["scenario"], kFull.scenario);
  EXPECT_EQ(file["attributes"]["seed"], 42);

  const auto& d = file["datasets"];
  EXPECT_EQ(d["/topology/nodes"]["rows"].size(), 5U);
  EXPECT_EQ(d["/topology/nodes"]["rows"][4]["kind"], "leaf");
  EXPECT_EQ(d["/topology/links"]["rows"].size(), 8U);
  EXPECT_EQ(d["/topology/links"]["rows"][1]["name"], "leaf0>node0.gpu0");
  EXPECT_EQ(d["/topology/links"]["rows"][1]["source"], 4);
  EXPECT_EQ(d["/topology/links"]["rows"][1]["capacity_Bps"], 1e9);
  EXPECT_EQ(d["/topology/links"]["rows"][1]["latency_s"], 1e-6);
  EXPECT_EQ(d["/ranks"]["rows"].size(), 4U);
  EXPECT_EQ(d["/ranks"]["rows"][3]["node"], 3);
  EXPECT_EQ(d["/classes"]["rows"][2]["members"], 1);
  EXPECT_EQ(d["/bounds"]["rows"].size(), w.result.bounds.size());
  EXPECT_EQ(d["/critical_path"]["rows"].size(), w.result.critical_path.elements.size());
  EXPECT_EQ(d["/critical_path"]["rows"][0]["task"], w.result.critical_path.elements[0].task);
  EXPECT_EQ(d["/collectives"]["rows"][0]["step"], 2);

  // Every link with its bytes: as many as the tiers of the summary have, and the most loaded ones among them.
  const auto& use = d["/links/use"]["rows"];
  ASSERT_EQ(use.size(), 8U);
  double bytes = 0;
  for (const auto& row : use) bytes += row["bytes"].get<double>();
  ASSERT_EQ(w.result.tiers.size(), 1U);
  EXPECT_DOUBLE_EQ(bytes, w.result.tiers[0].bytes);
  const auto& most = d["/links/most_loaded"]["rows"];
  ASSERT_EQ(most.size(), w.result.top_links.size());
  for (std::size_t i = 0; i < most.size(); ++i) {
    EXPECT_EQ(most[i]["id"], index(w.result.top_links[i].link));
    EXPECT_EQ(use[most[i]["id"].get<std::size_t>()]["bytes"], w.result.top_links[i].bytes);
  }
  // The members and calls of the one communicator.
  ASSERT_EQ(d["/explain/communicators"]["rows"].size(), 1U);
  EXPECT_EQ(d["/explain/communicators"]["rows"][0]["size"], 4);
  EXPECT_EQ(d["/explain/communicators"]["rows"][0]["ranks"], "0-3");
  ASSERT_EQ(d["/explain/calls"]["rows"].size(), 1U);
  EXPECT_EQ(d["/explain/calls"]["rows"][0]["bytes"], w.result.collectives[0].bytes);
  EXPECT_EQ(d["/explain/calls"]["rows"][0]["calls_per_step"], w.result.collectives[0].calls / 2);
  EXPECT_EQ(d["/explain/messages"]["rows"].size(), 0U);
}

TEST(ResultFile, EveryScalarOfTheSummaryIsThereWithItsUnitAndEqualsTheJson) {
  const ScratchDirectory dir;
  const Written w = write_run(dir.file("r.h5"), kFull);
  const auto file = read_with_h5py(dir, "r.h5");
  const nlohmann::json json = to_json(w.result);
  std::size_t compared = 0;
  for (const Field& field : fields(w.result, false)) {
    std::string path = "/" + field.path;
    std::replace(path.begin(), path.end(), '.', '/');
    ASSERT_TRUE(file["datasets"].contains("/summary" + path)) << path;
    const auto& dataset = file["datasets"]["/summary" + path];
    EXPECT_EQ(dataset["rows"], json.at(nlohmann::json::json_pointer{path})) << path;
    EXPECT_EQ(dataset["attributes"]["units"], field.unit) << path;
    if (const auto* time = std::get_if<sim::Duration>(&field.value)) {
      EXPECT_EQ(dataset["attributes"]["ps"], time->count_ps()) << path;
    }
    ++compared;
  }
  EXPECT_GT(compared, 50U);
}

// Four operations a rank and step; in steps, a ring of four sends 24 transfers.
TEST(ResultFile, AllTasksAndTransfersAreTraced) {
  const ScratchDirectory dir;
  const Written w = write_run(dir.file("r.h5"), kFull);
  const auto d = read_with_h5py(dir, "r.h5")["datasets"];
  const auto& tasks = d["/tasks"]["rows"];
  ASSERT_EQ(tasks.size(), 4U * 4U * 2U);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> stream_end;  // streams are in order
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(tasks[i]["id"], i);
    EXPECT_LE(tasks[i]["ready_ps"], tasks[i]["start_ps"]);
    EXPECT_LE(tasks[i]["start_ps"], tasks[i]["end_ps"]);
    const auto rank = tasks[i]["rank"].get<std::uint32_t>(), stream = tasks[i]["stream"].get<std::uint32_t>();
    std::int64_t& before = stream_end[{rank, stream}];
    EXPECT_GE(tasks[i]["start_ps"], before);
    before = tasks[i]["end_ps"].get<std::int64_t>();
  }
  EXPECT_EQ(tasks.back()["name"], "adam");
  EXPECT_EQ(tasks.back()["end_ps"], w.record.window_end().count_ps());
  const auto& transfers = d["/transfers"]["rows"];
  ASSERT_EQ(transfers.size(), 24U * 2U);
  double bytes = 0;
  for (const auto& t : transfers) bytes += t["bytes"].get<double>();
  EXPECT_DOUBLE_EQ(bytes, 48 * 1e6);
  EXPECT_EQ(transfers[0]["hops"], 2);
}

// By default: the last step of one rank per role, no transfers.
TEST(ResultFile, ByDefaultOneRankPerRoleIsTracedInTheLastStep) {
  const ScratchDirectory dir;
  write_run(dir.file("r.h5"), {.version = "0.1.0"});
  const auto d = read_with_h5py(dir, "r.h5")["datasets"];
  ASSERT_EQ(d["/tasks"]["rows"].size(), 4U);
  for (const auto& task : d["/tasks"]["rows"]) {
    EXPECT_EQ(task["rank"], 0);
    EXPECT_EQ(task["step"], 1);
  }
  EXPECT_FALSE(d.contains("/transfers"));
}

TEST(ResultFile, NothingIsTracedWhenNothingIsAskedFor) {
  const ScratchDirectory dir;
  const auto workload = testing::data_parallel({});
  ResultFile file{dir.file("r.h5"), workload, {.tasks = TraceTasks::none}};
  EXPECT_EQ(file.trace(), nullptr);
}

// The load of every bin times its width and the capacity is what the link carried over the whole run: two steps of 6 MB.
TEST(ResultFile, TheLoadIntegratesToTheBytes) {
  const ScratchDirectory dir;
  write_run(dir.file("r.h5"), kFull);
  const auto load = read_with_h5py(dir, "r.h5")["datasets"]["/links/load"];
  ASSERT_EQ(load["rows"].size(), 8U);
  for (const auto& link : load["rows"]) {
    double bytes = 0;
    for (const double u : link) {
      EXPECT_LE(u, 1.0);
      bytes += u * load["attributes"]["bin_s"].get<double>() * 1e9;
    }
    EXPECT_NEAR(bytes, 12e6, 12);  // float32
  }
}

TEST(ResultFile, TwoRunsGiveTheSameBytes) {
  const ScratchDirectory dir;
  write_run(dir.file("a.h5"), kFull);
  std::this_thread::sleep_for(std::chrono::milliseconds{1100});
  write_run(dir.file("b.h5"), kFull);
  EXPECT_TRUE(testing::read_bytes(dir.file("a.h5")) == testing::read_bytes(dir.file("b.h5")));
}

// A run that ends in an error leaves no file; the effort of the machine is in none.
TEST(ResultFile, ARunThatFailsLeavesNothing) {
  const ScratchDirectory dir;
  const Star star{{.gpus = 4}};
  const StarRouter router{star};
  const auto workload = testing::data_parallel({});
  const std::atomic<bool> cancel{true};
  sim::RunOptions options;
  options.cancel = &cancel;
  const auto attempt = [&] {
    ResultFile file{dir.file("r.h5"), workload, kFull};
    static_cast<void>(sim::simulate(star.fabric.links, router, workload.program, options, file.trace()));
  };
  EXPECT_THROW(attempt(), sim::Cancelled);
  EXPECT_TRUE(dir.names().empty());
}

}  // namespace
}  // namespace traingraph::analysis
