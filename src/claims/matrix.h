// Small dense matrices: the Jacobians of norms, their operator norm, rank and determinant.
#pragma once

#include <cstddef>
#include <vector>

namespace phasor::claims {

using Numbers = std::vector<double>;

/// Square, row-major.
struct Matrix {
  std::size_t n = 0;
  Numbers elements;  ///< [n, n]

  double operator()(std::size_t row, std::size_t column) const {
    return elements[row * n + column];
  }
  double& operator()(std::size_t row, std::size_t column) { return elements[row * n + column]; }
};

double dot(const Numbers& a, const Numbers& b);
/// Euclidean length, without overflow.
double length(const Numbers& values);

/// M v.
Numbers times(const Matrix& matrix, const Numbers& v);

/// The largest singular value, by power iteration on M^T M from a fixed pseudo-random start, until
/// it grows by less than one part in 10^14.
double operator_norm(const Matrix& matrix);

/// By elimination with full pivoting: pivots above `tolerance` times the largest one.
std::size_t rank(Matrix matrix, double tolerance = 1e-10);

/// By elimination with full pivoting.
double determinant(Matrix matrix);

}  // namespace phasor::claims
