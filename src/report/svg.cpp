#include "report/svg.h"

#include <algorithm>
#include <array>

#include "report/markdown.h"
#include "report/table.h"

namespace phasor {
namespace {

constexpr const char* kFont = "system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif";

}  // namespace

std::string svg_number(double value) {
  std::string text = fixed_text(value, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string svg_text(double x, double y, std::string_view text, const TextStyle& style) {
  constexpr const char* kAnchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  return "<text x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\" font-size=\"" +
         svg_number(style.size) + "\" fill=\"" + style.fill + "\"" +
         kAnchors[static_cast<int>(style.anchor)] + (style.bold ? " font-weight=\"600\"" : "") +
         ">" + xml_text(text) + "</text>";
}

std::string svg_line(double x1, double y1, double x2, double y2, const char* stroke,
                     const char* more) {
  return "<line x1=\"" + svg_number(x1) + "\" y1=\"" + svg_number(y1) + "\" x2=\"" +
         svg_number(x2) + "\" y2=\"" + svg_number(y2) + "\" stroke=\"" + stroke + "\"" + more +
         "/>";
}

double svg_text_width(std::string_view text, double size) {
  const auto characters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  });
  return 0.58 * size * static_cast<double>(characters);
}

LineStyle line_style(std::size_t index) {
  // Colours of Okabe and Ito, told apart with every kind of colour vision.
  constexpr std::array kColours{"#0072B2", "#D55E00", "#009E73", "#B0498A",
                                "#8A6D00", "#3C9BD1", "#000000", "#7A7A7A"};
  constexpr std::array kDashes{"", "6 2.5", "2 2", "8 2 2 2"};
  return {kColours[index % kColours.size()], kDashes[index % kDashes.size()],
          static_cast<int>(index % 4)};
}

std::string svg_marker(double x, double y, const LineStyle& style) {
  const std::string fill = std::string("\" fill=\"") + style.colour + "\"/>";
  const auto point = [](double px, double py) { return svg_number(px) + "," + svg_number(py); };
  switch (style.marker) {
    case 0:
      return "<circle cx=\"" + svg_number(x) + "\" cy=\"" + svg_number(y) + "\" r=\"2.6" + fill;
    case 1:
      return "<rect x=\"" + svg_number(x - 2.4) + "\" y=\"" + svg_number(y - 2.4) +
             "\" width=\"4.8\" height=\"4.8" + fill;
    case 2:
      return "<polygon points=\"" + point(x, y - 3.4) + " " + point(x + 3.2, y + 2.4) + " " +
             point(x - 3.2, y + 2.4) + fill;
    default:
      return "<polygon points=\"" + point(x, y - 3.5) + " " + point(x + 3.5, y) + " " +
             point(x, y + 3.5) + " " + point(x - 3.5, y) + fill;
  }
}

std::string svg_swatch(double x, double y, const LineStyle& style) {
  const std::string more =
      " stroke-width=\"2\" stroke-dasharray=\"" + std::string(style.dashes) + "\"";
  return svg_line(x, y + 6, x + 30, y + 6, style.colour, more.c_str()) +
         svg_marker(x + 15, y + 6, style);
}

std::string svg_document(double width, double height, std::string_view title,
                         std::string_view content, bool standalone) {
  const std::string w = svg_number(width), h = svg_number(height);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + w + " " + h +
                    "\" role=\"img\" aria-label=\"" + xml_text(title) + "\" font-family=\"" +
                    kFont + "\"";
  if (standalone) out += " width=\"" + w + "\" height=\"" + h + "\"";
  out += ">";
  if (standalone) out += "<rect width=\"" + w + "\" height=\"" + h + "\" fill=\"#fff\"/>\n";
  return out.append(content) + "</svg>";
}

}  // namespace phasor
