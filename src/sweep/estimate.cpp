#include "sweep/estimate.h"

#include <algorithm>
#include <chrono>

#include "sweep/engine.h"

namespace phasor {
namespace {

constexpr Index kImageNumbers = 32 * 32 * 3;

/// A batch of flat images; steps at learning rate 0 leave the network as it is.
BatchSource flat_batch(Index size) {
  BatchSource batch;
  batch.size = size;
  batch.image = [](Index i, DType dtype, void* image) {
    for (Index k = 0; k < kImageNumbers; ++k) {
      const double value = static_cast<double>((i * 7 + k * 13) % 17) / 8.0 - 1.0;
      if (dtype == DType::float64) {
        static_cast<double*>(image)[k] = value;
      } else {
        static_cast<float*>(image)[k] = static_cast<float>(value);
      }
    }
  };
  batch.label = [](Index i) { return static_cast<std::int32_t>(i % 10); };
  return batch;
}

}  // namespace

double memory_estimate(const PlannedCell& cell, int threads) {
  const Model& model = *cell.model;
  const double number = cell.config.train.dtype == FloatType::float64 ? 8 : 4;
  const double block = static_cast<double>(model.block_size());
  const double lanes = static_cast<double>(cell.config.train.lanes.value);
  double activations = static_cast<double>(kImageNumbers);
  for (const LayerInfo& layer : model.layers())
    activations += static_cast<double>(layer.out.size());
  // A transformed 3x3 kernel has 36 numbers instead of 9, forward and backward.
  const double packed = 8 * block;
  const int copies = number * packed <= static_cast<double>(kOwnWeights) ? threads : 1;
  // A layer's result, its normalised result, and a gradient on the way back.
  constexpr double kCopies = 3;
  const double batch = static_cast<double>(cell.config.train.micro_batch.value);
  return number * (block * (3 + lanes) + copies * packed + threads * batch * activations * kCopies);
}

double measured_speed(const PlannedCell& cell, kernels::KernelSet set) {
  using Clock = std::chrono::steady_clock;
  const std::unique_ptr<Trainer> trainer =
      make_trainer(cell.model, trainer_options(cell.config, set, /*threads=*/1));
  trainer->initialise(0);
  constexpr Index kLargestBatch = 64;
  const BatchSource batch =
      flat_batch(std::min<Index>(cell.config.train.batch_size, kLargestBatch));
  trainer->step(batch, 0.0);
  Index images = 0;
  const auto start = Clock::now();
  std::chrono::duration<double> spent{};
  while (spent.count() < 1) {
    trainer->step(batch, 0.0);
    images += batch.size;
    spent = Clock::now() - start;
  }
  return static_cast<double>(images) * cell.model->training_flops() / spent.count();
}

}  // namespace phasor
