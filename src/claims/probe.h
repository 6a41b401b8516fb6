// Norms of the registry, run alone and in double: values, gradients, Jacobians. And their inputs.
#pragma once

#include <cstdint>
#include <string>

#include "check/norm_runs.h"
#include "claims/matrix.h"

namespace phasor::claims {

/// One norm layer over C channels, run by its definition on the engine's tape in double. Rows are
/// stored one after the other: [rows * C].
class Probe {
 public:
  /// `gains` replace the norm's "weight" ([C] or [C/2]); empty: all 1.
  Probe(const std::string& norm, Index channels, double eps, const Numbers& gains = {});

  Numbers forward(const Numbers& x) const;
  /// dL/dx for dL/dout = dy.
  Numbers backward(const Numbers& x, const Numbers& dy) const;
  /// How the output moves when x moves along `direction`, row by row: J d.
  Numbers directional(const Numbers& x, const Numbers& direction) const;
  /// d out_i / d x_j of one row.
  Matrix jacobian(const Numbers& row) const;
  /// In float32, by the kernels that train.
  Numbers forward_float32(const Numbers& x) const;
  /// The same, forward and backward for dL/dout = dy, with norm.stat_dtype and norm.rescue.
  check::NormResult run_float32(const Numbers& x, const Numbers& dy,
                                const StatisticPrecision& precision = {}) const;

 private:
  check::NormCase make_case(const Numbers& x, const Numbers& dy) const;

  Index channels_;
  check::NormUnderTest norm_;
  std::vector<Tensor> parameters_;
};

/// Standard normal numbers, a pure function of the seed.
Numbers gaussian(std::size_t count, std::uint64_t seed);
/// Density exp(-|x|) / 2.
Numbers laplace(std::size_t count, std::uint64_t seed);
/// Density 1 / (pi (1 + x^2)).
Numbers cauchy(std::size_t count, std::uint64_t seed);
/// Uniform in (low, high).
Numbers uniform_between(std::size_t count, std::uint64_t seed, double low, double high);
/// One row of phasors with the given moduli and pseudo-random angles.
Numbers phasors_of(const Numbers& moduli, std::uint64_t seed);
/// P moduli: `largest`, then P - 1 times `rest`.
Numbers one_and_rest(std::size_t phasors, double largest, double rest);

/// |z_i| of adjacent pairs.
Numbers moduli_of(const Numbers& x);
/// (1/P) sum sqrt(r_i^2 + eps).
double mean_modulus(const Numbers& x, double eps = 0);
double root_mean_square_of(const Numbers& x);
/// Deviation over mean.
double variation(const Numbers& values);

/// The angle from phasor `i` of `from` to that of `to`, in (-pi, pi], with no more rounding than
/// the two inputs carry.
double turn(const Numbers& from, const Numbers& to, std::size_t i);
/// The largest |turn| over all phasors.
double largest_turn(const Numbers& from, const Numbers& to);

}  // namespace phasor::claims
