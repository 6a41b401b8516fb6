#include "report/table.h"

#include "report/markdown.h"

namespace phasor {
namespace {

/// Length of the valid UTF-8 sequence at the start of `text`, or 0.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool surrogate = lead == 0xED && byte(1) >= 0xA0;
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool too_large = lead == 0xF4 && byte(1) >= 0x90;
  return surrogate || overlong || too_large ? 0 : length;
}

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? '/' : c == '\n' ? ' ' : c;
  return out;
}

const char* latex_escape(char c) {
  switch (c) {
    case '&':
      return "\\&";
    case '%':
      return "\\%";
    case '$':
      return "\\$";
    case '#':
      return "\\#";
    case '_':
      return "\\_";
    case '{':
      return "\\{";
    case '}':
      return "\\}";
    case '~':
      return "\\textasciitilde{}";
    case '^':
      return "\\textasciicircum{}";
    case '\\':
      return "\\textbackslash{}";
    case '<':
      return "\\textless{}";
    case '>':
      return "\\textgreater{}";
    case '|':
      return "\\textbar{}";
    case '"':
      return "\\textquotedbl{}";
    default:
      return nullptr;
  }
}

/// What a sequence of several bytes is called in LaTeX; others pass through (UTF-8 sources are the
/// default of LaTeX since 2018).
std::string latex_symbol(std::string_view sequence) {
  if (sequence == "±") return "$\\pm$";
  if (sequence == "–") return "--";
  if (sequence == "−") return "$-$";
  if (sequence == "×") return "$\\times$";
  if (sequence == "≥") return "$\\geq$";
  if (sequence == "σ") return "$\\sigma$";
  return std::string(sequence);
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length != 1) {
      out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
      text.remove_prefix(length == 0 ? 1 : length);
      continue;
    }
    const char c = text[0];
    text.remove_prefix(1);
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else if ((c >= 0 && c < 0x20 && c != '\n') || c == 0x7F)
      out += ' ';
    else
      out += c;
  }
  return out;
}

std::string latex_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length > 1) {
      out += latex_symbol(text.substr(0, length));
    } else if (length == 1) {
      const char c = text[0];
      const char* escape = latex_escape(c);
      if (escape != nullptr)
        out += escape;
      else if (c >= 0x20 && c != 0x7F)
        out += c;
      else
        out += ' ';
    } else {
      out += '?';
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string table_markdown(const Table& table) {
  std::string out;
  if (!table.title.empty()) out += "## " + table.title + "\n\n";
  for (const std::string& note : table.notes) out += note + "\n\n";
  MarkdownRows rows{table.heading};
  for (const auto& row : table.rows) {
    rows.emplace_back();
    for (const std::string& text : row) rows.back().push_back(markdown_cell(text));
  }
  return out + markdown_table(rows);
}

std::string table_latex(const Table& table, std::string_view source) {
  const std::string columns =
      std::string(table.words, 'l') + std::string(table.heading.size() - table.words, 'r');
  std::string caption = latex_text(table.title) + ".";
  for (const std::string& note : table.notes) caption.append(" ").append(latex_text(note));
  const auto line = [](const std::vector<std::string>& row) {
    std::string out;
    for (const std::string& text : row)
      out.append(out.empty() ? "    " : " & ") += latex_text(text);
    return out.append(" \\\\\n");
  };
  std::string out = "\\begin{table}[tbp]\n  \\centering\n  \\caption{" + caption + "}\n";
  out += "  \\label{tab:" + std::string(source) + "-" + table.name + "}\n";
  out += "  \\begin{tabular}{@{}" + columns + "@{}}\n    \\toprule\n" + line(table.heading);
  out += "    \\midrule\n";
  for (const auto& row : table.rows) out += line(row);
  return out + "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n";
}

std::string table_html(const Table& table) {
  std::string out = "<section>\n";
  if (!table.title.empty()) out += "<h2>" + xml_text(table.title) + "</h2>\n";
  for (const std::string& note : table.notes)
    out += "<p class=\"note\">" + xml_text(note) + "</p>\n";
  out += "<div class=\"scroll\"><table>\n<thead><tr>";
  const auto kind = [&](std::size_t column) { return column < table.words ? "" : " class=\"n\""; };
  for (std::size_t c = 0; c < table.heading.size(); ++c) {
    out += std::string("<th") + kind(c) + " scope=\"col\">" + xml_text(table.heading[c]) + "</th>";
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) {
      out += std::string("<td") + kind(c) + ">" + xml_text(row[c]) + "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table></div>\n</section>\n";
}

}  // namespace phasor
