// Text for tables.
#pragma once

#include <string>
#include <vector>

namespace phasor {

using MarkdownRows = std::vector<std::vector<std::string>>;

/// A Markdown table whose source is aligned too; the first row is the heading.
std::string markdown_table(const MarkdownRows& rows);

/// `value` with `digits` decimals, in every locale.
std::string fixed_text(double value, int digits);

}  // namespace phasor
