#include "analysis/theory/point_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/theory/power_of_two.h"

namespace traingraph::analysis::theory {
namespace {

// Estimates add the same terms as the step model in another order: they are trusted to this, far above their rounding.
constexpr double kSlack = 1 + 1e-9;

// The dimensions in the order in which their splits are chosen; the last takes what is left of the inner levels.
constexpr std::array<Dimension, kDimensions> kSplitOrder{kTensorModel, kTensorHidden, kExpert, kPipeline, kData};

/// The largest exponent with 2^exponent <= v, or -1 below 1.
int floor_log2(double v) { return v >= 1 ? std::min(std::ilogb(v), kLargestExponent) : -1; }

ExponentCaps caps_of(const StepModel& model, const ScaledRun& run, bool pipelined) {
  const Assumptions& a = model.assumptions();
  return {.data = floor_log2(run.batch / a.min_tokens),
          .pipeline = pipelined ? floor_log2(run.layers) : 0,
          .expert = floor_log2(run.experts),
          .hidden = floor_log2(run.hidden),
          .model = a.two_dimensional_tp ? floor_log2(run.residual) : 0};
}

ExponentCaps not_negative(ExponentCaps caps) {
  for (int* cap : {&caps.data, &caps.pipeline, &caps.expert, &caps.hidden, &caps.model}) *cap = std::max(*cap, 0);
  return caps;
}

}  // namespace

SplitTables::SplitTables(const StepModel& model)
    : all_reduce{model.gpu(), kLargestExponent,
                 [&](const PerLevel& d) { return all_reduce_cost(model.gpu(), model.assumptions(), d); }},
      all_to_all{model.gpu(), kLargestExponent,
                 [&](const PerLevel& d) { return all_to_all_cost(model.gpu(), model.assumptions(), d); }},
      boundary{model.gpu(), kLargestExponent,
               [&](const PerLevel& d) { return stage_boundary_cost(model.gpu(), model.assumptions(), d); }} {}

PointSearch::PointSearch(const StepModel& model, const SplitTables& splits, const ScaledRun& run, Pipelining pipelining)
    : model_{model},
      splits_{splits},
      run_{run},
      pipelined_{pipelining == Pipelining::any},
      caps_{caps_of(model, run, pipelined_)},
      kernels_{model, run, not_negative(caps_)} {}

int PointSearch::largest_gpus_exponent() const {
  const int caps[] = {caps_.data, caps_.pipeline, caps_.expert, caps_.hidden, caps_.model};
  if (*std::min_element(std::begin(caps), std::end(caps)) < 0) return -1;
  return caps_.data + caps_.pipeline + caps_.expert + caps_.hidden + caps_.model;
}

const SplitTable& PointSearch::table(Dimension dimension) const {
  if (dimension == kExpert) return splits_.all_to_all;
  return dimension == kPipeline ? splits_.boundary : splits_.all_reduce;
}

std::optional<FoundLayout> PointSearch::fastest(int n, double limit_s, std::span<const Layout> incumbents) {
  best_.reset();
  if (n > largest_gpus_exponent()) return best_;
  threshold_s_ = limit_s * kSlack;
  const std::size_t outermost = model_.levels() - 1;
  int rest = n;
  for (std::size_t l = 0; l < outermost; ++l) {
    fill_[l] = static_cast<std::int8_t>(std::min(rest, std::ilogb(model_.gpu().levels[l].fan_out)));
    rest -= fill_[l];
  }
  fill_[outermost] = static_cast<std::int8_t>(rest);

  for (const Layout& layout : incumbents) {
    if (is_candidate(layout)) consider(layout);
  }
  collect(n);
  for (const Totals& totals : open_) {
    if (totals.bound_s > threshold_s_) break;
    explore(totals);
  }
  return best_;
}

bool PointSearch::is_candidate(const Layout& layout) const {
  for (int l = 0; l < kMaxLevels; ++l) {
    int sum = 0;
    for (const Layout::Levels& levels : layout.exponents) {
      if (levels[static_cast<std::size_t>(l)] < 0) return false;
      sum += levels[static_cast<std::size_t>(l)];
    }
    if (sum != fill_[static_cast<std::size_t>(l)]) return false;
  }
  if (layout.microbatches < 0 || (!pipelined_ && (layout.microbatches > 0 || layout.exponent(kPipeline) > 0))) return false;
  return model_.fault(run_, layout) == Fault::none;
}

void PointSearch::consider(const Layout& layout) {
  const StepTimes times = model_.times(run_, layout);
  if (times.step_s > threshold_s_ || times.train_s > model_.assumptions().duration_s) return;
  const bool better =
      !best_ || times.step_s < best_->times.step_s || (times.step_s == best_->times.step_s && layout < best_->layout);
  if (better) best_ = FoundLayout{layout, times};
  threshold_s_ = std::min(threshold_s_, times.step_s * kSlack);
}

// Bound 1 of all totals that may be fast enough, the most promising first.
void PointSearch::collect(int n) {
  open_.clear();
  for (int pp = 0; pp <= std::min(caps_.pipeline, n); ++pp) {
    for (int ep = 0; ep <= std::min(caps_.expert, n - pp); ++ep) {
      for (int tf = 0; tf <= std::min(caps_.hidden, n - pp - ep); ++tf) {
        for (int tm = 0; tm <= std::min(caps_.model, n - pp - ep - tf); ++tm) {
          Totals totals{n - pp - ep - tf - tm, pp, ep, tf, tm, 0};
          if (totals.data > caps_.data || most_microbatches(totals) < pp) continue;
          totals.bound_s = bound(context(totals));
          if (totals.bound_s <= threshold_s_) open_.push_back(totals);
        }
      }
    }
  }
  std::sort(open_.begin(), open_.end(), [](const Totals& a, const Totals& b) { return a.bound_s < b.bound_s; });
}

int PointSearch::most_microbatches(const Totals& t) const { return pipelined_ ? caps_.data - t.data - t.expert : 0; }

PointSearch::Context PointSearch::context(const Totals& t) const {
  Context c;
  c.totals = t;
  c.blocks = run_.layers * power_of_two(-t.pipeline);
  c.chunk = model_.chunk(c.blocks);
  c.bubble_blocks = (power_of_two(t.pipeline) - 1) * c.chunk;
  const double tokens = run_.batch * power_of_two(-t.data - t.expert);  // per GPU and step, of its share of the experts
  const double words_up = tokens * run_.active * run_.hidden * power_of_two(-t.hidden);
  const double words_down = tokens * run_.active * run_.residual * power_of_two(-t.model);
  const double exchanged = run_.experts > 1 ? words_down * power_of_two(-t.hidden) : 0;
  const double handed_over = tokens * run_.residual * power_of_two(-t.model - t.hidden) / c.chunk;
  c.weights[kTensorModel] = {.net = 2 * c.blocks * words_up, .serial = words_up, .latency = 1};
  c.weights[kTensorHidden] = {.net = 2 * c.blocks * words_down, .serial = words_down, .latency = 1};
  c.weights[kExpert] = {.net = 4 * c.blocks * exchanged, .serial = 2 * exchanged, .latency = run_.experts > 1 ? 2.0 : 0.0};
  c.weights[kPipeline] = {.net = 2 * c.blocks * handed_over, .serial = handed_over, .latency = 1 / c.chunk};
  const double matrices = 2 * run_.hidden * run_.residual * run_.experts * run_.layers;
  c.weights[kData].net = matrices * power_of_two(-(t.pipeline + t.expert + t.hidden + t.model));
  return c;
}

void PointSearch::add(Communication& to, const Context& c, Dimension dimension, const WordCost& cost) const {
  const Weight& weight = c.weights[dimension];
  for (std::size_t l = 0; l < model_.levels(); ++l) to.net_s[l] += weight.net * cost.busy_s[l];
  if (dimension == kData) {
    to.gradient_s = weight.net * cost.busy_sum_s;
    to.tail_s = to.gradient_s / (2 * c.blocks) + cost.latency_s;
  } else {
    to.blocks_s += weight.net * cost.busy_sum_s;
    to.serial_s += weight.serial * cost.busy_sum_s;
    to.serial_latency_s += weight.latency * cost.latency_s;
  }
}

Communication PointSearch::least_communication(const Context& c) const {
  const Totals& t = c.totals;
  Communication least;
  add(least, c, kTensorModel, splits_.all_reduce.least(t.model));
  add(least, c, kTensorHidden, splits_.all_reduce.least(t.hidden));
  if (t.expert > 0) add(least, c, kExpert, splits_.all_to_all.least(t.expert));
  if (t.pipeline > 0) add(least, c, kPipeline, splits_.boundary.least(t.pipeline));
  add(least, c, kData, splits_.all_reduce.least(t.data));
  return least;
}

double PointSearch::estimate(const Context& c, const Communication& net, const BlockTimes& block, int microbatches) const {
  const Assumptions& a = model_.assumptions();
  const double m = power_of_two(microbatches);
  const double one_way = net.serial_s / m + net.serial_latency_s;
  const double serial = a.defer_weight_gradients ? 2 * block.forward_s + one_way + std::max(one_way, block.weight_gradient_s)
                                                 : 2 * block.forward_s + 2 * one_way + block.weight_gradient_s;
  const double arithmetic = m * c.blocks * (2 * block.forward_s + block.weight_gradient_s);
  double steady = std::max(arithmetic + (a.overlap ? 0 : net.blocks_s), run_.layers * serial);
  if (a.overlap) {
    for (std::size_t l = 0; l < model_.levels(); ++l) steady = std::max(steady, net.net_s[l]);
  } else {
    steady = std::max(steady, net.blocks_s + net.gradient_s);
  }
  return steady + c.bubble_blocks * serial + net.tail_s;
}

bool PointSearch::too_slow(const Communication& net) const {
  if (!model_.assumptions().overlap) return net.blocks_s + net.gradient_s + net.tail_s > threshold_s_;
  return *std::max_element(net.net_s.begin(), net.net_s.end()) + net.tail_s > threshold_s_;
}

double PointSearch::bound(const Context& c) const {
  const Totals& t = c.totals;
  const Communication net = least_communication(c);
  double least = std::numeric_limits<double>::infinity();
  if (too_slow(net)) return least;
  for (int m = t.pipeline; m <= most_microbatches(t); ++m) {
    const double kernel = kernels_.least({t.data + m, t.pipeline, t.expert, t.hidden, t.model});
    least = std::min(least, estimate(c, net, {kernel, kernel}, m));
  }
  return least;
}

void PointSearch::explore(const Totals& t) {
  const Context c = context(t);
  const Communication least = least_communication(c);
  kept_.clear();
  Layout layout;
  for (int m = t.pipeline; m <= most_microbatches(t); ++m) {
    const KernelKey key{t.data + m, t.pipeline, t.expert, t.hidden, t.model};
    const double kernel = kernels_.least(key);
    if (estimate(c, least, {kernel, kernel}, m) > threshold_s_) continue;
    const BlockTimes& block = kernels_.exact(key);
    if (estimate(c, least, block, m) <= threshold_s_) kept_.push_back({m, block});
  }
  if (kept_.empty()) return;
  Layout::Levels rest = fill_;
  split(c, 0, layout, rest, {});
}

// Chooses the split of one dimension after the other; `rest` is what is left of the inner levels.
void PointSearch::split(const Context& c, int depth, Layout& layout, Layout::Levels& rest, const Communication& so_far) {
  const Dimension dimension = kSplitOrder[static_cast<std::size_t>(depth)];
  const Totals& t = c.totals;
  const int totals[] = {t.data, t.pipeline, t.expert, t.hidden, t.model};
  const int total = totals[dimension];
  const std::size_t outermost = model_.levels() - 1;
  Layout::Levels& chosen = layout.exponents[dimension];
  if (dimension == kData) {
    const SplitOption& last = table(dimension).option(total, rest);
    if (!last.possible) return;
    chosen = last.exponents;
    Communication all = so_far;
    add(all, c, dimension, last.cost);
    if (!too_slow(all)) try_microbatches(c, layout, all);
    return;
  }
  for (const SplitOption& option : table(dimension).options(total)) {
    bool fits = option.possible;
    for (std::size_t l = 0; l < outermost && fits; ++l) fits = option.exponents[l] <= rest[l];
    if (!fits) continue;
    Communication more = so_far;
    add(more, c, dimension, option.cost);
    if (too_slow(more)) continue;
    for (std::size_t l = 0; l < outermost; ++l) rest[l] = static_cast<std::int8_t>(rest[l] - option.exponents[l]);
    chosen = option.exponents;
    split(c, depth + 1, layout, rest, more);
    for (std::size_t l = 0; l < outermost; ++l) rest[l] = static_cast<std::int8_t>(rest[l] + option.exponents[l]);
  }
}

void PointSearch::try_microbatches(const Context& c, Layout& layout, const Communication& communication) {
  for (const Microbatching& m : kept_) {
    if (estimate(c, communication, m.block, m.exponent) > threshold_s_) continue;
    layout.microbatches = static_cast<std::int8_t>(m.exponent);
    if (model_.fault(run_, layout) == Fault::none) consider(layout);
  }
}

}  // namespace traingraph::analysis::theory
