// The report folder of a sweep.
#pragma once

#include "report/results.h"

namespace phasor {

/// Writes tables.md, tables.csv, tables.tex, report.html and the figures as *.svg to
/// <folder>/report. The bytes depend on the JSON of the folder alone.
void write_report(const Results& results);

}  // namespace phasor
