#include "report/markdown.h"

#include <algorithm>
#include <charconv>

namespace phasor {

std::string markdown_table(const MarkdownRows& rows) {
  const auto width_of = [](const std::string& text) {
    return std::count_if(text.begin(), text.end(),
                         [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  };
  std::vector<std::ptrdiff_t> widths(rows[0].size(), 3);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  std::string out;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out += '|';
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      const auto space = static_cast<std::size_t>(widths[c] - width_of(rows[r][c]));
      out += ' ' + rows[r][c] + std::string(space, ' ') + " |";
    }
    out += '\n';
    if (r > 0) continue;
    out += '|';
    for (const std::ptrdiff_t width : widths) {
      out += ' ' + std::string(static_cast<std::size_t>(width), '-') + " |";
    }
    out += '\n';
  }
  return out;
}

std::string fixed_text(double value, int digits) {
  char buffer[400];
  return std::string(
      buffer,
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, digits).ptr);
}

}  // namespace phasor
