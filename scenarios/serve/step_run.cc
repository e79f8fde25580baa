#include "scenarios/serve/step_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/fields.h"
#include "analysis/h5_file.h"
#include "analysis/h5_input.h"
#include "analysis/hdf5_writer.h"
#include "analysis/sensitivity.h"
#include "analysis/step_document.h"
#include "scenarios/run_scenario.h"
#include "scenarios/sensitivity_runs.h"

namespace traingraph::scenarios::serve {
namespace {

using Json = nlohmann::ordered_json;

/// What the scenario is called in messages: "scenario:3:5: ...".
constexpr std::string_view kName = "scenario";

/// A folder that only we can read, gone with what it holds at the end.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "traingraph-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw analysis::FileError{"no temporary folder can be made"};
    path_ = name;
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::filesystem::path file(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

Scenario loaded(const StepRequest& request) {
  Scenario scenario = load_text(request.yaml, kName, request.overrides);
  if (const std::uint64_t gpus = gpu_count(scenario.cluster); gpus > kMostGpus) {
    throw sim::InputError{
        fmt::format("{} GPUs; the page runs at most {}, larger runs belong on the command line", gpus, kMostGpus)};
  }
  return scenario;
}

void check_size(const RunSize& size) {
  if (size.memory.count() > kMostMemory) {
    throw sim::InputError{
        fmt::format("the run would take about {:.0f} GB; the page runs up to {:.0f} GB, larger runs belong on "
                    "the command line",
                    size.memory.count() / 1e9, kMostMemory / 1e9)};
  }
}

analysis::Resource resource_named(const std::string& name, const topology::Fabric& fabric) {
  std::vector<std::string> names;
  for (const analysis::Resource& resource : analysis::resources_of(fabric)) {
    names.push_back(analysis::name_of(resource));
    if (names.back() == name) return resource;
  }
  throw sim::InputError{fmt::format("what_if: unknown resource '{}', allowed: {}", name, fmt::join(names, ", "))};
}

std::string what_if(const Scenario& scenario, const Prepared& prepared, const WhatIf& change, const StepHooks& hooks) {
  constexpr double kMost = 1000;
  if (!(change.factor >= 1 / kMost && change.factor <= kMost)) {
    throw sim::InputError{
        fmt::format("what_if: found a factor of {}, allowed: from {} to {}", change.factor, 1 / kMost, kMost)};
  }
  const analysis::Resource resource = resource_named(change.resource, *prepared.fabric);
  const sim::Duration time = perturbed_step_time(scenario, prepared, {resource, change.factor}, hooks.cancel);
  return Json{{"resource", change.resource}, {"factor", change.factor}, {"step_time_s", analysis::seconds(time)}}.dump();
}

std::string document(Scenario scenario, const Prepared& prepared, const StepRequest& request, const StepHooks& hooks) {
  if (scenario.run.bins == 0) scenario.run.bins = kHeatBins;
  const PrivateFolder folder;
  const std::filesystem::path path = folder.file("run.h5");
  analysis::ResultFile file{path, prepared.workload, {.version = hooks.version, .scenario = effective_yaml(scenario)}};
  const RunOutcome outcome = simulate_scenario(scenario, prepared,
                                               {.cancel = hooks.cancel,
                                                .progress = hooks.progress,
                                                .trace = file.trace(),
                                                .sensitivity = request.sensitivity,
                                                .threads = hooks.threads,
                                                .rerun_progress = hooks.rerun_progress});
  file.finish(outcome.result, *prepared.fabric, outcome.record);
  Json json = analysis::step_document(analysis::H5Input{path});
  json["resources"] = Json::array();
  for (const analysis::Resource& resource : analysis::resources_of(*prepared.fabric)) {
    json["resources"].push_back(analysis::name_of(resource));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string checked_size(const StepRequest& request) {
  const Scenario scenario = loaded(request);
  const RunSize size = size_of(scenario, prepare(scenario));
  check_size(size);
  return Json{{"gpus", size.gpus},
              {"operations", size.operations},
              {"transfers", size.transfers},
              {"memory_bytes", size.memory.count()}}
      .dump();
}

std::string run_step(const StepRequest& request, const StepHooks& hooks) {
  Scenario scenario = loaded(request);
  const Prepared prepared = prepare(scenario);
  check_size(size_of(scenario, prepared));
  if (request.what_if) return what_if(scenario, prepared, *request.what_if, hooks);
  return document(std::move(scenario), prepared, request, hooks);
}

}  // namespace traingraph::scenarios::serve
