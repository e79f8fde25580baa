#include "analysis/plan/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "analysis/share_out.h"

namespace traingraph::analysis::plan {
namespace {

using Clock = std::chrono::steady_clock;

/// When so many of the best layouts are too large to be simulated, so are the others.
constexpr std::uint64_t kMostTooLarge = 4;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Branch and bound over one search's candidates.
class BranchAndBound {
 public:
  BranchAndBound(Plan& result, const SimulateLayout& simulate, const PlanLimits& limits, Clock::time_point begin)
      : plan_{result}, candidates_{result.search.candidates}, simulate_{simulate}, limits_{limits}, begin_{begin} {}

  void run() {
    while (next_ < candidates_.size() && candidates_[next_].bound < best_ && !is_spent()) {
      std::vector<Candidate> round;
      while (round.size() < room() && next_ < candidates_.size() && candidates_[next_].bound < best_) {
        round.push_back(candidates_[next_++]);
      }
      play(round);
    }
    const std::size_t proven = next_;
    play_lean();
    if (proven < candidates_.size()) offer_left(candidates_[proven].bound);
    if (plan_.search.least_bound_left_out > 0) offer_left(plan_.search.least_bound_left_out);
    std::sort(plan_.simulated.begin(), plan_.simulated.end(), [](const Simulated& a, const Simulated& b) {
      return a.seconds != b.seconds ? a.seconds < b.seconds : a.layout < b.layout;
    });
  }

 private:
  [[nodiscard]] bool is_spent() const {
    return (limits_.top && played_ >= *limits_.top) || plan_.too_large >= kMostTooLarge ||
           (limits_.budget_s && since(begin_) >= *limits_.budget_s);
  }
  [[nodiscard]] std::size_t room() const {
    return limits_.top ? std::min<std::size_t>(kRound, *limits_.top - played_) : kRound;
  }

  void play(const std::vector<Candidate>& round) {
    std::vector<Simulated> outcomes(round.size());
    share_out(round.size(), limits_.threads, limits_.cancel, [&](std::size_t, std::size_t i) {
      outcomes[i] = simulate_(round[i].layout);
      outcomes[i].layout = round[i].layout;
      outcomes[i].bound = round[i].bound;
    });
    for (const Simulated& s : outcomes) {
      seen_.insert(s.layout);
      if (!s.why_not.empty()) {
        ++plan_.not_built;
        continue;
      }
      if (s.too_large) {
        ++plan_.too_large;
        offer_left(s.bound);
        continue;
      }
      ++played_;
      plan_.simulated.push_back(s);
      best_ = std::min(best_, s.seconds);
    }
    if (limits_.progress) {
      limits_.progress(fmt::format("{} GPUs: {} layouts simulated, best {:.4g} s, next bound {:.4g} s", plan_.gpus, played_,
                                   best_, next_ < candidates_.size() ? candidates_[next_].bound : best_));
    }
  }

  /// For the Pareto front: the layouts of least bound that leave a half, and three quarters, of the memory free.
  void play_lean() {
    if (plan_.simulated.empty()) return;
    std::vector<Candidate> lean;
    const double most = plan_.simulated.front().memory;
    for (const double share : {0.5, 0.25}) {
      const auto found =
          std::find_if(candidates_.begin(), candidates_.end(), [&](const Candidate& c) { return c.memory <= share * most; });
      if (found == candidates_.end() || seen_.contains(found->layout) || lean.size() >= room() || is_spent()) continue;
      seen_.insert(found->layout);
      lean.push_back(*found);
    }
    play(lean);
  }

  void offer_left(double bound) { plan_.least_left = std::min(plan_.least_left.value_or(bound), bound); }

  Plan& plan_;
  const std::vector<Candidate>& candidates_;
  const SimulateLayout& simulate_;
  const PlanLimits& limits_;
  Clock::time_point begin_;
  std::size_t next_ = 0;
  std::uint64_t played_ = 0;
  std::set<PlanLayout> seen_;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace

bool Plan::proven() const { return best() != nullptr && (!least_left || *least_left >= best()->seconds); }

double Plan::may_be_faster() const {
  if (best() == nullptr || proven()) return 0;
  return best()->seconds / *least_left - 1;
}

std::vector<BoundTerm> bound_terms(const StepBound& bound, const PlanLayout& layout) {
  Without w;
  double left = bound.seconds(layout);
  std::vector<BoundTerm> terms;
  const auto take = [&](const char* name, bool Without::*what) {
    w.*what = true;
    const double then = bound.seconds(layout, w);
    terms.push_back({name, left - then});
    left = then;
  };
  take("data parallelism", &Without::network_dp);
  take("pipeline hand-offs", &Without::network_pp);
  take("pipeline bubble", &Without::bubble);
  take("expert parallelism", &Without::network_ep);
  take("context parallelism", &Without::network_cp);
  take("tensor parallelism", &Without::network_tp);
  terms.insert(terms.begin(), {"kernels and launches", left});
  return terms;
}

Plan plan(StepBound& bound, std::uint32_t gpus, const SearchSpace& space, const SimulateLayout& simulate,
          const PlanLimits& limits) {
  Plan result;
  result.gpus = gpus;
  const Clock::time_point begin = Clock::now();
  result.search = search(bound, gpus, space, limits.threads, limits.cancel);
  result.search_seconds = since(begin);
  BranchAndBound{result, simulate, limits, begin}.run();
  if (result.search.candidates.size() > kShown) result.search.candidates.resize(kShown);
  if (const Simulated* best = result.best()) result.winner_terms = bound_terms(bound, best->layout);
  if (result.simulated.size() > 1) result.runner_up_terms = bound_terms(bound, result.simulated[1].layout);
  return result;
}

std::vector<FrontPoint> pareto_front(const std::vector<Plan>& plans) {
  std::vector<FrontPoint> all;
  for (const Plan& p : plans) {
    for (const Simulated& s : p.simulated) all.push_back({p.gpus, s});
  }
  const auto beats = [](const FrontPoint& a, const FrontPoint& b) {
    const bool no_worse = a.gpus <= b.gpus && a.step.seconds <= b.step.seconds && a.step.memory <= b.step.memory;
    return no_worse && (a.gpus < b.gpus || a.step.seconds < b.step.seconds || a.step.memory < b.step.memory);
  };
  std::vector<FrontPoint> front;
  for (const FrontPoint& p : all) {
    if (std::none_of(all.begin(), all.end(), [&](const FrontPoint& q) { return beats(q, p); })) front.push_back(p);
  }
  std::sort(front.begin(), front.end(), [](const FrontPoint& a, const FrontPoint& b) {
    return a.gpus != b.gpus ? a.gpus < b.gpus : a.step.seconds < b.step.seconds;
  });
  return front;
}

}  // namespace traingraph::analysis::plan
