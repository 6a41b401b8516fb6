// What a sweep will cost, before it runs.
#pragma once

#include "sweep/plan.h"

namespace phasor {

/// Bytes that a cell needs beyond the data set, on `threads` threads: weights, momentum, gradients
/// of the lanes, prepared convolutions, and each thread's tape over one micro-batch.
double memory_estimate(const PlannedCell& cell, int threads);

/// Floating point operations per second of training this cell on one thread, by running steps of it
/// on made-up images for about a second (at least one step after a first one that is not counted).
double measured_speed(const PlannedCell& cell, kernels::KernelSet set);

}  // namespace phasor
