#include "bench/timing.h"

#include <omp.h>

#include <algorithm>
#include <chrono>

#include "kernels/peak.h"

namespace phasor::bench {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double part) {
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.25), at(0.75), values.back()};
}

double peak_rate(kernels::KernelSet set, int threads, double seconds) {
  constexpr kernels::Index kRounds = 20000;
  double flops = 0;
  const double start = now();
#pragma omp parallel num_threads(threads) reduction(+ : flops)
  {
    while (now() - start < seconds) flops += kernels::fma_loop(set, kRounds);
  }
  return flops / (now() - start);
}

std::vector<double> interleave(std::vector<Workload>& workloads, kernels::KernelSet set,
                               int threads, double seconds) {
  constexpr double kPeakWindow = 0.01;
  for (Workload& workload : workloads) workload.run();
  peak_rate(set, threads, kPeakWindow);
  std::vector<double> peaks;
  const double end = now() + seconds;
  do {
    peaks.push_back(peak_rate(set, threads, kPeakWindow));
    for (Workload& workload : workloads) {
      const double start = now();
      const double amount = workload.run();
      workload.rates.push_back(amount / (now() - start));
    }
  } while (now() < end);
  return peaks;
}

}  // namespace phasor::bench
