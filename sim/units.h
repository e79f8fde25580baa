// Strong types for the few physical quantities a network simulator needs.
//
// Time is a point on the simulated clock, Duration a span between two points; both are a signed 64-bit count of
// picoseconds (range +-106 days), so equal times are equal and a run is bit-for-bit repeatable. Bytes, Bandwidth,
// Flop and FlopRate are doubles in SI base units. There is no implicit way in or out: the unit is written at every call
// site (`Duration::us(1.5)`, `b.bytes_per_s()`), and mixing quantities in a way that has no meaning does not compile:
// Time + Time, Bytes + Duration, Bandwidth < FlopRate are all errors (pinned by static_asserts in the tests).
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

namespace traingraph::sim {

/// A span of simulated time, in integer picoseconds.
class Duration {
 public:
  constexpr Duration() = default;
  [[nodiscard]] static constexpr Duration ps(std::int64_t count) { return Duration{count}; }
  [[nodiscard]] static Duration ns(double v) { return from_scaled(v * 1e3); }
  [[nodiscard]] static Duration us(double v) { return from_scaled(v * 1e6); }
  [[nodiscard]] static Duration ms(double v) { return from_scaled(v * 1e9); }
  /// Nearest picosecond; saturates at max() beyond the clock's range (checked once by whoever takes user input).
  [[nodiscard]] static Duration seconds(double v) { return from_scaled(v * 1e12); }
  [[nodiscard]] static constexpr Duration max() { return Duration{std::numeric_limits<std::int64_t>::max()}; }

  [[nodiscard]] constexpr std::int64_t count_ps() const { return ps_; }
  /// For printing and ratios only: loses picoseconds beyond about 9,007 s.
  [[nodiscard]] constexpr double in_seconds() const { return static_cast<double>(ps_) * 1e-12; }

  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration& operator+=(Duration o) {
    ps_ += o.ps_;
    return *this;
  }
  constexpr Duration& operator-=(Duration o) {
    ps_ -= o.ps_;
    return *this;
  }
  friend constexpr Duration operator+(Duration a, Duration b) { return a += b; }
  friend constexpr Duration operator-(Duration a, Duration b) { return a -= b; }
  friend constexpr Duration operator*(Duration a, std::int64_t n) { return Duration{a.ps_ * n}; }
  friend constexpr Duration operator*(std::int64_t n, Duration a) { return a * n; }
  friend constexpr double operator/(Duration a, Duration b) {
    return static_cast<double>(a.ps_) / static_cast<double>(b.ps_);
  }
  /// Scaled by a dimensionless factor, to the nearest picosecond.
  [[nodiscard]] Duration scaled(double factor) const { return from_scaled(static_cast<double>(ps_) * factor); }

 private:
  constexpr explicit Duration(std::int64_t ps) : ps_{ps} {}
  [[nodiscard]] static Duration from_scaled(double ps) {
    if (ps >= 9.2e18) return max();
    if (ps <= -9.2e18) return Duration{std::numeric_limits<std::int64_t>::min()};
    return Duration{std::llround(ps)};
  }
  std::int64_t ps_ = 0;
};

/// A point on the simulated clock; zero is the start of the run.
class Time {
 public:
  constexpr Time() = default;
  [[nodiscard]] static constexpr Time zero() { return Time{}; }
  [[nodiscard]] static constexpr Time at(Duration since_start) { return Time{since_start}; }
  [[nodiscard]] static constexpr Time never() { return Time{Duration::max()}; }

  [[nodiscard]] constexpr Duration since_start() const { return d_; }
  [[nodiscard]] constexpr std::int64_t count_ps() const { return d_.count_ps(); }

  constexpr auto operator<=>(const Time&) const = default;
  friend constexpr Time operator+(Time t, Duration d) { return Time{t.d_ + d}; }
  friend constexpr Time operator+(Duration d, Time t) { return t + d; }
  friend constexpr Time operator-(Time t, Duration d) { return Time{t.d_ - d}; }
  friend constexpr Duration operator-(Time a, Time b) { return a.d_ - b.d_; }
  constexpr Time& operator+=(Duration d) {
    d_ += d;
    return *this;
  }

