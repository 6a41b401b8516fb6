// The data of one cell as batches for its trainer: order and augmentation of every epoch are pure
// functions of the seed, so a cell can go on from any step.
#pragma once

#include <cstdint>
#include <memory>

#include "data/dataset.h"
#include "train/trainer.h"

namespace phasor {

struct SampleOptions {
  std::uint64_t seed = 0;
  Index batch_size = 128;
  bool shuffle = true;
  bool augment = true;
  bool drop_last = false;
};

/// Holds the position (epoch, batch) that its sources read from: one user at a time, but a source
/// may be read by several threads. Nothing is allocated after construction.
class CellSamples {
 public:
  /// Throws a usage error where an epoch would have no batch. `dataset` must outlive it.
  CellSamples(const Dataset& dataset, const SampleOptions& options);
  ~CellSamples();
  CellSamples(const CellSamples&) = delete;
  CellSamples& operator=(const CellSamples&) = delete;

  Index classes() const;
  Index test_size() const;
  Index steps_per_epoch() const;

  /// Batch `number` of `epoch`, both from 0. The reference stays; its content changes with the next
  /// call.
  const BatchSource& train_batch(Index epoch, Index number);

  /// Test images `first` to `first + count`, in file order and as they are.
  const BatchSource& test_batch(Index first, Index count);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace phasor
