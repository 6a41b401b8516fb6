// Norms by their formulas. With x' = x scaled by a power of two, S' the statistic of x', mean its
// mean (deviation only), h = (x' - mean) / S' and n elements in a row, P = n/2 phasors:
//   out = relu(gain h + bias + skip),   g = dy where out > 0,   d = gain g,   dot = sum d h
//   dgain = sum over rows of g h,   dbias = sum over rows of g,   dskip = g
//   deviation           dx = (d - sum(d)/n - h dot/n) / S
//   root_mean_square    dx = (d - h dot/n) / S
//   mean_pair_modulus   dx = (d - v dot/P) / S,      v = z / sqrt(|z|^2 + eps)
//   mean_absolute       dx = (d - sign(x) dot/n) / S
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference/reference.h"

namespace phasor::kernels::reference {
namespace {

struct Row {
  bool finite = true;
  double scale = 1;                ///< power of two that brings the row (and eps) near 1
  double eps = 0;                  ///< eps of the scaled row
  double mean = 0, statistic = 0;  ///< of the scaled row
};

double modulus(double a, double b, double eps) {
  const double square = a * a + b * b + eps;
  return square > 1e-280 ? std::sqrt(square) : std::hypot(std::hypot(a, b), std::sqrt(eps));
}

template <class T>
Row measure(const NormRows& shape, const T* x) {
  Row row;
  const Index n = shape.row_size();
  const bool root = shape.statistic != Statistic::mean_absolute;
  double largest = root ? std::sqrt(shape.eps) : shape.eps;
  for (Index i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) row.finite = false;
    largest = std::max(largest, std::fabs(static_cast<double>(x[i])));
  }
  if (!row.finite || largest == 0) return row;
  row.scale = std::ldexp(1.0, -std::clamp(std::ilogb(largest), -1000, 1000));
  row.eps = root ? shape.eps * row.scale * row.scale : shape.eps * row.scale;

