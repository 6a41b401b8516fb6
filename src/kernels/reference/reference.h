// The reference kernels: plain loops over float or double. Everything else is compared with them.
// Plain declarations only: files compiled for one instruction set include this too.
#pragma once

#include "kernels/kernels.h"

namespace phasor::kernels::reference {

/// The kernels of one number type.
template <class T>
struct Kernels {
  static const ConvPass<T> conv_forward, conv_backward_data;
  static const ConvGradient<T> conv_gradient;
  static const Table<T> table;
};
extern template struct Kernels<float>;
extern template struct Kernels<double>;

/// Sums in double; each row is scaled by a power of two near its largest element first, so that
/// nothing over- or underflows that need not. A row that holds a non-finite number gives NaN
/// throughout. Where the statistic is zero (a zero row at eps 0) the row gives bias + skip and a
/// zero gradient; a zero phasor at eps 0 gets the subgradient zero.
template <class T>
void norm_forward(const NormRows& shape, const NormForward<T>& a);
template <class T>
void norm_backward(const NormRows& shape, const NormBackward<T>& a);

/// exp and tanh, taken in double and rounded: the same on every processor for float in practice.
template <class T>
void unary(Unary op, Index n, const T* x, T* out);

}  // namespace phasor::kernels::reference
