#include "analysis/theory/split_table.h"

#include <algorithm>
#include <cmath>

#include "analysis/theory/power_of_two.h"

namespace traingraph::analysis::theory {
namespace {

WordCost smaller(const WordCost& a, const WordCost& b) {
  WordCost least;
  for (std::size_t l = 0; l < least.busy_s.size(); ++l) least.busy_s[l] = std::min(a.busy_s[l], b.busy_s[l]);
  least.busy_sum_s = std::min(a.busy_sum_s, b.busy_sum_s);
  least.latency_s = std::min(a.latency_s, b.latency_s);
  return least;
}

}  // namespace

SplitTable::SplitTable(const Gpu& gpu, int largest_exponent, const Cost& cost) {
  const std::size_t outermost = gpu.levels.size() - 1;
  for (std::size_t l = 0; l < outermost; ++l) {
    strides_.push_back(radix_size_);
    radix_size_ *= static_cast<std::size_t>(std::ilogb(gpu.levels[l].fan_out)) + 1;
  }
  for (int e = 0; e <= largest_exponent; ++e) {
    bool first = true;
    for (std::size_t index = 0; index < radix_size_; ++index) {
      SplitOption option;
      int rest = e;
      for (std::size_t l = 0; l < outermost; ++l) {
        const std::size_t above = l + 1 < outermost ? strides_[l + 1] : radix_size_;
        option.exponents[l] = static_cast<std::int8_t>(index % above / strides_[l]);
        rest -= option.exponents[l];
      }
      option.possible = rest >= 0;
      if (option.possible) {
        option.exponents[outermost] = static_cast<std::int8_t>(rest);
        PerLevel degrees;
        for (std::size_t l = 0; l < degrees.size(); ++l) degrees[l] = power_of_two(option.exponents[l]);
        option.cost = cost(degrees);
        if (first) least_.push_back(option.cost);
        first = false;
        least_.back() = smaller(least_.back(), option.cost);
      }
      options_.push_back(option);
    }
  }
}

std::span<const SplitOption> SplitTable::options(int exponent) const {
  return std::span{options_}.subspan(static_cast<std::size_t>(exponent) * radix_size_, radix_size_);
}

const SplitOption& SplitTable::option(int exponent, const Layout::Levels& inner) const {
  std::size_t index = static_cast<std::size_t>(exponent) * radix_size_;
  for (std::size_t l = 0; l < strides_.size(); ++l) index += static_cast<std::size_t>(inner[l]) * strides_[l];
  return options_[index];
}

}  // namespace traingraph::analysis::theory
