#include "kernels/narrow_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference/norm_rows.h"

namespace phasor::kernels {
namespace {

bool has_phasors(const NormRows& rows) { return rows.statistic == Statistic::mean_pair_modulus; }

Index saved_per_row(const NormRows& rows) {
  return 2 + rows.row_size() * (has_phasors(rows) ? 2 : 1);
}

/// Measures one row in the memory that is saved: h is e before S is known, e / m is m. All of them
/// are numbers of the format, so a float holds them (less the subnormal ones of bfloat16, which
/// count as zero in training as float32's do).
class Measurement {
 public:
  Measurement(const NarrowNorm& norm, const float* x, float* saved)
      : rows_(norm.rows),
        arithmetic_{norm.format},
        x_(x),
        element_(saved + 2),
        modulus_(element_ + rows_.row_size()) {
    read(0);
    measure();
    if (norm.rescue) rescue();
    saved[0] = static_cast<float>(statistic_);
    saved[1] = static_cast<float>(exponent_);
    finish(norm.rescue && statistic_ == 0);
  }

 private:
  /// The elements of the row times 2^exponent.
  void read(int exponent) {
    const double scale = std::ldexp(1.0, exponent);
    for (Index i = 0; i < size_; ++i) set(element_[i], x_[i] * scale);
    exponent_ = exponent;
    if (rows_.statistic != Statistic::deviation) return;
    double sum = 0;
    for (Index i = 0; i < size_; ++i) sum = arithmetic_.add(sum, element_[i]);
    const double mean = arithmetic_.divide(sum, static_cast<double>(size_));
    for (Index i = 0; i < size_; ++i) set(element_[i], element_[i] - mean);
  }

  void measure() {
    const Arithmetic& a = arithmetic_;
    const auto n = static_cast<double>(size_);
    const double eps = a.round(scaled_eps());
    double sum = 0;
    switch (rows_.statistic) {
      case Statistic::deviation:
      case Statistic::root_mean_square:
        for (Index i = 0; i < size_; ++i) sum = a.add(sum, a.multiply(element_[i], element_[i]));
        statistic_ = a.root(a.add(a.divide(sum, n), eps));
        break;
      case Statistic::mean_pair_modulus:
        for (Index i = 0; i < size_; i += 2) {
          const double x = element_[i], y = element_[i + 1];
          const double m = a.root(a.add(a.add(a.multiply(x, x), a.multiply(y, y)), eps));
          modulus_[i] = modulus_[i + 1] = static_cast<float>(m);
          sum = a.add(sum, m);
        }
        statistic_ = a.divide(sum, n / 2);
        break;
      case Statistic::mean_absolute:
        for (Index i = 0; i < size_; ++i) sum = a.add(sum, std::fabs(element_[i]));
        statistic_ = a.add(a.divide(sum, n), eps);
        break;
    }
  }

  void rescue() {
    // From here on squares that matter are normal numbers.
    const double least = std::ldexp(1.0, arithmetic_.format.least_exponent / 2);
    if (std::isfinite(statistic_) && statistic_ >= least) return;
    if (!std::all_of(x_, x_ + size_, [](float v) { return std::isfinite(v); })) {
      statistic_ = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    read(exponent_for(largest(x_)));
    const bool root = rows_.statistic != Statistic::mean_absolute;
    const double eps = root ? std::sqrt(scaled_eps()) : scaled_eps();
    const int exponent = exponent_for(std::max(eps, largest(element_)));
    const double scale = std::ldexp(1.0, exponent);
    for (Index i = 0; i < size_; ++i) set(element_[i], element_[i] * scale);
    exponent_ += exponent;
    measure();
  }

  void finish(bool zero) {
    if (has_phasors(rows_))
      for (Index i = 0; i < size_; ++i)
        modulus_[i] = modulus_[i] == 0 ? 0 : element_[i] / modulus_[i];
    for (Index i = 0; i < size_; ++i) set(element_[i], zero ? 0 : element_[i] / statistic_);
  }

  void set(float& to, double value) { to = static_cast<float>(arithmetic_.round(value)); }
  double scaled_eps() const {
    const bool root = rows_.statistic != Statistic::mean_absolute;
    return std::ldexp(rows_.eps, root ? 2 * exponent_ : exponent_);
  }
  double largest(const float* values) const {
    double result = 0;
    for (Index i = 0; i < size_; ++i)
      result = std::max(result, std::fabs(static_cast<double>(values[i])));
    return result;
  }
  /// Of the power of two that brings `largest` to [1, 2).
  static int exponent_for(double largest) { return largest == 0 ? 0 : -std::ilogb(largest); }

  const NormRows& rows_;
  const Arithmetic arithmetic_;
  const Index size_ = rows_.row_size();
  const float* x_;
  float *element_, *modulus_;
  int exponent_ = 0;
  double statistic_ = 0;
};

/// What a Measurement left, as the formulas want it.
class SavedRow {
 public:
  SavedRow(const NarrowNorm& norm, const float* x, const float* saved)
      : kind_(norm.rows.statistic),
        zero_(norm.rescue && saved[0] == 0),
        statistic_(saved[0]),
        scale_(std::ldexp(1.0, static_cast<int>(saved[1]))),
        x_(x),
        normalised_(saved + 2),
        phasors_(normalised_ + norm.rows.row_size()) {}

  double normalised(Index i) const { return normalised_[i]; }
  double slope(Index i) const {
    switch (kind_) {
      case Statistic::mean_pair_modulus:
        return phasors_[i];
      case Statistic::mean_absolute:
        return x_[i] > 0 ? 1 : x_[i] < 0 ? -1 : 0;
      default:
        return normalised_[i];
    }
  }
  double over_statistic(double a) const { return zero_ ? 0 : a / statistic_ * scale_; }

 private:
  Statistic kind_;
  bool zero_;
  double statistic_, scale_;
  const float *x_, *normalised_, *phasors_;
};

}  // namespace

Index narrow_norm_saved_size(const NormRows& rows) { return rows.rows * saved_per_row(rows); }

void narrow_norm_forward(const NarrowNorm& norm, const NormForward<float>& a) {
  reference::apply_rows(norm.rows, a, [&](Index r) {
    const float* x = a.x + r * norm.rows.row_size();
    float* saved = a.saved + r * saved_per_row(norm.rows);
    const Measurement measured(norm, x, saved);
    return SavedRow(norm, x, saved);
  });
}

void narrow_norm_backward(const NarrowNorm& norm, const NormBackward<float>& a) {
  reference::backward_rows(norm.rows, a, [&](Index r) {
    return SavedRow(norm, a.x + r * norm.rows.row_size(), a.saved + r * saved_per_row(norm.rows));
  });
}

}  // namespace phasor::kernels
