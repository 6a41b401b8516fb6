// One convolution as conv2d and linear use it: which kernels, which packed weights, what scratch.
#pragma once

#include "autograd/conv.h"
#include "phasor/autograd.h"

namespace phasor::autograd {

/// A convolution of this pass; kept on the tape for the way back.
template <class T>
struct ConvCall {
  kernels::ConvShape shape;
  kernels::ConvPlan<T> plan;
  const T* packed_forward = nullptr;  // null: packed in scratch when needed
  const T* packed_backward_data = nullptr;
  T* gradient_sum = nullptr;
};

/// The kernels for `shape`: those that the weight leaf carries where they fit, direct ones else.
template <class T>
ConvCall<T> conv_call(const Tape& tape, const kernels::ConvShape& shape, const Node& weights);

/// y = x * weights.
template <class T>
void conv_forward(Tape& tape, const ConvCall<T>& call, const T* x, const T* weights, T* y);

/// Adds the gradients of `node`, whose inputs 0 and 1 are x and the weights.
template <class T>
void conv_backward(Tape& tape, const Node& node, const ConvCall<T>& call);

}  // namespace phasor::autograd
