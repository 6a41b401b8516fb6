// Tables that compare norms: how many seeds survived, and paired differences.
#pragma once

#include "report/groups.h"
#include "report/table.h"

namespace phasor {

/// k/n with the exact 95% interval for every learning rate and batch size, norms side by side (one
/// below the other where there are many).
Table survival_table(const std::vector<Group>& groups);

/// Differences of accuracies between norms over the seeds that both have finished, for every
/// learning rate and batch size: each norm minus each earlier one, or minus the first where there
/// are many.
Table difference_table(const std::vector<Group>& groups);

/// An accuracy of a finished cell in percent. A cell that ended without one counts as 0: its
/// network gives no answer.
double percent_of(const CellRecord& cell, std::optional<double> CellRecord::*accuracy);

}  // namespace phasor
