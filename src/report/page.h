// The report as one HTML page.
#pragma once

#include <string>
#include <vector>

#include "report/figure.h"
#include "report/results.h"

namespace phasor {

/// A page that needs nothing else: style and drawings are within, there is no script. It holds the
/// figures, the tables, the assumptions, the machine, the commands that repeat it, and what is
/// missing. The same results give the same bytes.
std::string report_page(const Results& results, const std::vector<Figure>& figures);

}  // namespace phasor
