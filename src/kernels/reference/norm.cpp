// Rows measured in double. Each is scaled by a power of two near its largest element first.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference/norm_rows.h"
#include "kernels/reference/reference.h"

namespace phasor::kernels::reference {
namespace {

double modulus(double a, double b, double eps) {
  const double square = a * a + b * b + eps;
  return square > 1e-280 ? std::sqrt(square) : std::hypot(std::hypot(a, b), std::sqrt(eps));
}

template <class T>
class Row {
 public:
  Row(const NormRows& shape, const T* x) : kind_(shape.statistic), x_(x) {
    const Index n = shape.row_size();
    const bool root = kind_ != Statistic::mean_absolute;
    double largest = root ? std::sqrt(shape.eps) : shape.eps;
    for (Index i = 0; i < n; ++i) {
      if (!std::isfinite(x[i])) finite_ = false;
      largest = std::max(largest, std::fabs(static_cast<double>(x[i])));
    }
    if (!finite_ || largest == 0) return;
    scale_ = std::ldexp(1.0, -std::clamp(std::ilogb(largest), -1000, 1000));
    eps_ = root ? shape.eps * scale_ * scale_ : shape.eps * scale_;
    measure(n);
  }

  double normalised(Index i) const {
    if (!finite_) return std::numeric_limits<double>::quiet_NaN();
    return statistic_ == 0 ? 0 : (x_[i] * scale_ - mean_) / statistic_;
  }

  double slope(Index i) const {
    switch (kind_) {
      case Statistic::mean_pair_modulus: {
        const Index p = i - i % 2;
        const double m = modulus(x_[p] * scale_, x_[p + 1] * scale_, eps_);
        return m == 0 ? 0 : x_[i] * scale_ / m;
      }
      case Statistic::mean_absolute:
        return x_[i] > 0 ? 1 : x_[i] < 0 ? -1 : 0;
      default:
        return normalised(i);
    }
  }

  double over_statistic(double a) const {
    if (!finite_) return std::numeric_limits<double>::quiet_NaN();
    return statistic_ == 0 ? 0 : a / statistic_ * scale_;
  }

  /// mean and 1 / statistic.
  void save(T* saved) const {
    const double inverse = statistic_ == 0 ? 0 : scale_ / statistic_;
    saved[0] = static_cast<T>(mean_ / scale_);
    saved[1] = finite_ ? static_cast<T>(inverse) : std::numeric_limits<T>::quiet_NaN();
  }

 private:
  void measure(Index n) {
    double sum = 0;
    switch (kind_) {
      case Statistic::deviation:
        for (Index i = 0; i < n; ++i) mean_ += x_[i] * scale_;
        mean_ /= static_cast<double>(n);
        for (Index i = 0; i < n; ++i) {
          const double d = x_[i] * scale_ - mean_;
          sum += d * d;
        }
        statistic_ = std::sqrt(sum / static_cast<double>(n) + eps_);
        break;
      case Statistic::root_mean_square:
        for (Index i = 0; i < n; ++i) sum += (x_[i] * scale_) * (x_[i] * scale_);
        statistic_ = std::sqrt(sum / static_cast<double>(n) + eps_);
        break;
      case Statistic::mean_pair_modulus:
        for (Index i = 0; i < n; i += 2) sum += modulus(x_[i] * scale_, x_[i + 1] * scale_, eps_);
        statistic_ = sum / static_cast<double>(n / 2);
        break;
      case Statistic::mean_absolute:
        for (Index i = 0; i < n; ++i) sum += std::fabs(x_[i] * scale_);
        statistic_ = sum / static_cast<double>(n) + eps_;
        break;
    }
  }

  Statistic kind_;
  const T* x_;
  bool finite_ = true;
  double scale_ = 1;                 // power of two that brings the row (and eps) near 1
  double eps_ = 0;                   // eps of the scaled row
  double mean_ = 0, statistic_ = 0;  // of the scaled row
};

}  // namespace

template <class T>
void norm_forward(const NormRows& shape, const NormForward<T>& a) {
  apply_rows(shape, a, [&](Index r) {
    const Row<T> row(shape, a.x + r * shape.row_size());
    row.save(a.saved + 2 * r);
    return row;
  });
}

template <class T>
void norm_backward(const NormRows& shape, const NormBackward<T>& a) {
  backward_rows(shape, a, [&](Index r) { return Row<T>(shape, a.x + r * shape.row_size()); });
}

template void norm_forward<float>(const NormRows&, const NormForward<float>&);
template void norm_forward<double>(const NormRows&, const NormForward<double>&);
template void norm_backward<float>(const NormRows&, const NormBackward<float>&);
template void norm_backward<double>(const NormRows&, const NormBackward<double>&);

}  // namespace phasor::kernels::reference
