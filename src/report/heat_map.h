// The map of verdicts: learning rate x batch size, a panel per norm.
#pragma once

#include "report/figure.h"
#include "report/groups.h"

namespace phasor {

/// Every planned cell has its field, with its verdict as colour and as words; one that has no
/// result says so. Panels are norms (and variants), rows learning rates, columns batch sizes.
Figure verdict_map(const std::vector<Group>& groups);

}  // namespace phasor
