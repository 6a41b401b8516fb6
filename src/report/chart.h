// One chart: lines and bands over training.
#pragma once

#include <string>
#include <vector>

#include "report/svg.h"

namespace phasor {

struct ChartPoint {
  double x = 0, y = 0;  ///< y NaN: the line is broken here
};

struct ChartLine {
  LineStyle style;
  std::vector<ChartPoint> points{};
  bool thin = false;     ///< a second line of the same norm
  bool markers = false;  ///< at each point
};

/// Between `low` and `high`, which share their places.
struct ChartBand {
  LineStyle style;
  std::vector<ChartPoint> low{}, high{};
};

/// Where a line ends because a number was not finite.
struct ChartMark {
  LineStyle style;
  double x = 0;
  std::string text{};  ///< "NaN"
};

struct Axis {
  double low = 0, high = 1;
  bool log = false;
  bool percent = false;  ///< values in [0, 1], written in percent
};

/// A range that holds the values, rounded so that ticks fit. `log` needs positive values.
Axis axis_for(double least, double most, bool log);

struct Chart {
  std::string title{}, note{};  ///< note: in place of lines, "not run"
  std::string x_label{}, y_label{};
  Axis x{}, y{};
  std::vector<ChartBand> bands{};
  std::vector<ChartLine> lines{};
  std::vector<ChartMark> marks{};
};

inline constexpr double kChartWidth = 340, kChartHeight = 230;

/// The content of an <svg> of that size. Values outside the axes are drawn at their edge.
std::string chart_content(const Chart& chart);

}  // namespace phasor
