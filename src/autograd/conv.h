// What a convolution's weight leaf carries: the algorithms chosen for its passes and the copies of
// the weights that they read, made once per step and shared by all lanes.
#pragma once

#include "kernels/conv_plan.h"

namespace phasor {

/// Node::prepared of a weight leaf [k,k,C_in,C_out]. Without it conv2d packs the weights itself.
template <class T>
struct PreparedConv {
  kernels::ConvShape shape;  ///< n is 0: any number of images
  kernels::ConvPlan<T> plan;
  const T* forward = nullptr;        ///< packed for the forward pass
  const T* backward_data = nullptr;  ///< packed for the gradient of the input
  /// The lane's running sum of the weight gradient (kernels::ConvGradient); null where the plan
  /// adds to the leaf's gradient itself.
  T* gradient_sum = nullptr;
};

}  // namespace phasor
