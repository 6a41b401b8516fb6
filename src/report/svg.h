// Pieces of SVG text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace phasor {

/// A coordinate with at most one decimal.
std::string svg_number(double value);

enum class Anchor { start, middle, end };

struct TextStyle {
  double size = 11;
  Anchor anchor = Anchor::start;
  const char* fill = "#222";
  bool bold = false;
};

/// A <text>; `text` is escaped.
std::string svg_text(double x, double y, std::string_view text, const TextStyle& style = {});

std::string svg_line(double x1, double y1, double x2, double y2, const char* stroke,
                     const char* more = "");

/// About how wide `text` is drawn, in units of the drawing.
double svg_text_width(std::string_view text, double size);

/// How the i-th norm is drawn: colour, dashes and marker differ, so that no colour is needed.
struct LineStyle {
  const char* colour;
  const char* dashes;  ///< of stroke-dasharray; empty: solid
  int marker;          ///< 0 circle, 1 square, 2 triangle, 3 diamond
};
LineStyle line_style(std::size_t index);

std::string svg_marker(double x, double y, const LineStyle& style);

/// A short stroke with its marker in a box of 30 x 12, for legends.
std::string svg_swatch(double x, double y, const LineStyle& style);

/// A whole drawing; `content` in a box of width x height.
std::string svg_document(double width, double height, std::string_view title,
                         std::string_view content, bool standalone);

}  // namespace phasor
