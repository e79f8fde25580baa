// Charts: ticks at round values, labels that people read, drawings that stay in their frame, and well-formed text.
#include "analysis/plot/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>

namespace traingraph::analysis::plot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Figure one_panel(std::vector<Series> series, Scale scale) {
  return {"title", "note", {{"panel", {"x", scale, std::nullopt}, {"y", scale, std::nullopt}, std::move(series), {}, {}}}};
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(Plot, TicksOfALinearAxisAreRound) {
  EXPECT_THAT(ticks({0, 1}, Scale::linear), ElementsAre(0, 0.2, 0.4, 0.6000000000000001, 0.8, 1));
  EXPECT_THAT(ticks({-30, 95}, Scale::linear), ElementsAre(0, 50));
  EXPECT_THAT(ticks({3, 3}, Scale::linear), ElementsAre(3));
}

TEST(Plot, TicksOfALogarithmicAxisAreDecadesThatFit) {
  EXPECT_THAT(ticks({0.5, 2000}, Scale::logarithmic), ElementsAre(1, 10, 100, 1000));
  EXPECT_LE(ticks({1e-20, 1e40}, Scale::logarithmic).size(), 14U);
}

TEST(Plot, LabelsAreShort) {
  EXPECT_EQ(tick_label(0.2, Scale::linear), "0.2");
  EXPECT_EQ(tick_label(1000, Scale::logarithmic), "1000");
  EXPECT_EQ(tick_label(1e28, Scale::logarithmic), "10²⁸");
  EXPECT_EQ(tick_label(1e-6, Scale::logarithmic), "10⁻⁶");
}

TEST(Plot, EverySeriesIsDrawnAndNamed) {
  const std::string svg =
      to_svg(one_panel({{"first", {{1, 1}, {10, 100}}}, {"second", {{1, 2}, {10, 3}}}}, Scale::logarithmic));
  EXPECT_EQ(count(svg, "<path "), 2U);
  EXPECT_THAT(svg, HasSubstr(">first</text>"));
  EXPECT_THAT(svg, HasSubstr(">second</text>"));
  EXPECT_THAT(svg, HasSubstr("fill=\"#ffffff\""));  // a light background of its own
}

// On a log-log chart from 1 to 100 the point (10, 10) lies in the middle of the frame.
TEST(Plot, ALogarithmicAxisIsLogarithmic) {
  const std::string svg = to_svg(one_panel({{"s", {{1, 1}, {10, 10}, {100, 100}}}}, Scale::logarithmic));
  const std::regex path{R"re(d="M([\d.]+) ([\d.]+) L([\d.]+) ([\d.]+) L([\d.]+) ([\d.]+)")re"};
  std::smatch m;
  ASSERT_TRUE(std::regex_search(svg, m, path));
  EXPECT_NEAR(std::stod(m[3]), (std::stod(m[1]) + std::stod(m[5])) / 2, 0.1);
  EXPECT_NEAR(std::stod(m[4]), (std::stod(m[2]) + std::stod(m[6])) / 2, 0.1);
}

TEST(Plot, WhatCannotBeDrawnInterruptsTheLine) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  const Series broken{"s", {{1, 1}, {2, nan}, {3, 3}, {4, 0}, {5, infinity}, {6, 6}}};
  const std::string svg = to_svg(one_panel({broken}, Scale::logarithmic));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_EQ(count(svg, "<path "), 1U);
  EXPECT_EQ(count(svg.substr(svg.find("<path ")), "M"), 3U);
}

TEST(Plot, NothingLeavesTheDrawing) {
  Figure figure = one_panel({{"s", {{0, -1e9}, {1, 0.5}, {2, 1e9}}}}, Scale::linear);
  figure.panels[0].y.range = AxisRange{0, 1};
  figure.panels[0].vertical = {{1, "inside"}, {77, "outside"}};
  figure.panels[0].horizontal = {{0.5, "level"}, {7, "above"}};
  const std::string svg = to_svg(figure);
  EXPECT_THAT(svg, HasSubstr("inside"));
  EXPECT_THAT(svg, HasSubstr("level"));
  EXPECT_THAT(svg, Not(HasSubstr("outside")));
  EXPECT_THAT(svg, Not(HasSubstr("above")));
  const std::regex coordinate{R"re( [xy][12]?="(-?[\d.]+)")re"};
  for (auto it = std::sregex_iterator(svg.begin(), svg.end(), coordinate); it != std::sregex_iterator(); ++it) {
    EXPECT_GE(std::stod((*it)[1]), 0);
    EXPECT_LE(std::stod((*it)[1]), 960);
  }
}

TEST(Plot, NamesCannotBreakTheText) {
  const std::string svg = to_svg(one_panel({{"a<b & \"c\">", {{1, 1}, {2, 2}}}}, Scale::linear));
  EXPECT_THAT(svg, HasSubstr("a&lt;b &amp; &quot;c&quot;&gt;"));
  EXPECT_EQ(count(svg, "<text "), count(svg, "</text>"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(Plot, EmptyPanelsHaveAxes) {
  const std::string svg = to_svg(one_panel({}, Scale::logarithmic));
  EXPECT_THAT(svg, HasSubstr(">1</text>"));
  EXPECT_EQ(count(svg, "<path "), 0U);
}

TEST(Plot, PanelsStandBelowEachOther) {
  Figure figure = one_panel({{"s", {{0, 0}, {1, 1}}}}, Scale::linear);
  figure.panels.push_back(figure.panels.front());
  EXPECT_THAT(to_svg(figure), HasSubstr("height=\"864\""));
}

}  // namespace
}  // namespace traingraph::analysis::plot
