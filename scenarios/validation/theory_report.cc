#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "scenarios/validation/theory_checks.h"

namespace traingraph::scenarios {
namespace {

constexpr double kClose = 0.05, kFair = 0.2;

double off(double ratio) { return std::max(ratio, 1 / ratio) - 1; }

std::string bounds_text(const BoundsCheck& b) {
  std::string text = fmt::format(
      "## No simulation beats a lower bound\n\n{} random scenarios (seeds {} to {}), {} bounds compared with the window of "
      "the "
      "run that each speaks of: {} violated. Smallest simulated / bound: {:.9f}.\n\n",
      b.scenarios, b.first_seed, b.last_seed, b.bounds, b.failures.size(), b.least_gap);
  for (const std::string& failure : b.failures) text += "- " + failure + "\n";
  return text;
}

std::string ideal_text(const std::vector<IdealCase>& cases) {
  std::string text = fmt::format(
      "## Where one thing takes time, the formula is met\n\nAllowed: {:.0e} relative.\n\n"
      "| case | formula | expected | simulated | off by |\n|---|---|--:|--:|--:|\n",
      kIdealTolerance);
  for (const IdealCase& c : cases) {
    text += fmt::format("| {} | {} | {:.9g} s | {:.9g} s | {:.1e} |\n", c.name, c.formula, c.expected_s, c.simulated_s,
                        std::abs(c.error()));
  }
  return text + "\n";
}

std::string distribution(const char* name, std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](double share) { return ratios[static_cast<std::size_t>(share * double(ratios.size() - 1) + 0.5)]; };
  return fmt::format("| {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} |\n", name, at(0), at(0.1), at(0.5), at(0.9), at(1));
}

/// How many ratios are within 5 %, within 20 %, and beyond.
struct Tally {
  std::size_t close = 0, fair = 0, wrong = 0;
  void count(double ratio) { ++(off(ratio) <= kClose ? close : off(ratio) <= kFair ? fair : wrong); }
};

struct Regime {
  Tally hidden, exposed;
  double blocks = 0, pipeline = 0, gradients = 0;  // sums of shares of the model's step
  [[nodiscard]] double count() const { return static_cast<double>(hidden.close + hidden.fair + hidden.wrong); }
};

std::string regime_text(const std::vector<GridPoint>& grid) {
  std::map<std::string, Regime> regimes;
  for (const GridPoint& p : grid) {
    for (const std::string& name : {p.regime, std::string{"~ all"}}) {
      Regime& r = regimes[name];
      r.hidden.count(p.ratio());
      r.exposed.count(p.simulated_s / p.exposed_s);
      r.blocks += p.blocks_s / p.hidden_s;
      r.pipeline += p.pipeline_s / p.hidden_s;
      r.gradients += p.gradients_s / p.hidden_s;
    }
  }
  std::string text =
      "| regime | layouts | hidden: within 5 % | within 20 % | wrong | exposed: within 5 % | within 20 % | wrong | blocks | "
      "pipeline | gradients |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  for (const auto& [name, r] : regimes) {
    const auto mean = [&](double sum) { return fmt::format("{:+.1f} %", 100 * sum / r.count()); };
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", name == "~ all" ? "all" : name,
                        r.count(), r.hidden.close, r.hidden.fair, r.hidden.wrong, r.exposed.close, r.exposed.fair,
                        r.exposed.wrong, mean(r.blocks), mean(r.pipeline), mean(r.gradients));
  }
  return text + "\n";
}

std::string grid_text(const std::vector<GridPoint>& grid) {
  std::vector<double> hidden, exposed;
  for (const GridPoint& p : grid) {
    hidden.push_back(p.ratio());
    exposed.push_back(p.simulated_s / p.exposed_s);
  }
  std::string text = fmt::format(
      "## The closed-form step model against the simulation of its own workload\n\n`linear_blocks` on 64 H100 in 8 nodes "
      "below "
      "one switch, {} layouts, one cold step each. All-reduces are rings: ar_words = 4, lat_factor = 2(p-1) per level; "
      "all-to-alls are direct. Simulated step / model's step, with the model's communication of other micro-batches hidden "
      "behind arithmetic (what the model assumes), and with none hidden:\n\n"
      "| model | least | 10 % | median | 90 % | most |\n|---|--:|--:|--:|--:|--:|\n",
      grid.size());
  text += distribution("hidden", hidden) + distribution("exposed", exposed);
  text +=
      "\nWhere the difference to `hidden` comes from, in the mean over a regime's layouts, in percent of the model's "
      "step:\n\n"
      "- blocks: a rank of the program waits for every tensor-parallel all-reduce and all-to-all of its micro-batch, "
      "latency\n"
      "  included; the model lets them run under another micro-batch's arithmetic, without latency.\n"
      "- pipeline: the model's bubble is a lone micro-batch's serial time, every latency in it; the program's is what its "
      "stages\n"
      "  really leave empty, and its hand-offs share ports with other traffic.\n"
      "- gradients: the program reduces them after the last backward and waits; the model hides all but the last block's, "
      "and\n"
      "  counts an all-reduce over two levels as hierarchical, where a flat ring takes its whole traffic over the slower "
      "level.\n\n";
  text += regime_text(grid);
  text +=
      "| layout | simulated | hidden | ratio | exposed | ratio | blocks | pipeline | gradients "
      "|\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  for (const GridPoint& p : grid) {
    const auto share = [&](double s) { return fmt::format("{:+.1f} %", 100 * s / p.hidden_s); };
    text += fmt::format("| {} | {:.4g} s | {:.4g} s | {:.3f} | {:.4g} s | {:.3f} | {} | {} | {} |\n", p.layout,
                        p.simulated_s, p.hidden_s, p.ratio(), p.exposed_s, p.simulated_s / p.exposed_s, share(p.blocks_s),
                        share(p.pipeline_s), share(p.gradients_s));
  }
  return text;
}

}  // namespace

bool TheoryValidation::passed() const {
  return bounds.failures.empty() &&
         std::all_of(ideal.begin(), ideal.end(), [](const IdealCase& c) { return std::abs(c.error()) <= kIdealTolerance; });
}

std::string to_markdown(const TheoryValidation& v) {
  return "# Theory against simulation\n\nMade by `traingraph validate theory`.\n\n" + bounds_text(v.bounds) +
         ideal_text(v.ideal) + grid_text(v.grid);
}

}  // namespace traingraph::scenarios
