#include "analysis/theory/layout.h"

#include <fmt/format.h>

#include <numeric>

#include "analysis/theory/power_of_two.h"

namespace traingraph::analysis::theory {

int Layout::exponent(Dimension dimension) const {
  const Levels& levels = exponents[dimension];
  return std::accumulate(levels.begin(), levels.end(), 0);
}

double Layout::degree(Dimension dimension) const { return power_of_two(exponent(dimension)); }

double Layout::degree(Dimension dimension, int level) const {
  return power_of_two(exponents[dimension][static_cast<std::size_t>(level)]);
}

int Layout::gpus_exponent() const {
  int sum = 0;
  for (int d = 0; d < kDimensions; ++d) sum += exponent(static_cast<Dimension>(d));
  return sum;
}

double Layout::microbatch_count() const { return power_of_two(microbatches); }

Degrees::Degrees() {
  for (PerLevel& degrees : levels) degrees.fill(1);
}

Degrees::Degrees(const Layout& layout) : microbatches{layout.microbatch_count()} {
  for (std::size_t d = 0; d < levels.size(); ++d) {
    for (std::size_t l = 0; l < levels[d].size(); ++l) levels[d][l] = power_of_two(layout.exponents[d][l]);
  }
}

double Degrees::total(Dimension dimension) const {
  double product = 1;
  for (const double degree : levels[dimension]) product *= degree;
  return product;
}

double Degrees::gpus() const {
  double product = 1;
  for (int d = 0; d < kDimensions; ++d) product *= total(static_cast<Dimension>(d));
  return product;
}

std::string degrees_text(const Layout& layout, Dimension dimension, int levels) {
  std::string text;
  for (int l = 0; l < levels; ++l) text += fmt::format("{}{:.0f}", l == 0 ? "" : "x", layout.degree(dimension, l));
  return text;
}

}  // namespace traingraph::analysis::theory
