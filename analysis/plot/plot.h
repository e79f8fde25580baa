// Line charts as SVG text, on a light background, with linear or logarithmic axes: a figure is one or more panels below each
// other. No library, no script, no fonts beyond the viewer's own; same values, same bytes.
//
// Points that cannot be drawn (not finite, or not positive on a logarithmic axis) interrupt their line. An axis without a
// range covers its data, on a logarithmic axis out to whole decades.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace traingraph::analysis::plot {

enum class Scale { linear, logarithmic };

struct AxisRange {
  double low = 0;
  double high = 1;
};

struct Axis {
  std::string label;  ///< with its unit
  Scale scale = Scale::linear;
  std::optional<AxisRange> range;
};

struct Point {
  double x = 0;
  double y = 0;
};

/// One line of a panel with an entry in its legend.
struct Series {
  std::string name;
  std::vector<Point> points;
};

/// A line across the panel at one value, with its name beside it.
struct Guide {
  double value = 0;
  std::string label;
};

struct Panel {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series;
  std::vector<Guide> vertical;    ///< at an x
  std::vector<Guide> horizontal;  ///< at a y
};

struct Figure {
  std::string title;
  std::string note;  ///< one line below the title: what is assumed
  std::vector<Panel> panels;
};

[[nodiscard]] std::string to_svg(const Figure& figure);

/// Values at which an axis over `range` gets a labelled tick: 1, 2 or 5 times a power of ten, or whole decades.
[[nodiscard]] std::vector<double> ticks(AxisRange range, Scale scale);
/// "0.25", "20", or on a logarithmic axis "10²⁸" beyond what is short to write.
[[nodiscard]] std::string tick_label(double value, Scale scale);

}  // namespace traingraph::analysis::plot
