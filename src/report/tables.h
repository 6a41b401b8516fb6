// The tables of a sweep as Markdown and CSV.
#pragma once

#include <string>

#include "report/results.h"

namespace phasor {

/// The standard regime (lr = 0.1), the extreme regime (lr >= 0.3), any other learning rates, the
/// counts of parameters and every cell, with data set, epochs, seeds, assumptions and what is
/// missing. A row is one configuration over all its seeds; none is left out of a mean.
std::string tables_markdown(const Results& results);

/// One line per cell, all numbers in full.
std::string tables_csv(const Results& results);

/// Writes tables.md and tables.csv to <folder>/report.
void write_report(const Results& results);

}  // namespace phasor
