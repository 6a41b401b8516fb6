// Means weighted by samples: the figures of an epoch, whatever the sizes of its batches.
#pragma once

#include "train/trainer.h"

namespace phasor {

/// Sums of a loss and an accuracy over samples, in double and in the order of the batches.
struct MetricSums {
  double loss = 0;
  double correct = 0;
  Index samples = 0;

  void add(double mean_loss, double accuracy, Index count) {
    loss += mean_loss * static_cast<double>(count);
    correct += accuracy * static_cast<double>(count);
    samples += count;
  }
  void add(const Metrics& part) { add(part.loss, part.accuracy, part.samples); }

  /// Zero samples give zeros.
  Metrics mean() const {
    if (samples == 0) return {};
    return {loss / static_cast<double>(samples), correct / static_cast<double>(samples), samples};
  }
};

}  // namespace phasor
