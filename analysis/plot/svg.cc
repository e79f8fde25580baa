#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "analysis/markup.h"
#include "analysis/plot/plot.h"

namespace traingraph::analysis::plot {
namespace {

// All lengths in pixels.
constexpr double kWidth = 960;
constexpr double kPanelHeight = 400;
constexpr double kHead = 64;    // title and note of the figure
constexpr double kLeft = 84;    // labels of the y axis
constexpr double kRight = 220;  // legend
constexpr double kTop = 40;     // title of a panel
constexpr double kBottom = 56;  // labels of the x axis
constexpr double kLegendRow = 19;
constexpr double kLegendGap = 16;
constexpr double kKey = 26;        // length of the sample of a line
constexpr double kPadding = 0.04;  // of a linear axis beyond its data

// Colours that remain apart for colour-blind readers: M. Okabe and K. Ito, "Color Universal Design", 2008.
constexpr std::array<std::string_view, 7> kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                   "#E69F00", "#56B4E9", "#000000"};
// After one round of colours the lines change their dashes.
constexpr std::array<std::string_view, 3> kDashes{"none", "7 3", "2 3"};

std::string text_at(double x, double y, std::string_view style, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, escaped_markup(text));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2, style);
}

/// The style of a text that reads upward from its place.
std::string turned(double x, double y, std::string_view style) {
  return fmt::format("{} transform=\"rotate(-90 {:.1f} {:.1f})\"", style, x, y);
}

std::string stroke_of(std::size_t nth) {
  return fmt::format("stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"", kColours[nth % kColours.size()],
                     kDashes[nth / kColours.size() % kDashes.size()]);
}

bool drawable(double value, Scale scale) { return std::isfinite(value) && (scale == Scale::linear || value > 0); }

/// An axis laid over a stretch of pixels.
class Ruler {
 public:
  Ruler(const Axis& axis, AxisRange range, double from, double to)
      : scale_{axis.scale}, range_{range}, from_{from}, to_{to} {}

  double operator()(double value) const {
    return from_ + (to_ - from_) * (place(value) - place(range_.low)) / (place(range_.high) - place(range_.low));
  }
  bool contains(double value) const {
    return drawable(value, scale_) && value >= range_.low * (1 - kSlack) && value <= range_.high * (1 + kSlack);
  }
  AxisRange range() const { return range_; }
  Scale scale() const { return scale_; }

 private:
  static constexpr double kSlack = 1e-9;
  double place(double value) const { return scale_ == Scale::logarithmic ? std::log10(value) : value; }

  Scale scale_;
  AxisRange range_;
  double from_;
  double to_;
};

AxisRange range_of(const Axis& axis, const Panel& panel, double Point::*coordinate) {
  if (axis.range) return *axis.range;
  AxisRange range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const Series& series : panel.series) {
    for (const Point& point : series.points) {
      const double value = point.*coordinate;
      if (!drawable(value, axis.scale)) continue;
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
  }
  if (range.low > range.high) return axis.scale == Scale::logarithmic ? AxisRange{1, 10} : AxisRange{0, 1};
  if (axis.scale == Scale::logarithmic) {
    const double low = std::floor(std::log10(range.low));
    return {std::pow(10.0, low), std::pow(10.0, std::max(low + 1, std::ceil(std::log10(range.high))))};
  }
  const double padding = range.high > range.low ? kPadding * (range.high - range.low) : 1;
  return {range.low - padding, range.high + padding};
}

/// One panel whose upper edge is at `top`.
class PanelDrawing {
 public:
  PanelDrawing(const Panel& panel, double top)
      : panel_{panel},
        top_{top + kTop},
        bottom_{top + kPanelHeight - kBottom},
        right_{kWidth - kRight},
        x_{panel.x, range_of(panel.x, panel, &Point::x), kLeft, right_},
        y_{panel.y, range_of(panel.y, panel, &Point::y), bottom_, top_} {}

