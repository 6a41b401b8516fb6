// Curves as small multiples: a panel per learning rate and batch size, a line per norm.
#pragma once

#include <vector>

#include "report/figure.h"
#include "report/groups.h"

namespace phasor {

/// Training loss, accuracies and gradient norm over epochs. Several seeds are their mean with a
/// band from the least to the greatest; where some seed has no number any more, every other is a
/// thin line of its own, and no mean pretends to be of all. Panels of planned cells without a curve
/// say so. Empty where no cell has a curve. Where diagnostics were recorded, also the statistic of
/// the first, the middle and the last norm layer, dead ReLUs and the effective learning rate.
std::vector<Figure> curve_figures(const Results& results, const std::vector<Group>& groups);

}  // namespace phasor
