// The speed of the closed-form model: one 41-point utilization curve from 1e24 to 1e32 FLOP per preset, from nothing and
// warm-started from the curve of a neighbouring assumption set (22 tokens per parameter, not 20); all limits of all presets.
//
//     ninja benchmark_limits && ./benchmark_limits
#include "analysis/theory/limits.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "scenarios/limits_config.h"
#include "scenarios/preset_store.h"

namespace traingraph {
namespace {

namespace theory = analysis::theory;

constexpr std::size_t kPoints = 41;
constexpr double kStep = 0.2;
constexpr double kFirst = 24;

theory::LimitsQuestion question(const std::string& gpu, const std::vector<std::string>& overrides = {}) {
  return scenarios::load_limits_preset(gpu, overrides).question;
}

double checksum(const theory::Curve& curve) {
  double sum = 0;
  for (const theory::CurvePoint& point : curve) sum += point.relative();
  return sum;
}

void cold_curve(benchmark::State& state, const std::string& gpu) {
  const theory::LimitsQuestion q = question(gpu);
  double sum = 0;
  for (auto _ : state) {
    const theory::LayoutSearch search{q.gpu, q.assumptions};
    sum = checksum(utilization_curve(search, theory::grid(kFirst, kStep, kPoints)));
  }
  state.counters["checksum"] = sum;
}

void warm_curve(benchmark::State& state, const std::string& gpu) {
  const theory::LimitsQuestion q = question(gpu);
  const theory::LimitsQuestion other = question(gpu, {"tokens_per_param=22"});
  const std::vector<double> computes = theory::grid(kFirst, kStep, kPoints);
  const theory::Curve neighbour = utilization_curve(theory::LayoutSearch{other.gpu, other.assumptions}, computes);
  double sum = 0;
  for (auto _ : state) {
    const theory::LayoutSearch search{q.gpu, q.assumptions};
    sum = checksum(utilization_curve(search, computes, neighbour));
  }
  state.counters["checksum"] = sum;
}

void all_limits(benchmark::State& state) {
  double sum = 0;
  for (auto _ : state) {
    sum = 0;
    for (const std::string& gpu : scenarios::preset_names("theory")) sum += checksum(theory::limits(question(gpu)).curve);
  }
  state.counters["checksum"] = sum;
}

}  // namespace
}  // namespace traingraph

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const std::string& gpu : traingraph::scenarios::preset_names("theory")) {
    benchmark::RegisterBenchmark(("cold/" + gpu).c_str(), traingraph::cold_curve, gpu)->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("warm/" + gpu).c_str(), traingraph::warm_curve, gpu)->Unit(benchmark::kMillisecond);
  }
  benchmark::RegisterBenchmark("all_limits", traingraph::all_limits)->Unit(benchmark::kMillisecond);
  benchmark::RunSpecifiedBenchmarks();
}
