// The measurements behind phasor-bench. Each returns JSON and prints a table for people.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/conv_plan.h"

namespace phasor::bench {

struct PeakOptions {
  kernels::KernelSet kernels{};
  double seconds = 1;
};
/// The multiply-add limit for 1 to all cores: {"peak": [{"threads", "gflops", ...}]}.
nlohmann::json run_peak(const PeakOptions& options);

struct KernelOptions {
  kernels::KernelSet kernels{};
  double seconds = 0.3;  ///< for each row
  std::string filter;    ///< only rows whose name contains it
};
/// Every convolution shape of the networks by pass and algorithm, and every norm statistic: rate,
/// share of the limit, error by norm against the reference in double.
nlohmann::json run_kernels(const KernelOptions& options);

struct StepOptions {
  kernels::KernelSet kernels{};
  std::vector<std::string> archs{"resnet20"};
  std::vector<std::string> norms;  ///< empty: every built-in norm
  std::vector<long> batch_sizes{128};
  std::vector<int> threads{2};
  std::vector<std::string> convs{"auto"};
  std::optional<long> lanes, micro_batch;  ///< else the written table
  int jobs = 1;                            ///< trainers side by side, each with its threads
  bool composed = false;                   ///< norms without their fused kernels
  double lr = 0;                           ///< 0 keeps `none` from exploding
  double seconds = 4;                      ///< for each group that is interleaved
};
/// Whole training steps (gather, forward, backward, update), all rows of a thread count
/// interleaved:
/// {"peak_gflops", "steps": [{"arch", "norm", "batch_size", "threads", "conv", "images_per_s",
/// ...}]}.
nlohmann::json run_step(const StepOptions& options);

}  // namespace phasor::bench
