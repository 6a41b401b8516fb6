#include "kernels/narrow_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference/norm_rows.h"

namespace phasor::kernels {
namespace {

/// The exponent of the power of two that brings `largest` to [1, 2).
int exponent_for(double largest) { return largest == 0 ? 0 : -std::ilogb(largest); }

}  // namespace

NarrowRow::NarrowRow(const NarrowNorm& norm, const float* x)
    : rows_(norm.rows), arithmetic_{norm.format}, rescue_(norm.rescue), x_(x) {
  scale_by(0, 0);
  measure();
  if (rescue_) rescue();
}

NarrowRow::NarrowRow(const NarrowNorm& norm, const float* x, const float* saved)
    : rows_(norm.rows), arithmetic_{norm.format}, rescue_(norm.rescue), x_(x) {
  scale_by(static_cast<int>(saved[2]), static_cast<int>(saved[3]));
  mean_ = saved[0];
  statistic_ = saved[1];
}

void NarrowRow::save(float* saved) const {
  saved[0] = static_cast<float>(mean_);
  saved[1] = static_cast<float>(statistic_);
  saved[2] = static_cast<float>(x_exponent_);
  saved[3] = static_cast<float>(e_exponent_);
}

void NarrowRow::scale_by(int x_exponent, int e_exponent) {
  x_exponent_ = x_exponent;
  e_exponent_ = e_exponent;
  x_scale_ = std::ldexp(1.0, x_exponent);
  e_scale_ = std::ldexp(1.0, e_exponent);
  const double scale = x_scale_ * e_scale_;
  eps_ = arithmetic_.round(rows_.statistic == Statistic::mean_absolute ? rows_.eps * scale
                                                                       : rows_.eps * scale * scale);
}

double NarrowRow::element(Index i) const {
  double e = input(i);
  if (rows_.statistic == Statistic::deviation) e = arithmetic_.subtract(e, mean_);
  return e_exponent_ == 0 ? e : arithmetic_.round(e * e_scale_);
}

double NarrowRow::modulus(Index first) const {
  const Arithmetic& a = arithmetic_;
  const double x = element(first), y = element(first + 1);
  return a.root(a.add(a.add(a.multiply(x, x), a.multiply(y, y)), eps_));
}

void NarrowRow::measure() {
  const Arithmetic& a = arithmetic_;
  const Index size = rows_.row_size();
  const auto n = static_cast<double>(size);
  mean_ = 0;
  double sum = 0;
  switch (rows_.statistic) {
    case Statistic::deviation:
      for (Index i = 0; i < size; ++i) sum = a.add(sum, input(i));
      mean_ = a.divide(sum, n);
      sum = 0;
      [[fallthrough]];
    case Statistic::root_mean_square:
      for (Index i = 0; i < size; ++i) {
        const double e = element(i);
        sum = a.add(sum, a.multiply(e, e));
      }
      statistic_ = a.root(a.add(a.divide(sum, n), eps_));
      break;
    case Statistic::mean_pair_modulus:
      for (Index i = 0; i < size; i += 2) sum = a.add(sum, modulus(i));
      statistic_ = a.divide(sum, n / 2);
      break;
    case Statistic::mean_absolute:
      for (Index i = 0; i < size; ++i) sum = a.add(sum, std::fabs(element(i)));
      statistic_ = a.add(a.divide(sum, n), eps_);
      break;
  }
}

void NarrowRow::rescue() {
  // From here on squares that matter are normal numbers.
  const double least = std::ldexp(1.0, arithmetic_.format.least_exponent / 2);
  if (std::isfinite(statistic_) && statistic_ >= least) return;

  const Index size = rows_.row_size();
  double largest = 0;
  for (Index i = 0; i < size; ++i) {
    if (!std::isfinite(x_[i])) {
      statistic_ = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    largest = std::max(largest, std::fabs(static_cast<double>(x_[i])));
  }
  scale_by(exponent_for(largest), 0);
  measure();  // the mean that element() takes away
  double largest_element =
      x_scale_ * (rows_.statistic == Statistic::mean_absolute ? rows_.eps : std::sqrt(rows_.eps));
  for (Index i = 0; i < size; ++i)
    largest_element = std::max(largest_element, std::fabs(element(i)));
  scale_by(x_exponent_, exponent_for(largest_element));
  measure();
}

double NarrowRow::normalised(Index i) const {
  return rescue_ && statistic_ == 0 ? 0 : arithmetic_.divide(element(i), statistic_);
}

double NarrowRow::slope(Index i) const {
  switch (rows_.statistic) {
    case Statistic::mean_pair_modulus: {
      const double m = modulus(i - i % 2);
      return m == 0 ? 0 : element(i) / m;
    }
    case Statistic::mean_absolute:
      return x_[i] > 0 ? 1 : x_[i] < 0 ? -1 : 0;
    default:
      return normalised(i);
  }
}

double NarrowRow::over_statistic(double a) const {
  return rescue_ && statistic_ == 0 ? 0 : a / statistic_ * (x_scale_ * e_scale_);
}

void narrow_norm_forward(const NarrowNorm& norm, const NormForward<float>& a) {
  reference::apply_rows(norm.rows, a, [&](Index r) {
    const NarrowRow row(norm, a.x + r * norm.rows.row_size());
    row.save(a.saved + r * NarrowRow::kSaved);
    return row;
  });
}

void narrow_norm_backward(const NarrowNorm& norm, const NormBackward<float>& a) {
  reference::backward_rows(norm.rows, a, [&](Index r) {
    return NarrowRow(norm, a.x + r * norm.rows.row_size(), a.saved + r * NarrowRow::kSaved);
  });
}

}  // namespace phasor::kernels
