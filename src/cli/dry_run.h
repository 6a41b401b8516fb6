// --dry-run: what a sweep would do, and what it would cost.
#pragma once

#include <string>
#include <vector>

#include "sweep/plan.h"

namespace phasor {

/// The selected cells with parameters, FLOPs, memory and time. Time is by about a second of
/// measured training steps for each network of the plan, on one thread; `finished` cells cost
/// nothing.
std::string dry_run_text(const Plan& plan, const std::vector<std::size_t>& cells,
                         const std::vector<bool>& finished, int jobs, int threads);

}  // namespace phasor
