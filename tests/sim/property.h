// Property tests: a law, checked on many random cases.
//
// TRAINGRAPH_CASES sets the number of cases (the slow suite: 100000), TRAINGRAPH_SEED the seed of all of them; without it
// the same cases are drawn in every run. Sizes are drawn by rapidcheck, so that a failing case shrinks.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>

namespace traingraph::sim::tests {

[[nodiscard]] inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

/// Fails the running test, with the smallest case found, unless `law` holds on every case.
template <class Law>
void check_property(int cases, Law&& law) {
  rc::detail::TestParams params;
  params.seed = number_from_environment("TRAINGRAPH_SEED", 1);
  params.maxSuccess = static_cast<int>(number_from_environment("TRAINGRAPH_CASES", static_cast<std::uint64_t>(cases)));
  rc::detail::TestMetadata metadata;
  metadata.id = metadata.description = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const auto result = rc::detail::checkTestable(std::forward<Law>(law), metadata, params);
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  ADD_FAILURE() << text.str();
}

/// How many of the cases had a feature; the test that draws them demands a share.
class Coverage {
 public:
  void count(bool has) {
    ++cases_;
    if (has) ++with_;
  }
  [[nodiscard]] double share() const { return cases_ == 0 ? 0.0 : static_cast<double>(with_) / static_cast<double>(cases_); }

 private:
  std::uint64_t cases_ = 0;
  std::uint64_t with_ = 0;
};

/// Reports the shares of all features in the test's record and fails when one is below what is demanded.
inline void demand(const std::string& feature, const Coverage& coverage, double at_least) {
  ::testing::Test::RecordProperty(feature, std::to_string(coverage.share()));
  EXPECT_GE(coverage.share(), at_least) << "share of cases with " << feature;
}

/// A stream of random numbers with its own fixed algorithm (splitmix64), the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_{seed} {}
  [[nodiscard]] std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  /// A whole number in [0, n).
  [[nodiscard]] std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(bits() % n); }
  /// A whole number in [low, high].
  [[nodiscard]] std::uint32_t between(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }
  [[nodiscard]] double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53;
  }
  [[nodiscard]] bool chance(double p) { return uniform(0, 1) < p; }
  template <class List>
  [[nodiscard]] auto pick(const List& list) {
    return *(list.begin() + static_cast<std::ptrdiff_t>(below(static_cast<std::uint32_t>(list.size()))));
  }
  template <class List>
  void shuffle(List& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[below(static_cast<std::uint32_t>(i))]);
  }

 private:
  std::uint64_t state_;
};

/// A seed drawn by rapidcheck; it does not shrink.
[[nodiscard]] inline Dice draw_dice() {
  return Dice{*rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>()))};
}

}  // namespace traingraph::sim::tests
