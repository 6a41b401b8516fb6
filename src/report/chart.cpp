#include "report/chart.h"

#include <algorithm>
#include <cmath>

#include "config/json_text.h"
#include "core/elementary.h"
#include "report/markdown.h"

namespace phasor {
namespace {

constexpr double kLeft = 44, kRight = 10, kTop = 26, kBottom = 36;
constexpr double kInnerWidth = kChartWidth - kLeft - kRight;
constexpr double kInnerHeight = kChartHeight - kTop - kBottom;

double log10_of(double x) { return portable_log(x) / 2.302585092994045684; }

/// 10^k without the C library, whose pow differs between machines.
double power_of_ten(int k) {
  double out = 1;
  for (int i = 0; i < std::abs(k); ++i) out *= 10;
  return k < 0 ? 1 / out : out;
}

double position(const Axis& axis, double value) {
  const double inside = std::clamp(value, axis.low, axis.high);
  if (axis.log) return log10_of(inside / axis.low) / log10_of(axis.high / axis.low);
  return (inside - axis.low) / (axis.high - axis.low);
}

double x_of(const Chart& chart, double x) { return kLeft + kInnerWidth * position(chart.x, x); }
double y_of(const Chart& chart, double y) {
  return kTop + kInnerHeight * (1 - position(chart.y, y));
}

/// 1, 2 or 5 times a power of ten such that about `count` steps fill the range.
double linear_step(double range, int count) {
  const double wanted = range / count;
  const double base = power_of_ten(static_cast<int>(std::floor(log10_of(wanted))));
  for (const double m : {1.0, 2.0, 5.0}) {
    if (m * base >= wanted * (1 - 1e-9)) return m * base;
  }
  return 10 * base;
}

std::vector<double> linear_ticks(const Axis& axis) {
  const double step = linear_step(axis.high - axis.low, 4);
  std::vector<double> ticks;
  for (double k = std::ceil(axis.low / step - 1e-9); k * step <= axis.high + 1e-9 * step; k += 1) {
    ticks.push_back(k == 0 ? 0 : k * step);  // ceil may give -0
  }
  return ticks;
}

std::vector<double> log_ticks(const Axis& axis) {
  const double decades = log10_of(axis.high / axis.low);
  const int first = static_cast<int>(std::floor(log10_of(axis.low) + 1e-9));
  const int stride = decades > 5 ? static_cast<int>(std::ceil(decades / 5)) : 1;
  std::vector<double> ticks;
  for (int k = first; power_of_ten(k) <= axis.high * (1 + 1e-9); k += stride) {
    const std::vector<double> steps = decades < 0.8   ? std::vector<double>{1, 2, 3, 4, 5, 6, 8}
                                      : decades < 2.2 ? std::vector<double>{1, 2, 5}
                                                      : std::vector<double>{1};
    for (const double m : steps) {
      const double tick = m * power_of_ten(k);
      if (tick >= axis.low * (1 - 1e-9) && tick <= axis.high * (1 + 1e-9)) ticks.push_back(tick);
    }
  }
  return ticks;
}

/// Ticks are small multiples of powers of ten: three digits write them.
std::string tick_text(const Axis& axis, double value) {
  const double shown = axis.percent ? 100 * value : value;
  if (shown != 0 && (std::fabs(shown) >= 1e4 || std::fabs(shown) < 1e-3)) {
    return std::string("1e") + std::to_string(static_cast<int>(std::floor(log10_of(shown) + 0.01)));
  }
  std::string text = fixed_text(shown, 4);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return axis.percent ? text + "%" : text;
}

std::string grid(const Chart& chart) {
  std::string out;
  for (const double tick : chart.y.log ? log_ticks(chart.y) : linear_ticks(chart.y)) {
    const double y = y_of(chart, tick);
    out += svg_line(kLeft, y, kChartWidth - kRight, y, "#e3e3e3");
    out += svg_text(kLeft - 5, y + 3.5, tick_text(chart.y, tick), {10, Anchor::end, "#555"});
  }
  for (const double tick : linear_ticks(chart.x)) {
    const double x = x_of(chart, tick);
    out += svg_line(x, kTop + kInnerHeight, x, kTop + kInnerHeight + 4, "#888");
    out += svg_text(x, kTop + kInnerHeight + 15, tick_text(chart.x, tick),
                    {10, Anchor::middle, "#555"});
  }
  out += svg_line(kLeft, kTop + kInnerHeight, kChartWidth - kRight, kTop + kInnerHeight, "#888");
  out += svg_text(kLeft + kInnerWidth / 2, kChartHeight - 5, chart.x_label,
                  {10, Anchor::middle, "#555"});
  return out + "\n";
}

std::string coordinates(const Chart& chart, const ChartPoint& point) {
  return svg_number(x_of(chart, point.x)) + " " + svg_number(y_of(chart, point.y));
}

std::string line(const Chart& chart, const ChartLine& line) {
  std::string path, markers;
  bool pen_down = false;
  for (const ChartPoint& point : line.points) {
    if (std::isnan(point.y)) {
      pen_down = false;
      continue;
    }
    path.append(pen_down ? "L" : "M").append(coordinates(chart, point));
    if (line.markers) {
      markers += svg_marker(x_of(chart, point.x), y_of(chart, point.y), line.style);
    }
    pen_down = true;
  }
  if (path.empty()) return "";
  std::string out = "<path d=\"" + path + "\" fill=\"none\" stroke=\"" + line.style.colour + "\"";
  out += line.thin ? " stroke-width=\"1\" stroke-opacity=\".75\"" : " stroke-width=\"1.8\"";
  if (*line.style.dashes != '\0') {
    out += std::string(" stroke-dasharray=\"") + line.style.dashes + "\"";
  }
  return out + " stroke-linejoin=\"round\"/>" + markers + "\n";
}

std::string band(const Chart& chart, const ChartBand& band) {
  std::string path;
  for (const ChartPoint& point : band.high) {
    path.append(path.empty() ? "M" : "L").append(coordinates(chart, point));
  }
  for (auto point = band.low.rbegin(); point != band.low.rend(); ++point) {
    path.append("L").append(coordinates(chart, *point));
  }
  if (path.empty()) return "";
  return "<path d=\"" + path + "Z\" fill=\"" + band.style.colour + "\" fill-opacity=\".16\"/>\n";
}

/// A cross at the upper edge with its text; texts of crosses that are close go below each other.
std::string marks(const Chart& chart) {
  std::string out;
  double row = 0;
  for (const ChartMark& mark : chart.marks) {
    const double x = x_of(chart, mark.x), y = kTop + 7 + 14 * row;
    row += 1;
    const std::string more = " stroke-width=\"2\"";
    out += svg_line(x - 4, y - 4, x + 4, y + 4, mark.style.colour, more.c_str()) +
           svg_line(x - 4, y + 4, x + 4, y - 4, mark.style.colour, more.c_str());
    const bool left = x > kLeft + 0.7 * kInnerWidth;
    out += svg_text(left ? x - 7 : x + 7, y + 3.5, mark.text,
                    {10, left ? Anchor::end : Anchor::start, mark.style.colour, true});
  }
  return out;
}

}  // namespace

Axis axis_for(double least, double most, bool log) {
  Axis axis{least, most, log, false};
  if (log) {
    // Room above and below; one factor at least, so that flat lines have a scale.
    axis.low = least / 1.05;
    axis.high = std::max(most * 1.05, axis.low * 2);
    return axis;
  }
  if (!(most > least)) axis.high = least + 1;
  const double step = linear_step(axis.high - axis.low, 4);
  axis.low = std::floor(axis.low / step + 1e-9) * step;
  axis.high = std::ceil(axis.high / step - 1e-9) * step;
  return axis;
}

std::string chart_content(const Chart& chart) {
  std::string out = svg_text(kLeft, 12, chart.title, {11.5, Anchor::start, "#111", true});
  out += svg_text(kChartWidth - kRight, 12, chart.y_label, {10, Anchor::end, "#555"});
  if (!chart.note.empty()) {
    out += "<rect x=\"44\" y=\"26\" width=\"" + svg_number(kInnerWidth) + "\" height=\"" +
           svg_number(kInnerHeight) + "\" fill=\"none\" stroke=\"#bbb\" stroke-dasharray=\"4 3\"/>";
    return out + svg_text(kLeft + kInnerWidth / 2, kTop + kInnerHeight / 2, chart.note,
                          {12, Anchor::middle, "#555"});
  }
  out += grid(chart);
  for (const ChartBand& one : chart.bands) out += band(chart, one);
  for (const ChartLine& one : chart.lines) out += line(chart, one);
  return out + marks(chart);
}

}  // namespace phasor
