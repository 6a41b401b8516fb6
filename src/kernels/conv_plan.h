// Which algorithm computes each pass of one convolution: the written table behind `train.conv`.
#pragma once

#include "kernels/kernels.h"

namespace phasor::kernels {

enum class ConvChoice : std::uint8_t { automatic, direct, winograd };

/// The kernels chosen for the three passes of one convolution, by shape alone, so that the bits of
/// a result do not depend on the machine.
template <class T>
struct ConvPlan {
  const ConvPass<T>* forward = nullptr;
  const ConvPass<T>* backward_data = nullptr;
  const ConvGradient<T>* backward_weights = nullptr;
};

/// Throws a usage error where `choice` is winograd and no pass of any convolution of this table
/// knows it. `direct` and `automatic` always give a plan.
template <class T>
ConvPlan<T> plan_conv(const Table<T>& table, const ConvShape& shape, ConvChoice choice);

}  // namespace phasor::kernels
