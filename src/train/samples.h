// The data of one cell as batches for its trainer: order and augmentation of every epoch are pure
// functions of the seed, so a cell can go on from any step.
#pragma once

#include <cstdint>

#include "config/config.h"
#include "data/batches.h"
#include "data/dataset.h"
#include "train/trainer.h"

namespace phasor {

/// Holds the position (epoch, batch) that its sources read from: one user at a time, but a source
/// may be read by several threads. Nothing is allocated after construction.
class CellSamples {
 public:
  /// Throws a usage error where an epoch would have no batch. `dataset` must outlive it.
  CellSamples(const Dataset& dataset, const DataConfig& data, const TrainConfig& train);
  CellSamples(const CellSamples&) = delete;
  CellSamples& operator=(const CellSamples&) = delete;

  Index classes() const { return dataset_.classes(); }
  Index test_size() const { return dataset_.count(Split::test); }
  Index steps_per_epoch() const { return plan_.batches(); }

  /// Batch `number` of `epoch`, both from 0. The reference stays; its content changes with the next
  /// call.
  const BatchSource& train_batch(Index epoch, Index number);

  /// Test images `first` to `first + count`, in file order and as they are.
  const BatchSource& test_batch(Index first, Index count);

 private:
  void write(const std::uint8_t* pixels, Crop crop, DType dtype, void* image) const;

  const Dataset& dataset_;
  const BatchPlan plan_;
  Sampler sampler_;
  const PixelTable<float> single_;
  const PixelTable<double> precise_;
  Index epoch_ = -1;  ///< that the sampler stands at
  Index train_first_ = 0, test_first_ = 0;
  BatchSource train_, test_;
};

}  // namespace phasor
