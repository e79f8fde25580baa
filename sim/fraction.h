// Exact shares of a transfer's bytes: n/k in lowest terms. What a link carries must fit PathLink (32 bits each); a share
// that does not is an InputError, never rounded.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>

#include "sim/error.h"
#include "sim/link.h"

namespace traingraph::sim {

struct Fraction {
  std::uint64_t n = 0;
  std::uint64_t k = 1;

  [[nodiscard]] static Fraction of(std::uint64_t n, std::uint64_t k) {
    const std::uint64_t g = std::gcd(n, k);
    return Fraction{n / g, k / g};
  }
  bool operator==(const Fraction&) const = default;
};

/// The product of two 64-bit counts; throws InputError when it does not fit.
[[nodiscard]] inline std::uint64_t checked_product(std::uint64_t a, std::uint64_t b) {
  if (a != 0 && b > std::numeric_limits<std::uint64_t>::max() / a)
    throw InputError{"a transfer is split over more paths than can be counted exactly; choose another routing policy"};
  return a * b;
}

[[nodiscard]] inline Fraction operator*(Fraction a, Fraction b) {
  const Fraction x = Fraction::of(a.n, b.k);
  const Fraction y = Fraction::of(b.n, a.k);
  return Fraction{checked_product(x.n, y.n), checked_product(x.k, y.k)};
}

[[nodiscard]] inline Fraction operator+(Fraction a, Fraction b) {
  const std::uint64_t g = std::gcd(a.k, b.k);
  const std::uint64_t x = checked_product(a.n, b.k / g);
  const std::uint64_t y = checked_product(b.n, a.k / g);
  if (x > std::numeric_limits<std::uint64_t>::max() - y)
    throw InputError{"a transfer is split over more paths than can be counted exactly; choose another routing policy"};
  return Fraction::of(x + y, checked_product(a.k, b.k / g));
}

/// `link` carries the share f.
[[nodiscard]] inline PathLink path_link(LinkId link, Fraction f) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  if (f.n > kMax || f.k > kMax)
    throw InputError{"the share of a transfer on one link, " + std::to_string(f.n) + "/" + std::to_string(f.k) +
                     ", is too fine to be kept exactly (32 bits each); choose another routing policy"};
  return PathLink{link, static_cast<std::uint32_t>(f.n), static_cast<std::uint32_t>(f.k)};
}

}  // namespace traingraph::sim