  std::string svg() const {
    std::string out = text_at(kLeft, top_ - 12, "font-size=\"15\" font-weight=\"600\"", panel_.title);
    out += grid();
    out += guides();
    for (std::size_t i = 0; i < panel_.series.size(); ++i) out += curve(i);
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}/>\n", kLeft, top_,
                       right_ - kLeft, bottom_ - top_, "fill=\"none\" stroke=\"#444444\"");
    return out + labels() + legend();
  }

 private:
  std::string grid() const {
    std::string out;
    for (const double minor : minor_ticks(x_)) out += line(x_(minor), top_, x_(minor), bottom_, "stroke=\"#f0f0f0\"");
    for (const double minor : minor_ticks(y_)) out += line(kLeft, y_(minor), right_, y_(minor), "stroke=\"#f0f0f0\"");
    for (const double tick : ticks(x_.range(), x_.scale())) {
      out += line(x_(tick), top_, x_(tick), bottom_, "stroke=\"#d0d0d0\"");
      out += text_at(x_(tick), bottom_ + 18, "text-anchor=\"middle\"", tick_label(tick, x_.scale()));
    }
    for (const double tick : ticks(y_.range(), y_.scale())) {
      out += line(kLeft, y_(tick), right_, y_(tick), "stroke=\"#d0d0d0\"");
      out += text_at(kLeft - 8, y_(tick) + 4, "text-anchor=\"end\"", tick_label(tick, y_.scale()));
    }
    return out;
  }

  /// 2 to 9 times each power of ten, unless they would be too many to tell apart.
  static std::vector<double> minor_ticks(const Ruler& ruler) {
    constexpr double kMostDecades = 4;
    constexpr int kBase = 10;
    std::vector<double> values;
    if (ruler.scale() == Scale::linear || std::log10(ruler.range().high / ruler.range().low) > kMostDecades) return values;
    const int low = static_cast<int>(std::floor(std::log10(ruler.range().low)));
    const int high = static_cast<int>(std::ceil(std::log10(ruler.range().high)));
    for (int decade = low; decade < high; ++decade) {
      for (int i = 2; i < kBase; ++i) {
        const double value = i * std::pow(kBase, decade);
        if (ruler.contains(value)) values.push_back(value);
      }
    }
    return values;
  }

  /// Names of vertical guides run along them, those of horizontal ones stand below them.
  std::string guides() const {
    constexpr std::string_view kStyle = "stroke=\"#777777\" stroke-dasharray=\"4 4\"";
    constexpr double kGap = 6;
    std::string out;
    for (const Guide& guide : panel_.vertical) {
      if (!x_.contains(guide.value)) continue;
      const double x = x_(guide.value);
      out += line(x, top_, x, bottom_, kStyle);
      out += text_at(x - kGap, bottom_ - kGap, turned(x - kGap, bottom_ - kGap, "fill=\"#555555\""), guide.label);
    }
    for (const Guide& guide : panel_.horizontal) {
      if (!y_.contains(guide.value)) continue;
      out += line(kLeft, y_(guide.value), right_, y_(guide.value), kStyle);
      out += text_at(kLeft + kGap, y_(guide.value) + 2 * kGap + 1, "fill=\"#555555\"", guide.label);
    }
    return out;
  }

  std::string curve(std::size_t nth) const {
    std::string path;
    bool down = false;
    for (const Point& point : panel_.series[nth].points) {
      if (!x_.contains(point.x) || !y_.contains(point.y)) {
        down = false;
        continue;
      }
      path += fmt::format("{}{:.1f} {:.1f}", down ? " L" : (path.empty() ? "M" : " M"), x_(point.x), y_(point.y));
      down = true;
    }
    if (path.empty()) return {};
    return fmt::format("<path d=\"{}\" fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\" {}/>\n", path,
                       stroke_of(nth));
  }

  std::string labels() const {
    const double middle = (top_ + bottom_) / 2;
    return text_at((kLeft + right_) / 2, bottom_ + 42, "text-anchor=\"middle\"", panel_.x.label) +
           text_at(kLegendRow, middle, turned(kLegendRow, middle, "text-anchor=\"middle\""), panel_.y.label);
  }

  std::string legend() const {
    std::string out;
    double y = top_ + kLegendRow / 2;
    for (std::size_t i = 0; i < panel_.series.size(); ++i) {
      const double x = right_ + kLegendGap;
      out += line(x, y, x + kKey, y, stroke_of(i));
      out += text_at(x + kKey + 8, y + 4, "", panel_.series[i].name);
      y += kLegendRow;
    }
    return out;
  }

  const Panel& panel_;
  double top_;
  double bottom_;
  double right_;
  Ruler x_;
  Ruler y_;
};

}  // namespace

std::string to_svg(const Figure& figure) {
  const double height = kHead + kPanelHeight * static_cast<double>(figure.panels.size());
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222222\">\n"
      "<title>{2}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      kWidth, height, escaped_markup(figure.title));
  out += text_at(kLeft, 28, "font-size=\"19\" font-weight=\"600\"", figure.title);
  out += text_at(kLeft, 48, "fill=\"#555555\"", figure.note);
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    out += PanelDrawing{figure.panels[i], kHead + kPanelHeight * static_cast<double>(i)}.svg();
  }
  return out + "</svg>\n";
}

}  // namespace traingraph::analysis::plot
