// Does a network with this norm learn at all? The cheapest whole-network question there is.
#pragma once

#include "norms/contract/registry.h"

namespace phasor::check {

inline constexpr int kOverfitImages = 32;
inline constexpr int kOverfitSteps = 200;
inline constexpr double kOverfitLoss = 0.3;  ///< in nats; guessing among 100 classes is 4.6

struct OverfitResult {
  int steps = 0;          ///< taken, at most kOverfitSteps
  double loss = 0;        ///< mean over the images before the last step's update, in nats
  bool same_bits = true;  ///< two threads gave the losses of one, ten steps long
};

/// Trains resnet8 on the first 32 built-in images as one batch (SGD, learning rate 0.05, momentum
/// 0.9, no weight decay, best kernels) until the loss is below 0.3, or non-finite, or 200 steps are
/// over; the first steps by two threads as well. Throws what the norm throws.
OverfitResult overfit(const NormSpec& spec, const NormValues& values = {});

}  // namespace phasor::check