 private:
  constexpr explicit Time(Duration d) : d_{d} {}
  Duration d_;
};

/// Common arithmetic of the double-valued quantities; Derived is the quantity itself.
template <class Derived>
class Quantity {
 public:
  constexpr auto operator<=>(const Quantity&) const = default;
  friend constexpr Derived operator+(Derived a, Derived b) { return Derived::raw(a.v_ + b.v_); }
  friend constexpr Derived operator-(Derived a, Derived b) { return Derived::raw(a.v_ - b.v_); }
  friend constexpr Derived operator*(Derived a, double f) { return Derived::raw(a.v_ * f); }
  friend constexpr Derived operator*(double f, Derived a) { return a * f; }
  friend constexpr Derived operator/(Derived a, double f) { return Derived::raw(a.v_ / f); }
  friend constexpr double operator/(Derived a, Derived b) { return a.v_ / b.v_; }
  Derived& operator+=(Derived o) {
    v_ += o.v_;
    return static_cast<Derived&>(*this);
  }

 protected:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double v) : v_{v} {}
  double v_ = 0.0;
};

/// An amount of data, bytes.
class Bytes : public Quantity<Bytes> {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(double bytes) : Quantity{bytes} {}
  [[nodiscard]] static constexpr Bytes raw(double v) { return Bytes{v}; }
  [[nodiscard]] constexpr double count() const { return v_; }
};

/// A data rate of one direction, bytes per second.
class Bandwidth : public Quantity<Bandwidth> {
 public:
  constexpr Bandwidth() = default;
  [[nodiscard]] static constexpr Bandwidth bytes_per_s(double v) { return Bandwidth{v}; }
  [[nodiscard]] static constexpr Bandwidth gbit_per_s(double v) { return Bandwidth{v * 1.25e8}; }
  [[nodiscard]] static constexpr Bandwidth raw(double v) { return Bandwidth{v}; }
  [[nodiscard]] constexpr double bytes_per_s() const { return v_; }

 private:
  constexpr explicit Bandwidth(double v) : Quantity{v} {}
};

/// An amount of arithmetic, floating-point operations.
class Flop : public Quantity<Flop> {
 public:
  constexpr Flop() = default;
  constexpr explicit Flop(double flop) : Quantity{flop} {}
  [[nodiscard]] static constexpr Flop raw(double v) { return Flop{v}; }
  [[nodiscard]] constexpr double count() const { return v_; }
};

/// Floating-point operations per second.
class FlopRate : public Quantity<FlopRate> {
 public:
  constexpr FlopRate() = default;
  [[nodiscard]] static constexpr FlopRate flop_per_s(double v) { return FlopRate{v}; }
  [[nodiscard]] static constexpr FlopRate raw(double v) { return FlopRate{v}; }
  [[nodiscard]] constexpr double flop_per_s() const { return v_; }

 private:
  constexpr explicit FlopRate(double v) : Quantity{v} {}
};

[[nodiscard]] inline Duration operator/(Bytes b, Bandwidth r) { return Duration::seconds(b.count() / r.bytes_per_s()); }
[[nodiscard]] inline Duration operator/(Flop f, FlopRate r) { return Duration::seconds(f.count() / r.flop_per_s()); }

inline namespace literals {
constexpr Duration operator""_ps(unsigned long long v) { return Duration::ps(static_cast<std::int64_t>(v)); }
constexpr Duration operator""_ns(unsigned long long v) { return Duration::ps(static_cast<std::int64_t>(v) * 1'000); }
constexpr Duration operator""_us(unsigned long long v) { return Duration::ps(static_cast<std::int64_t>(v) * 1'000'000); }
constexpr Duration operator""_ms(unsigned long long v) { return Duration::ps(static_cast<std::int64_t>(v) * 1'000'000'000); }
constexpr Duration operator""_s(unsigned long long v) {
  return Duration::ps(static_cast<std::int64_t>(v) * 1'000'000'000'000);
}
}  // namespace literals

}  // namespace traingraph::sim
