#include "report/figure.h"

#include <algorithm>

#include "report/svg.h"
#include "report/table.h"

namespace phasor {
namespace {

constexpr double kMargin = 14, kGap = 16, kNoteSize = 11;

std::string translated(double x, double y, const std::string& content) {
  return "<g transform=\"translate(" + svg_number(x) + " " + svg_number(y) + ")\">" + content +
         "</g>\n";
}

/// `text` in lines of at most `width`.
std::vector<std::string> wrapped(const std::string& text, double width, double size) {
  std::vector<std::string> lines{""};
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
    if (!lines.back().empty() && svg_text_width(longer, size) > width)
      lines.push_back(word);
    else
      lines.back() = longer;
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::string figure_html(const Figure& figure) {
  std::string out = "<section>\n<h2>" + xml_text(figure.title) + "</h2>\n<figure>\n";
  for (const std::string& note : figure.notes) {
    out += "<p class=\"note\">" + xml_text(note) + "</p>\n";
  }
  out += "<p class=\"legend\">";
  for (const LegendEntry& entry : figure.legend) {
    out += "<span><svg viewBox=\"0 0 30 12\" width=\"30\" height=\"12\" aria-hidden=\"true\">" +
           entry.swatch + "</svg> " + xml_text(entry.text) + "</span> ";
  }
  double width = 0;
  for (const Panel& panel : figure.panels) width = std::max(width, panel.width);
  out += "</p>\n<div class=\"panels\" style=\"--columns:" + std::to_string(figure.columns) +
         ";--width:" + svg_number(width) + "px\">\n";
  for (const Panel& panel : figure.panels) {
    out += svg_document(panel.width, panel.height, panel.title, panel.content, false) + "\n";
  }
  return out + "</div>\n</figure>\n</section>\n";
}

std::string figure_svg(const Figure& figure, const std::string& source) {
  double panel_width = 0, panel_height = 0;
  for (const Panel& panel : figure.panels) {
    panel_width = std::max(panel_width, panel.width);
    panel_height = std::max(panel_height, panel.height);
  }
  const std::size_t columns = std::max<std::size_t>(1, figure.columns);
  const double inner = std::max(480.0, static_cast<double>(columns) * (panel_width + kGap) - kGap);
  double y = kMargin + 14;
  std::string content = svg_text(kMargin, y, figure.title, {15, Anchor::start, "#111", true});
  y += 10;
  double x = kMargin;
  for (const LegendEntry& entry : figure.legend) {
    const double needed = 36 + svg_text_width(entry.text, kNoteSize) + 18;
    if (x > kMargin && x + needed > kMargin + inner) {
      x = kMargin;
      y += 18;
    }
    content += translated(x, y, entry.swatch);
    content += svg_text(x + 36, y + 10, entry.text, {kNoteSize});
    x += needed;
  }
  y += 28;
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const auto column = static_cast<double>(i % columns), row = static_cast<double>(i / columns);
    content += translated(kMargin + column * (panel_width + kGap), y + row * (panel_height + kGap),
                          figure.panels[i].content);
  }
  const std::size_t rows = (figure.panels.size() + columns - 1) / columns;
  y += static_cast<double>(rows) * (panel_height + kGap);
  std::vector<std::string> notes = figure.notes;
  notes.push_back(source);
  for (const std::string& note : notes) {
    for (const std::string& line : wrapped(note, inner, kNoteSize)) {
      content += svg_text(kMargin, y + 4, line, {kNoteSize, Anchor::start, "#555"});
      y += 15;
    }
  }
  return svg_document(inner + 2 * kMargin, y + 4, figure.title, content, true) + "\n";
}

}  // namespace phasor
