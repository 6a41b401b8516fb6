// Norms of rows whose statistic is computed in a narrow number format, as half-precision code
// does: emulated in double, every partial result rounded. For experiments on numerics; there is one
// implementation for all instruction sets, so its bits are the same on every processor.
//
// What is rounded to the format, for a row x_1 .. x_n and with [a] for a rounded, sums in order
// ((x_1 + x_2) + x_3) + ..., each partial sum rounded:
//   element             e_i = [x_i];  deviation: e_i = [[x_i] - M],  M = [sum [x_i] / n]
//   deviation, root_mean_square
//                       S = [sqrt [[sum [e_i e_i] / n] + [eps]]]
//   mean_pair_modulus   S = [sum m_p / P],  m_p = [sqrt [[[e_2p e_2p] + [e_2p+1 e_2p+1]] + [eps]]]
//   mean_absolute       S = [[sum |e_i| / n] + [eps]]
//   normalised          h_i = [e_i / S]
// The counts n and P are exact. What follows h (gain, bias, skip, ReLU) and the whole way back are
// not narrowed: they are taken in double from the S that was saved and from the same h, and the
// gradient passes through each rounding as through the identity. So a result shows what the format
// does to the statistic, and not what it does to small gradients (which loss scaling is for).
//
// Without rescue that is all: where a square overflows S is infinite and h = 0, where the mean
// overflows or S is 0 there are NaN or infinities, as in plain code. (Only the phasor of modulus 0
// keeps its subgradient 0.) With rescue a row of finite numbers whose S is not finite, or so small
// that its square is subnormal, is redone scaled by its maximum: x by a power of two that brings
// max |x| to [1, 2), then e by another that brings max(|e|, sqrt(eps)) there (mean_absolute:
// max(|e|, eps)), and eps with them; a row whose S is zero even so gives h = 0 and gradient 0, and
// a row with a non-finite number NaN throughout. Both as in the kernels for float32.
// Rescue restores the range, never digits: a sum still stops where its terms fall below its last.
#pragma once

#include "core/rounding.h"
#include "kernels/kernels.h"

namespace phasor::kernels {

struct NarrowNorm {
  NormRows rows;
  NumberFormat format;
  bool rescue;
};

/// Floats of NormForward::saved. Each row has its statistic S and an exponent k, where S of x is
/// S / 2^k (0 unless the row was rescued), its h, and where there are phasors its e / m.
Index narrow_norm_saved_size(const NormRows& rows);

/// As the functions of the table but for `saved`.
void narrow_norm_forward(const NarrowNorm& norm, const NormForward<float>& a);
void narrow_norm_backward(const NarrowNorm& norm, const NormBackward<float>& a);

}  // namespace phasor::kernels
