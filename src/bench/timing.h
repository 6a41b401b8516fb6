// Interleaved timing: every workload and the multiply-add limit take turns, so that a ratio holds
// when the machine's speed drifts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/kernels.h"

namespace phasor::bench {

/// Seconds of a monotonic clock.
double now();

/// Middle and spread of repeated readings.
struct Spread {
  double median = 0, low = 0, high = 0;  ///< quartiles
  double best = 0;                       ///< maximum
};
Spread spread_of(std::vector<double> values);

/// Something to time: `run` does one window of work and returns the amount done (floating point
/// operations, bytes or images).
struct Workload {
  std::string name;
  std::function<double()> run;
  std::vector<double> rates;  ///< amount per second of each window
};

/// Floating point operations per second of the register-resident loop on `threads` threads at once,
/// in a window of about `seconds`.
double peak_rate(kernels::KernelSet set, int threads, double seconds);

/// Runs every workload and the peak loop in turn for `seconds` in all, after one warm-up round.
/// Returns the peak loop's rates; each workload's are in its `rates`.
std::vector<double> interleave(std::vector<Workload>& workloads, kernels::KernelSet set,
                               int threads, double seconds);

}  // namespace phasor::bench
