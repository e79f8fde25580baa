// Ids are types, and an IdVector is indexed by one of them only.
#include "sim/ids.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace traingraph::sim {
namespace {

template <class Vector, class Index>
concept IndexedBy = requires(Vector v, Index i) { v[i]; };

using Names = IdVector<LinkId, std::string>;

static_assert(IndexedBy<Names, LinkId>);
static_assert(!IndexedBy<Names, RankId> && !IndexedBy<Names, std::size_t> && !IndexedBy<Names, int>);
static_assert(!std::is_convertible_v<LinkId, RankId> && !std::is_convertible_v<LinkId, std::uint32_t>);
static_assert(!std::is_convertible_v<int, LinkId>);
static_assert(sizeof(LinkId) == 4);

TEST(Ids, PushingGivesTheIdBack) {
  Names names;
  EXPECT_TRUE(names.empty());
  const LinkId first = names.push_back("a");
  const LinkId second = names.push_back("b");
  EXPECT_EQ(index(first), 0U);
  EXPECT_EQ(index(second), 1U);
  EXPECT_EQ(names[second], "b");
  names[first] = "c";
  EXPECT_EQ(names[first], "c");
  EXPECT_EQ(names.size(), 2U);
}

TEST(Ids, ContainsTellsWhatExists) {
  const Names names(3, "x");
  EXPECT_TRUE(names.contains(LinkId{2}));
  EXPECT_FALSE(names.contains(LinkId{3}));
}

TEST(Ids, FlagsAreVectorsToo) {
  IdVector<RankId, bool> seen(4, false);
  seen[RankId{2}] = true;
  EXPECT_TRUE(seen[RankId{2}]);
  EXPECT_FALSE(seen[RankId{1}]);
}

}  // namespace
}  // namespace traingraph::sim
