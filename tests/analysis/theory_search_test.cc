// The search against a plain enumeration of every layout, on small random machines and runs: same layout, same step, bit for
// bit. Incumbents, good or bad, change nothing.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>

#include "analysis/theory/curve.h"
#include "analysis/theory/search.h"
#include "tests/analysis/theory_support.h"

namespace traingraph::analysis::theory {
namespace {

constexpr int kMostMicrobatches = 24;  // exponent: more tokens than the batches here have

/// Calls `visit` with every layout of 2^n GPUs that fills the inner levels first.
class Enumeration {
 public:
  Enumeration(const Gpu& gpu, int n, std::function<void(const Layout&)> visit) : visit_{std::move(visit)} {
    int rest = n;
    for (std::size_t l = 0; l < gpu.levels.size(); ++l) {
      const bool outermost = l + 1 == gpu.levels.size();
      fill_.push_back(outermost ? rest : std::min(rest, std::ilogb(gpu.levels[l].fan_out)));
      rest -= fill_.back();
    }
    Layout layout;
    spread(layout, 0, 0, fill_[0]);
  }

 private:
  void spread(Layout& layout, std::size_t level, std::size_t dimension, int rest) {
    if (dimension + 1 == kDimensions) {
      layout.exponents[dimension][level] = static_cast<std::int8_t>(rest);
      if (level + 1 < fill_.size()) return spread(layout, level + 1, 0, fill_[level + 1]);
      for (int m = 0; m <= kMostMicrobatches; ++m) {
        layout.microbatches = static_cast<std::int8_t>(m);
        visit_(layout);
      }
      return;
    }
    for (int e = 0; e <= rest; ++e) {
      layout.exponents[dimension][level] = static_cast<std::int8_t>(e);
      spread(layout, level, dimension + 1, rest - e);
    }
  }

  std::function<void(const Layout&)> visit_;
  std::vector<int> fill_;
};

std::optional<FoundLayout> fastest_of_all(const StepModel& model, const ScaledRun& run, int n) {
  std::optional<FoundLayout> best;
  Enumeration{model.gpu(), n, [&](const Layout& layout) {
                if (model.fault(run, layout) != Fault::none) return;
                const StepTimes times = model.times(run, layout);
                if (times.train_s > model.assumptions().duration_s) return;
                const bool better = !best || times.step_s < best->times.step_s ||
                                    (times.step_s == best->times.step_s && layout < best->layout);
                if (better) best = FoundLayout{layout, times};
              }};
  return best;
}

/// The rule of the search, without any of its bounds; gives up beyond 2^most GPUs.
std::optional<FoundLayout> best_of_all(const LayoutSearch& search, double compute, int least, int most) {
  const ScaledRun run = search.run(compute);
  std::optional<FoundLayout> best;
  for (int n = least; n <= most; ++n) {
    const auto found = fastest_of_all(search.model(), run, n);
    if (!found) continue;
    if (!best) most = std::min(most, n + 2);
    if (!best || found->times.mfu > best->times.mfu) best = found;
  }
  return best;
}

double pick(std::initializer_list<double> values) { return *rc::gen::elementOf(std::vector<double>(values)); }
bool coin() { return *rc::gen::arbitrary<bool>(); }

Gpu random_gpu() {
  Gpu gpu = test::question(*rc::gen::element<std::string>("v100", "a100", "h100", "gtx580")).gpu;
  gpu.matmul.matmul_latency_s = pick({0, 4.5e-6, 1e-4});
  gpu.levels.clear();
  const int levels = *rc::gen::inRange(1, 4);
  for (int l = 0; l < levels; ++l) {
    gpu.levels.push_back({pick({1e9, 2e10, 6e11, INFINITY}), pick({0, 5e-6, 1e-3}), pick({1, 2, 4})});
  }
  return gpu;
}

Assumptions random_assumptions() {
  Assumptions a;
  a.batch_exponent = pick({1.0 / 6, 1.0 / 3});
  a.all_reduce = coin() ? AllReduceKind::factor : AllReduceKind::in_switch;
  a.all_reduce_words = pick({2, 3, 4});
  a.latency_sum = coin() ? LatencySum::sum : LatencySum::largest;
  a.latency = *rc::gen::element(LatencyKind::factor, LatencyKind::ring, LatencyKind::direct);
  a.overlap = coin();
  a.defer_weight_gradients = coin();
  a.two_dimensional_tp = coin();
  a.pipeline_traffic = coin();
  a.interleave = pick({0, 1, 2});
  a.experts = pick({1, 1, 4, 6});
  a.active_experts = a.experts > 1 ? pick({1, 2}) : 1;
  a.batch_sparsity_exponent = pick({0, 1});
  a.all_weights_resident = coin();
  a.memory_limit = coin();
  a.min_tokens = pick({1, 512});
  return a;
}

RC_GTEST_PROP(TheorySearch, FindsWhatPlainEnumerationFinds, ()) {
  const Gpu gpu = random_gpu();
  Assumptions a = random_assumptions();
  const double compute = std::pow(10.0, pick({18.1, 19.3, 20.7, 21.9, 23.2}));
  const double gpus = pick({0.7, 3, 11, 23});  // that arithmetic alone needs
  a.duration_s = compute / (gpu.sustained_flop_per_s() * gpus);
  const LayoutSearch search{gpu, a};
  constexpr int kMost = 7;
  const int least = std::max(0, static_cast<int>(std::ceil(std::log2(gpus))));
  const auto expected = best_of_all(search, compute, least, kMost);
  const auto found = search.best(compute);
  if (!expected) {
    RC_ASSERT(!found || found->layout.gpus_exponent() > kMost - 2);
    RC_DISCARD("needs more GPUs than enumeration can do");
  }
  if (expected->layout.gpus_exponent() > kMost - 2) RC_DISCARD("the rule looks further than enumeration does");
  RC_ASSERT(found.has_value());
  RC_ASSERT(found->layout == expected->layout);
  RC_ASSERT(found->times.step_s == expected->times.step_s);
  RC_ASSERT(found->times.mfu == expected->times.mfu);
}

void expect_equal(const Curve& a, const Curve& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].found.has_value(), b[i].found.has_value()) << i;
    if (!a[i].found) continue;
    EXPECT_EQ(a[i].found->layout, b[i].found->layout) << i;
    EXPECT_EQ(a[i].relative(), b[i].relative()) << i;
  }
}

