#include "scenarios/diagnostics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace traingraph::scenarios {
namespace {

const std::vector<std::string> kKeys{"nodes", "nodes_per_rack", "node", "scale_out", "routing", "oversubscription"};

TEST(NearestMatch, FindsTheSlipOfThePen) {
  EXPECT_EQ(nearest("hots", {"hosts", "ports"}), "hosts");            // a letter left out
  EXPECT_EQ(nearest("scaleout", kKeys), "scale_out");                 // a dash left out
  EXPECT_EQ(nearest("scale-out", kKeys), "scale_out");                // the other dash
  EXPECT_EQ(nearest("Scale_Out", kKeys), "scale_out");                // case
  EXPECT_EQ(nearest("oversubcsription", kKeys), "oversubscription");  // neighbours swapped
  EXPECT_EQ(nearest("nods", kKeys), "nodes");
}

TEST(NearestMatch, OffersNothingForAnotherWord) {
  EXPECT_EQ(nearest("bandwidth", kKeys), "");
  EXPECT_EQ(nearest("x", kKeys), "");
  EXPECT_EQ(nearest(std::string(100, 'n'), kKeys), "");
  EXPECT_EQ(nearest("node", {}), "");
}

TEST(NearestMatch, WithoutAMatchTheSuggestionListsWhatIsAllowed) {
  EXPECT_EQ(suggestion("nodse", {"nodes", "gpus"}), "; did you mean 'nodes'?");
  EXPECT_EQ(suggestion("speed", {"nodes", "gpus"}), "; allowed: nodes, gpus");
}

Origin file(std::uint32_t line, std::uint32_t column) { return {OriginKind::file, "s.yaml", line, column}; }

TEST(Diagnostics, ListsErrorsByPlaceAndRepeatedOnesOnce) {
  Diagnostics d;
  d.error({OriginKind::override_, "a=1", 0, 0}, "a", "late");
  d.error(file(9, 1), "b", "second");
  d.error(file(2, 5), "c", "first");
  d.error(file(9, 1), "b", "second");
  EXPECT_EQ(d.text(), "s.yaml:2:5: c: first\ns.yaml:9:1: b: second\n--set a=1: a: late");
  EXPECT_THROW(d.check(), ScenarioError);
}

TEST(Diagnostics, AFailedKeyMakesWhatIsAroundAndInsideItUnreliable) {
  Diagnostics d;
  d.error(file(1, 1), "a.b", "wrong");
  EXPECT_TRUE(d.failed("a.b"));
  EXPECT_TRUE(d.failed("a"));
  EXPECT_TRUE(d.failed("a.b.c"));
  EXPECT_TRUE(d.failed("a.b[3].c"));
  EXPECT_FALSE(d.failed("a.bc"));
  EXPECT_FALSE(d.failed("a.c"));
}

TEST(Diagnostics, AfterAHundredLinesCountsTheRest) {
  Diagnostics d;
  for (std::uint32_t i = 1; i <= 250; ++i) d.error(file(i, 1), "", "wrong");
  const std::string text = d.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 100);
  EXPECT_TRUE(text.ends_with("... and 150 more"));
}

}  // namespace
}  // namespace traingraph::scenarios
