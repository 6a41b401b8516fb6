// The instruments, on things whose values are known.
#include "claims/probe.h"

#include <doctest/doctest.h>

#include <cmath>

#include "check/inputs.h"
#include "claims/matrix.h"

using namespace phasor;
using namespace phasor::claims;

TEST_CASE("operator norm, rank and determinant of known matrices") {
  const Matrix diagonal{3, {3, 0, 0, 0, -5, 0, 0, 0, 0}};
  CHECK(operator_norm(diagonal) == doctest::Approx(5).epsilon(1e-12));
  CHECK(rank(diagonal) == 2);
  CHECK(determinant(diagonal) == 0);
  // A shear has the singular values of the golden ratio.
  const Matrix shear{2, {1, 1, 0, 1}};
  CHECK(operator_norm(shear) == doctest::Approx((1 + std::sqrt(5.0)) / 2).epsilon(1e-12));
  CHECK(determinant(shear) == doctest::Approx(1));
  const Matrix swapped{3, {0, 2, 0, 1, 0, 0, 0, 0, 4}};
  CHECK(determinant(swapped) == doctest::Approx(-8));
  CHECK(rank(swapped) == 3);
  CHECK(operator_norm({2, {0, 0, 0, 0}}) == 0);
  CHECK(rank({2, {0, 0, 0, 0}}) == 0);
  CHECK(times(shear, {2, 3}) == Numbers{5, 3});
}

TEST_CASE("a probe gives the golden vector of MRSNorm") {
  const Probe probe("mrsnorm", 4, 0);
  const Numbers x = {3, 4, 6, 8};
  const Numbers out = probe.forward(x), dx = probe.backward(x, {1, 0, 0, 0});
  const Numbers expected_out = {0.4, 8.0 / 15, 0.8, 16.0 / 15};
  const Numbers expected_dx = {.117333333333, -.021333333333, -.016, -.021333333333};
  CHECK(check::relative_error(out, expected_out) < 1e-14);
  CHECK(check::relative_error(dx, expected_dx) < 1e-10);
  CHECK(check::relative_error(probe.forward_float32(x), expected_out) < 1e-6);
  CHECK(Probe("mrsnorm", 4, 0, {2, 1}).forward(x)[0] == doctest::Approx(0.8));
}

TEST_CASE("a Jacobian and its directions agree with differences") {
  const Probe probe("layernorm", 6, 1e-5);
  const Numbers row = gaussian(6, 1), direction = gaussian(6, 2);
  const Numbers moved = probe.directional(row, direction);
  CHECK(check::relative_error(moved, times(probe.jacobian(row), direction)) < 1e-13);
  constexpr double h = 1e-5;
  Numbers up = row, down = row, difference(6);
  for (std::size_t i = 0; i < 6; ++i) up[i] += h * direction[i], down[i] -= h * direction[i];
  const Numbers high = probe.forward(up), low = probe.forward(down);
  for (std::size_t i = 0; i < 6; ++i) difference[i] = (high[i] - low[i]) / (2 * h);
  CHECK(check::relative_error(moved, difference) < 1e-8);
}

TEST_CASE("inputs have the distributions they are named after") {
  constexpr std::size_t n = 20000;
  const Numbers l = laplace(n, 1), c = cauchy(n, 1), u = uniform_between(n, 1, 2, 3);
  double absolute = 0, squares = 0, inside = 0, mean = 0;
  for (std::size_t i = 0; i < n; ++i) {
    absolute += std::fabs(l[i]) / n;
    squares += l[i] * l[i] / n;
    inside += std::fabs(c[i]) < 1 ? 1.0 / n : 0;  // half of a Cauchy distribution
    mean += u[i] / n;
    CHECK((u[i] > 2 && u[i] < 3));
  }
  CHECK(absolute == doctest::Approx(1).epsilon(0.03));
  CHECK(squares == doctest::Approx(2).epsilon(0.06));
  CHECK(inside == doctest::Approx(0.5).epsilon(0.03));
  CHECK(mean == doctest::Approx(2.5).epsilon(0.01));
  CHECK(gaussian(8, 3) == gaussian(8, 3));
  CHECK(gaussian(8, 3) != gaussian(8, 4));
}

TEST_CASE("turns, moduli and statistics") {
  CHECK(turn({1, 0}, {0, 2}, 0) == doctest::Approx(std::acos(0.0)));
  CHECK(turn({1, 1, 1, 0}, {1, 1, 1, -1e-20}, 1) == doctest::Approx(-1e-20));
  CHECK(std::fabs(turn({1, 2}, {-1, -2}, 0)) == doctest::Approx(std::acos(-1.0)));
  CHECK(moduli_of({3, 4, 6, 8}) == Numbers{5, 10});
  CHECK(mean_modulus({3, 4, 6, 8}) == 7.5);
  CHECK(mean_modulus({0, 0}, 4) == 2);
  CHECK(root_mean_square_of({1, -1, 1, -1}) == doctest::Approx(1));
  CHECK(variation({1, 3}) == doctest::Approx(0.5));
  CHECK(one_and_rest(3, 5, 1) == Numbers{5, 1, 1});
}
