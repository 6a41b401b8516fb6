// The limit that kernels are measured against: fused multiply-adds on registers alone.
#pragma once

#include "kernels/kernels.h"

namespace phasor::kernels {

/// Runs `rounds` rounds of independent multiply-add chains in registers with the instructions of
/// `set` (the reference set uses the baseline's) and returns the floating point operations done.
double fma_loop(KernelSet set, Index rounds);

}  // namespace phasor::kernels