  double sum = 0;
  switch (shape.statistic) {
    case Statistic::deviation:
      for (Index i = 0; i < n; ++i) row.mean += x[i] * row.scale;
      row.mean /= static_cast<double>(n);
      for (Index i = 0; i < n; ++i) {
        const double d = x[i] * row.scale - row.mean;
        sum += d * d;
      }
      row.statistic = std::sqrt(sum / static_cast<double>(n) + row.eps);
      break;
    case Statistic::root_mean_square:
      for (Index i = 0; i < n; ++i) sum += (x[i] * row.scale) * (x[i] * row.scale);
      row.statistic = std::sqrt(sum / static_cast<double>(n) + row.eps);
      break;
    case Statistic::mean_pair_modulus:
      for (Index i = 0; i < n; i += 2)
        sum += modulus(x[i] * row.scale, x[i + 1] * row.scale, row.eps);
      row.statistic = sum / static_cast<double>(n / 2);
      break;
    case Statistic::mean_absolute:
      for (Index i = 0; i < n; ++i) sum += std::fabs(x[i] * row.scale);
      row.statistic = sum / static_cast<double>(n) + row.eps;
      break;
  }
  return row;
}

/// h of one element.
template <class T>
double normalised(const Row& row, T x) {
  if (!row.finite) return std::numeric_limits<double>::quiet_NaN();
  return row.statistic == 0 ? 0 : (x * row.scale - row.mean) / row.statistic;
}

template <class T>
double gain_of(const NormRows& shape, const T* gain, Index i) {
  if (gain == nullptr) return 1;
  const Index c = i % shape.channels;
  return gain[shape.gain_per_pair ? c / 2 : c];
}

/// dy after the ReLU's mask.
template <class T>
double masked(const NormRows& shape, const NormBackward<T>& a, Index i) {
  return shape.relu && !(a.out[i] > 0) ? 0.0 : static_cast<double>(a.dy[i]);
}

/// d statistic / dx_i times the row's n (times P for phasors).
template <class T>
double slope(const NormRows& shape, const Row& row, const T* x, Index i) {
  switch (shape.statistic) {
    case Statistic::mean_pair_modulus: {
      const Index p = i - i % 2;
      const double m = modulus(x[p] * row.scale, x[p + 1] * row.scale, row.eps);
      return m == 0 ? 0 : x[i] * row.scale / m;
    }
    case Statistic::mean_absolute:
      return x[i] > 0 ? 1 : x[i] < 0 ? -1 : 0;
    default:
      return normalised(row, x[i]);
  }
}

/// Sums of dgain and dbias in double, for as many channels at a time as the stack holds.
template <class T>
void add_parameter_gradients(const NormRows& shape, const NormBackward<T>& a) {
  constexpr Index kPanel = 512;
  double gain_sum[kPanel], bias_sum[kPanel];
  for (Index first = 0; first < shape.channels; first += kPanel) {
    const Index count = std::min(kPanel, shape.channels - first);
    std::fill_n(gain_sum, count, 0.0);
    std::fill_n(bias_sum, count, 0.0);
    for (Index r = 0; r < shape.rows; ++r) {
      const Row row = measure(shape, a.x + r * shape.row_size());
      for (Index p = 0; p < shape.positions; ++p)
        for (Index c = 0; c < count; ++c) {
          const Index i = r * shape.row_size() + p * shape.channels + first + c;
          const double g = masked(shape, a, i);
          gain_sum[c] += g * normalised(row, a.x[i]);
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

}  // namespace

template <class T>
void norm_forward(const NormRows& shape, const NormForward<T>& a) {
  for (Index r = 0; r < shape.rows; ++r) {
    const Index start = r * shape.row_size();
    const Row row = measure(shape, a.x + start);
    for (Index i = start; i < start + shape.row_size(); ++i) {
      double v = gain_of(shape, a.gain, i) * normalised(row, a.x[i]);
      if (a.bias != nullptr) v += a.bias[i % shape.channels];
      if (a.skip != nullptr) v += a.skip[i];
      if (shape.relu && v <= 0) v = 0;
      a.out[i] = static_cast<T>(v);
    }
    const double inverse = row.statistic == 0 ? 0 : row.scale / row.statistic;
    a.saved[2 * r] = static_cast<T>(row.mean / row.scale);
    a.saved[2 * r + 1] = row.finite ? static_cast<T>(inverse) : std::numeric_limits<T>::quiet_NaN();
  }
}

template <class T>
void norm_backward(const NormRows& shape, const NormBackward<T>& a) {
  if (a.dgain != nullptr || a.dbias != nullptr) add_parameter_gradients(shape, a);
  const auto n = static_cast<double>(shape.row_size());
  const double share = shape.statistic == Statistic::mean_pair_modulus ? n / 2 : n;
  for (Index r = 0; r < shape.rows; ++r) {
    const Index start = r * shape.row_size(), end = start + shape.row_size();
    const Row row = measure(shape, a.x + start);
    double sum = 0, dot = 0;
    for (Index i = start; i < end; ++i) {
      const double d = gain_of(shape, a.gain, i) * masked(shape, a, i);
      sum += d;
      dot += d * normalised(row, a.x[i]);
    }
    if (shape.statistic != Statistic::deviation) sum = 0;
    for (Index i = start; i < end; ++i) {
      const double g = masked(shape, a, i);
      const double direct = gain_of(shape, a.gain, i) * g - sum / n;
      const double through_statistic = slope(shape, row, a.x + start, i - start) * (dot / share);
      double dx = row.statistic == 0 ? 0 : (direct - through_statistic) / row.statistic * row.scale;
      if (!row.finite) dx = std::numeric_limits<double>::quiet_NaN();
      if (a.dskip != nullptr) a.dskip[i] = static_cast<T>(g);
      a.dx[i] = static_cast<T>(a.accumulate ? a.dx[i] + dx : dx);
    }
  }
}

template void norm_forward<float>(const NormRows&, const NormForward<float>&);
template void norm_forward<double>(const NormRows&, const NormForward<double>&);
template void norm_backward<float>(const NormRows&, const NormBackward<float>&);
template void norm_backward<double>(const NormRows&, const NormBackward<double>&);

}  // namespace phasor::kernels::reference
