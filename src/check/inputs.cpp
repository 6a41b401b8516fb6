#include "check/inputs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "phasor/rng.h"

namespace phasor::check {

Tensor random_tensor(const Shape& shape, std::uint64_t seed, double scale, double shift) {
  Tensor tensor(shape, DType::float64);
  double* data = tensor.data<double>();
  for (Index i = 0; i < shape.size(); ++i) {
    const auto bits = draw(seed, Purpose::check, 0, static_cast<std::uint64_t>(i));
    data[i] = shift + scale * normal_quantile(uniform(bits[0]));
  }
  return tensor;
}

double length(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  if (largest == 0) return 0;
  double squares = 0;
  for (const double value : values)
    if (std::isfinite(value)) squares += (value / largest) * (value / largest);
  return largest * std::sqrt(squares);
}

double relative_error(const std::vector<double>& got, const std::vector<double>& expected,
                      double at_least) {
  if (got.size() != expected.size()) return std::numeric_limits<double>::infinity();
  std::vector<double> difference;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]))) continue;
    if (!std::isfinite(got[i]) || !std::isfinite(expected[i]))
      return std::numeric_limits<double>::quiet_NaN();
    difference.push_back(got[i] - expected[i]);
  }
  const double scale = std::max(length(expected), at_least);
  return length(difference) / (scale > 0 ? scale : 1);
}

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

std::string short_number(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6);
  return {text, end.ptr};
}

}  // namespace phasor::check
