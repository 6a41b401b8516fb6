// A table as plain values, and its text in three languages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace phasor {

struct Table {
  std::string title{};                           ///< empty: none
  std::vector<std::string> notes{};              ///< sentences that stand below the title
  std::vector<std::string> heading{};            ///< one entry per column
  std::vector<std::vector<std::string>> rows{};  ///< as long as the heading
  std::size_t words = 1;                         ///< so many first columns are text; others numbers
  std::string name{};                            ///< of the LaTeX label: "standard"
};

/// "## title", notes, Markdown table.
std::string table_markdown(const Table& table);

/// A LaTeX table environment for booktabs; title and notes are its caption. `source` names the
/// sweep in the label.
std::string table_latex(const Table& table, std::string_view source);

/// <section> with heading, notes and table; the table may scroll sideways.
std::string table_html(const Table& table);

/// Text fit for XML and HTML content and attributes: & < > " ' escaped, control characters as
/// spaces, bytes that are no UTF-8 replaced.
std::string xml_text(std::string_view text);

/// Text fit for LaTeX.
std::string latex_text(std::string_view text);

}  // namespace phasor
