#include "claims/probe.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "check/inputs.h"
#include "core/elementary.h"
#include "phasor/rng.h"

namespace phasor::claims {

Probe::Probe(const std::string& norm, Index channels, double eps, const Numbers& gains)
    : channels_(channels),
      norm_(check::make_norm(find_norm(norm), {.channels = channels, .eps = eps})) {
  for (const NormBuilder::Parameter& parameter : norm_.parameters) {
    const auto count = static_cast<std::size_t>(parameter.shape.size());
    const bool given = parameter.name == "weight" && !gains.empty();
    parameters_.emplace_back(parameter.shape, given ? gains : Numbers(count, parameter.init));
  }
}

check::NormCase Probe::make_case(const Numbers& x, const Numbers& dy) const {
  const Shape shape{static_cast<Index>(x.size()) / channels_, 1, channels_};
  return {.x = Tensor(shape, x), .parameters = parameters_, .skip = {}, .dy = Tensor(shape, dy)};
}

Numbers Probe::forward(const Numbers& x) const {
  return check::run_composed(*norm_.norm, make_case(x, Numbers(x.size())), DType::float64,
                             kernels::KernelSet::reference)
      .out;
}

Numbers Probe::backward(const Numbers& x, const Numbers& dy) const {
  return check::run_composed(*norm_.norm, make_case(x, dy), DType::float64,
                             kernels::KernelSet::reference)
      .dx;
}

Numbers Probe::directional(const Numbers& x, const Numbers& direction) const {
  const auto channels = static_cast<std::size_t>(channels_);
  Numbers moved(x.size());
  for (std::size_t channel = 0; channel < channels; ++channel) {
    Numbers dy(x.size());
    for (std::size_t i = channel; i < x.size(); i += channels) dy[i] = 1;
    const Numbers gradient = backward(x, dy);  // of output `channel` in every row
    for (std::size_t i = 0; i < x.size(); ++i)
      moved[i - i % channels + channel] += gradient[i] * direction[i];
  }
  return moved;
}

// Rows are independent: one pass over C copies of the row, with the unit vectors as dy.
Matrix Probe::jacobian(const Numbers& row) const {
  const std::size_t n = row.size();
  Numbers x, dy(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    x.insert(x.end(), row.begin(), row.end());
    dy[i * n + i] = 1;
  }
  return {n, backward(x, dy)};
}

Numbers Probe::forward_float32(const Numbers& x) const {
  return run_float32(x, Numbers(x.size())).out;
}

check::NormResult Probe::run_float32(const Numbers& x, const Numbers& dy,
                                     const StatisticPrecision& precision) const {
  check::NormCase norm_case = make_case(x, dy);
  norm_case.precision = precision;
  return check::run_float(*norm_.norm, norm_case, kernels::default_set());
}

namespace {

/// Uniform numbers in (0, 1); `which` of the four words of a draw.
double uniform_draw(std::uint64_t seed, std::size_t i, std::size_t which) {
  return uniform(draw(seed, Purpose::check, 0, i)[which]);
}

}  // namespace

Numbers gaussian(std::size_t count, std::uint64_t seed) {
  return check::random_tensor({static_cast<Index>(count)}, seed).values();
}

Numbers laplace(std::size_t count, std::uint64_t seed) {
  Numbers values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double p = uniform_draw(seed, i, 0);
    values[i] = p < 0.5 ? portable_log(2 * p) : -portable_log(2 * (1 - p));
  }
  return values;
}

Numbers cauchy(std::size_t count, std::uint64_t seed) {
  Numbers values(count);
  for (std::size_t i = 0; i < count; ++i)  // the ratio of two normal numbers
    values[i] =
        normal_quantile(uniform_draw(seed, i, 0)) / normal_quantile(uniform_draw(seed, i, 1));
  return values;
}

Numbers uniform_between(std::size_t count, std::uint64_t seed, double low, double high) {
  Numbers values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = low + (high - low) * uniform_draw(seed, i, 0);
  return values;
}

Numbers phasors_of(const Numbers& moduli, std::uint64_t seed) {
  Numbers row;
  for (std::size_t i = 0; i < moduli.size(); ++i) {
    const double angle = 2 * std::numbers::pi * uniform_draw(seed, i, 0);
    row.push_back(moduli[i] * std::cos(angle));
    row.push_back(moduli[i] * std::sin(angle));
  }
  return row;
}

Numbers one_and_rest(std::size_t phasors, double largest, double rest) {
  Numbers moduli(phasors, rest);
  moduli[0] = largest;
  return moduli;
}

Numbers moduli_of(const Numbers& x) {
  Numbers moduli;
  for (std::size_t i = 0; i + 1 < x.size(); i += 2) moduli.push_back(std::hypot(x[i], x[i + 1]));
  return moduli;
}

double mean_modulus(const Numbers& x, double eps) {
  const Numbers moduli = moduli_of(x);
  double sum = 0;
  for (const double r : moduli) sum += std::sqrt(r * r + eps);
  return sum / static_cast<double>(moduli.size());
}

double root_mean_square_of(const Numbers& x) {
  return length(x) / std::sqrt(static_cast<double>(x.size()));
}

double variation(const Numbers& values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / n;
  for (const double value : values) squares += (value - mean) * (value - mean) / n;
  return std::sqrt(squares) / mean;
}

double turn(const Numbers& from, const Numbers& to, std::size_t i) {
  const double ax = from[2 * i], ay = from[2 * i + 1];
  const double bx = to[2 * i], by = to[2 * i + 1];
  // ax by - ay bx to full precision (Kahan): the fma recovers the rounding of the second product.
  const double product = ay * bx;
  const double cross = std::fma(ax, by, -product) + std::fma(-ay, bx, product);
  return std::atan2(cross, ax * bx + ay * by);
}

double largest_turn(const Numbers& from, const Numbers& to) {
  double largest = 0;
  for (std::size_t i = 0; 2 * i + 1 < from.size(); ++i)
    largest = std::max(largest, std::fabs(turn(from, to, i)));
  return largest;
}

}  // namespace phasor::claims
