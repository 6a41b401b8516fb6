// A figure: panels side by side with one legend, as part of a page or as a file of its own.
#pragma once

#include <string>
#include <vector>

namespace phasor {

struct Panel {
  std::string title{};  ///< for readers who cannot see it
  double width = 0, height = 0;
  std::string content{};  ///< of an <svg>
};

struct LegendEntry {
  std::string swatch{};  ///< SVG in a box of 30 x 12
  std::string text{};
};

struct Figure {
  std::string name{};  ///< of the file: "loss"
  std::string title{};
  std::vector<std::string> notes{};
  std::vector<LegendEntry> legend{};
  std::vector<Panel> panels{};
  std::size_t columns = 1;
};

/// <figure> with one <svg> per panel: as many columns as there is room for.
std::string figure_html(const Figure& figure);

/// One SVG file with title, legend, panels, notes and `source`.
std::string figure_svg(const Figure& figure, const std::string& source);

}  // namespace phasor
