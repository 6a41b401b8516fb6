// The rule by which long float sums are cut; shared by every set, since it is part of the result.
#pragma once

#include "kernels/kernels.h"

namespace phasor::kernels {

/// A chain of additions over positions restarts after this many.
constexpr Index kChain = 1024;

/// Rows of output pixels that one chain of a weight gradient covers: whole rows, at most 1,024
/// positions (one row where a row alone has more). Rows count over all images of the call.
inline Index rows_per_chain(Index out_w) { return out_w >= kChain ? 1 : kChain / out_w; }

}  // namespace phasor::kernels