TEST(TheorySearch, ANeighboursLayoutsChangeNothing) {
  const std::vector<double> computes = grid(25, 0.35, 20);
  for (const char* gpu : {"v100", "h100", "h100_superpod", "h100_infinite_network"}) {
    const LayoutSearch search = test::search_for(gpu);
    const Curve neighbour = utilization_curve(test::search_for(gpu, {"tokens_per_param=30"}), computes);
    const Curve stranger = utilization_curve(test::search_for("gtx580"), computes);
    const Curve cold = utilization_curve(search, computes);
    expect_equal(cold, utilization_curve(search, computes, neighbour));
    expect_equal(cold, utilization_curve(search, computes, stranger));
    for (const CurvePoint& point : cold) {  // each point by itself, without the one before it
      const auto alone = search.best(point.compute());
      ASSERT_EQ(alone.has_value(), point.found.has_value());
      if (alone) {
        EXPECT_EQ(alone->layout, point.found->layout);
      }
    }
  }
}

TEST(TheorySearch, NothingIsFoundBeyondTheWall) {
  const LayoutSearch search = test::search_for("h100");
  EXPECT_TRUE(search.best(1.5e31).has_value());
  EXPECT_FALSE(search.best(1.7e31).has_value());
}

// What a search says is what the step model says of its layout.
TEST(TheorySearch, TheAnswerIsACandidateThatFinishesInTime) {
  const LayoutSearch search = test::search_for("h100", {"memory_limit=true", "experts=8", "active_experts=2"});
  for (const double compute : {1e24, 1e26, 1e28}) {
    const auto found = search.best(compute);
    ASSERT_TRUE(found.has_value()) << compute;
    const ScaledRun run = search.run(compute);
    EXPECT_EQ(search.model().fault(run, found->layout), Fault::none);
    EXPECT_LE(found->times.train_s, search.model().assumptions().duration_s);
    EXPECT_EQ(found->times.step_s, search.model().times(run, found->layout).step_s);
    EXPECT_LE(found->times.memory_bytes, 80e9);
  }
}

}  // namespace
}  // namespace traingraph::analysis::theory
