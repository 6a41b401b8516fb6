// The tables of a sweep as Markdown, CSV and LaTeX.
#pragma once

#include <string>
#include <vector>

#include "report/results.h"
#include "report/table.h"

namespace phasor {

/// The paper's three: standard regime (lr = 0.1), extreme regime (lr >= 0.3), parameter efficiency;
/// between them other learning rates, survival k/n with exact intervals, and paired differences
/// between norms. A row is one configuration over all its seeds; none is left out of a mean. Tables
/// without rows are left out.
std::vector<Table> result_tables(const Results& results);

/// Every cell with a readable file.
Table cell_table(const Results& results);

/// All of it with data set, epochs, seeds, assumptions and what is missing.
std::string tables_markdown(const Results& results);

/// One line per cell, all numbers in full.
std::string tables_csv(const Results& results);

/// The tables of result_tables() for booktabs, to be \input.
std::string tables_latex(const Results& results);

}  // namespace phasor
