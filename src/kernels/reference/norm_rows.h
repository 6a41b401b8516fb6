// The formulas of norms of rows, for any way to measure a row. With h the normalised row, S its
// statistic and n elements in a row, P = n/2 phasors:
//   out = relu(gain h + bias + skip),   g = dy where out > 0,   d = gain g,   dot = sum d h
//   dgain = sum over rows of g h,   dbias = sum over rows of g,   dskip = g
//   deviation           dx = (d - sum(d)/n - h dot/n) / S
//   root_mean_square    dx = (d - h dot/n) / S
//   mean_pair_modulus   dx = (d - v dot/P) / S,      v = z / sqrt(|z|^2 + eps)
//   mean_absolute       dx = (d - sign(x) dot/n) / S
//
// A measured row provides, for the element i of the row:
//   double normalised(Index i)       h_i
//   double slope(Index i)            dS/dx_i times n (times P for phasors): h_i, v_i or sign(x_i)
//   double over_statistic(double a)  a / S
#pragma once

#include <algorithm>

#include "kernels/kernels.h"

namespace phasor::kernels::reference {

template <class T>
double gain_of(const NormRows& shape, const T* gain, Index channel) {
  if (gain == nullptr) return 1;
  return gain[shape.gain_per_pair ? channel / 2 : channel];
}

/// dy after the ReLU's mask.
template <class T>
double masked(const NormRows& shape, const NormBackward<T>& a, Index at) {
  return shape.relu && !(a.out[at] > 0) ? 0.0 : static_cast<double>(a.dy[at]);
}

/// each(i, at, channel) for the elements of row r: i in the row, at in the tensor.
template <class Each>
void over_row(const NormRows& shape, Index r, Each each) {
  const Index start = r * shape.row_size();
  for (Index p = 0, i = 0; p < shape.positions; ++p)
    for (Index c = 0; c < shape.channels; ++c, ++i) each(i, start + i, c);
}

/// out of all rows; `row_at(r)` measures row r and saves what the way back needs.
template <class T, class RowAt>
void apply_rows(const NormRows& shape, const NormForward<T>& a, RowAt row_at) {
  for (Index r = 0; r < shape.rows; ++r) {
    const auto row = row_at(r);
    over_row(shape, r, [&](Index i, Index at, Index c) {
      double v = gain_of(shape, a.gain, c) * row.normalised(i);
      if (a.bias != nullptr) v += a.bias[c];
      if (a.skip != nullptr) v += a.skip[at];
      if (shape.relu && v <= 0) v = 0;
      a.out[at] = static_cast<T>(v);
    });
  }
}

/// Sums of dgain and dbias in double, for as many channels at a time as the stack holds.
template <class T, class RowAt>
void add_parameter_gradients(const NormRows& shape, const NormBackward<T>& a, RowAt row_at) {
  constexpr Index kPanel = 512;
  double gain_sum[kPanel], bias_sum[kPanel];
  for (Index first = 0; first < shape.channels; first += kPanel) {
    const Index count = std::min(kPanel, shape.channels - first);
    std::fill_n(gain_sum, count, 0.0);
    std::fill_n(bias_sum, count, 0.0);
    for (Index r = 0; r < shape.rows; ++r) {
      const auto row = row_at(r);
      for (Index p = 0; p < shape.positions; ++p)
        for (Index c = 0; c < count; ++c) {
          const Index i = p * shape.channels + first + c;
          const double g = masked(shape, a, r * shape.row_size() + i);
          gain_sum[c] += g * row.normalised(i);
          bias_sum[c] += g;
        }
    }
    if (a.dgain != nullptr && shape.gain_per_pair)
      for (Index c = 0; c + 1 < count; c += 2) {
        T& to = a.dgain[(first + c) / 2];
        to = static_cast<T>(to + (gain_sum[c] + gain_sum[c + 1]));
      }
    if (a.dgain != nullptr && !shape.gain_per_pair)
      for (Index c = 0; c < count; ++c)
        a.dgain[first + c] = static_cast<T>(a.dgain[first + c] + gain_sum[c]);
    if (a.dbias != nullptr)
      for (Index c = 0; c < count; ++c)
        a.dbias[first + c] = static_cast<T>(a.dbias[first + c] + bias_sum[c]);
  }
}

/// dx, dskip, dgain and dbias of all rows; `row_at(r)` is row r as it was measured on the way
/// forward.
template <class T, class RowAt>
void backward_rows(const NormRows& shape, const NormBackward<T>& a, RowAt row_at) {
  if (a.dgain != nullptr || a.dbias != nullptr) add_parameter_gradients(shape, a, row_at);
  const auto n = static_cast<double>(shape.row_size());
  const double share = shape.statistic == Statistic::mean_pair_modulus ? n / 2 : n;
  for (Index r = 0; r < shape.rows; ++r) {
    const auto row = row_at(r);
    double sum = 0, dot = 0;
    over_row(shape, r, [&](Index i, Index at, Index c) {
      const double d = gain_of(shape, a.gain, c) * masked(shape, a, at);
      sum += d;
      dot += d * row.normalised(i);
    });
    if (shape.statistic != Statistic::deviation) sum = 0;
    over_row(shape, r, [&](Index i, Index at, Index c) {
      const double g = masked(shape, a, at);
      const double direct = gain_of(shape, a.gain, c) * g - sum / n;
      const double dx = row.over_statistic(direct - row.slope(i) * (dot / share));
      if (a.dskip != nullptr) a.dskip[at] = static_cast<T>(g);
      a.dx[at] = static_cast<T>(a.accumulate ? a.dx[at] + dx : dx);
    });
  }
}

}  // namespace phasor::kernels::reference
