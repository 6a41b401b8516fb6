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
#pragma once

#include "core/rounding.h"
#include "kernels/kernels.h"

namespace phasor::kernels {

struct NarrowNorm {
  NormRows rows;
  NumberFormat format;
  bool rescue;
};

/// One row, measured. It refers to the norm and to x [positions, channels].
class NarrowRow {
 public:
  NarrowRow(const NarrowNorm& norm, const float* x);
  /// As save() left it.
  NarrowRow(const NarrowNorm& norm, const float* x, const float* saved);

  static constexpr Index kSaved = 4;
  void save(float* saved) const;

  /// S; of the scaled row where it was rescued.
  double statistic() const { return statistic_; }
  /// How often two times S is too large for that: S of x is statistic() / 2^exponent().
  int exponent() const { return x_exponent_ + e_exponent_; }

  double normalised(Index i) const;       ///< h_i
  double slope(Index i) const;            ///< dS/dx_i times n (P for phasors)
  double over_statistic(double a) const;  ///< a / S

 private:
  void scale_by(int x_exponent, int e_exponent);
  double input(Index i) const { return arithmetic_.round(x_[i] * x_scale_); }
  double element(Index i) const;
  double modulus(Index first) const;
  void measure();
  void rescue();

  const NormRows& rows_;
  Arithmetic arithmetic_;
  bool rescue_;
  const float* x_;
  int x_exponent_ = 0, e_exponent_ = 0;
  double x_scale_ = 1, e_scale_ = 1;  // 2^exponent
  double eps_ = 0;                    // scaled and rounded
  double mean_ = 0, statistic_ = 0;
};

/// As the functions of the table; `saved` has NarrowRow::kSaved numbers for a row.
void narrow_norm_forward(const NarrowNorm& norm, const NormForward<float>& a);
void narrow_norm_backward(const NarrowNorm& norm, const NormBackward<float>& a);

}  // namespace phasor::kernels
