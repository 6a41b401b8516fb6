#include "claims/matrix.h"

#include <algorithm>
#include <cmath>

#include "check/inputs.h"

namespace phasor::claims {

double dot(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double length(const Numbers& values) { return check::length(values); }

Numbers times(const Matrix& matrix, const Numbers& v) {
  Numbers result(matrix.n);
  for (std::size_t row = 0; row < matrix.n; ++row)
    for (std::size_t column = 0; column < matrix.n; ++column)
      result[row] += matrix(row, column) * v[column];
  return result;
}

namespace {

Numbers times_transposed(const Matrix& matrix, const Numbers& v) {
  Numbers result(matrix.n);
  for (std::size_t row = 0; row < matrix.n; ++row)
    for (std::size_t column = 0; column < matrix.n; ++column)
      result[column] += matrix(row, column) * v[row];
  return result;
}

/// Moves the largest element of the lower right block to its corner and eliminates below it.
/// Returns the pivot; 0 where the block is zero. `sign` changes with every swap.
double eliminate(Matrix& m, std::size_t corner, double& sign) {
  std::size_t row = corner, column = corner;
  for (std::size_t i = corner; i < m.n; ++i)
    for (std::size_t j = corner; j < m.n; ++j)
      if (std::fabs(m(i, j)) > std::fabs(m(row, column))) row = i, column = j;
  const double pivot = m(row, column);
  if (pivot == 0) return 0;
  for (std::size_t j = 0; j < m.n; ++j) std::swap(m(corner, j), m(row, j));
  for (std::size_t i = 0; i < m.n; ++i) std::swap(m(i, corner), m(i, column));
  if (row != corner) sign = -sign;
  if (column != corner) sign = -sign;
  for (std::size_t i = corner + 1; i < m.n; ++i) {
    const double factor = m(i, corner) / pivot;
    for (std::size_t j = corner; j < m.n; ++j) m(i, j) -= factor * m(corner, j);
  }
  return pivot;
}

}  // namespace

double operator_norm(const Matrix& matrix) {
  Numbers v = check::random_tensor({static_cast<std::int64_t>(matrix.n)}, 17).values();
  double sigma = 0;
  constexpr int kMost = 2000;
  for (int i = 0; i < kMost; ++i) {
    const double scale = length(v);
    if (scale == 0) return 0;
    for (double& value : v) value /= scale;
    const Numbers image = times(matrix, v);
    const double grown = length(image);
    if (grown <= sigma * (1 + 1e-14)) return std::max(grown, sigma);
    sigma = grown;
    v = times_transposed(matrix, image);
  }
  return sigma;
}

std::size_t rank(Matrix matrix, double tolerance) {
  double sign = 1, largest = 0;
  for (std::size_t k = 0; k < matrix.n; ++k) {
    const double pivot = std::fabs(eliminate(matrix, k, sign));
    if (k == 0) largest = pivot;
    if (pivot <= tolerance * largest) return k;
  }
  return matrix.n;
}

double determinant(Matrix matrix) {
  double product = 1, sign = 1;
  for (std::size_t k = 0; k < matrix.n; ++k) product *= eliminate(matrix, k, sign);
  return sign * product;
}

}  // namespace phasor::claims
