// C8, C9, C10: what comes through a norm along a phasor's own direction (u) and across it (t).
#include <algorithm>
#include <cmath>

#include "check/inputs.h"
#include "claims/claim_list.h"
#include "claims/probe.h"

namespace phasor::claims {
namespace {

/// The diagonal 2x2 block of a phasor in a Jacobian, in the basis (u, t).
struct Gains {
  double radial;      // u . J u
  double tangential;  // t . J t
  double determinant;
};

Gains gains_of(const Matrix& jacobian, const Numbers& row, std::size_t i) {
  const double r = std::hypot(row[2 * i], row[2 * i + 1]);
  const double ux = row[2 * i] / r, uy = row[2 * i + 1] / r;
  const double xx = jacobian(2 * i, 2 * i), xy = jacobian(2 * i, 2 * i + 1);
  const double yx = jacobian(2 * i + 1, 2 * i), yy = jacobian(2 * i + 1, 2 * i + 1);
  return {ux * (xx * ux + xy * uy) + uy * (yx * ux + yy * uy),
          -uy * (-xx * uy + xy * ux) + ux * (-yx * uy + yy * ux), xx * yy - xy * yx};
}

}  // namespace

// z/m with m = sqrt(r^2 + eps): J = I/m - z z^T/m^3, so tangential 1/m, radial 1/m - r^2/m^3 =
// eps/m^3. At eps 0, J = (I - u u^T)/r: symmetric, J u = 0, one zero direction per phasor.
Claim unit_norm_blocks_radially() {
  Claim claim{.id = {},
              .statement =
                  "Normalising each phasor to unit length blocks its radial gradient "
                  "entirely.",
              .verdict = Verdict::holds,
              .condition = "With eps > 0 the share eps/(r^2 + eps) passes.",
              .input = "4 Gaussian phasors, eps 0; a phasor of length 0.01 for eps 1e-5",
              .numbers = {}};
  const Numbers row = gaussian(8, 801);
  const Matrix jacobian = Probe("unit_phasor", 8, 0).jacobian(row);
  double radial = 0, tangential = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const double r = std::hypot(row[2 * i], row[2 * i + 1]);
    const Gains gains = gains_of(jacobian, row, i);
    radial = std::max(radial, std::fabs(gains.radial) * r);
    tangential = std::max(tangential, std::fabs(gains.tangential * r - 1));
  }
  claim.numbers.push_back(
      at_most("radial gain times r, at most", "0, up to rounding", 1e-14, radial));
  claim.numbers.push_back(
      at_most("tangential gain times r, less 1", "0, up to rounding", 1e-14, tangential));
  claim.numbers.push_back(
      exactly("rank of J, of 8", "P = 4", 4, static_cast<double>(rank(jacobian))));
  const Numbers small = phasors_of({0.01}, 802);
  const Gains gains = gains_of(Probe("unit_phasor", 2, 1e-5).jacobian(small), small, 0);
  claim.numbers.push_back(near("eps 1e-5, r = 0.01: radial over tangential gain", "eps/(r^2 + eps)",
                               1e-5 / (1e-4 + 1e-5), gains.radial / gains.tangential));
  return claim;
}

// f(r) = r^2/(1 + r^2) along u: radial f' = 2r/(1 + r^2)^2, tangential f/r = r/(1 + r^2), ratio
// 2/(1 + r^2), determinant 2r^2/(1 + r^2)^3.
Claim squash_blocks_radially() {
  Claim claim{.id = {},
              .statement =
                  "The squash of capsule networks has the same blockade: its Jacobian is "
                  "singular.",
              .verdict = Verdict::does_not_hold,
              .condition =
                  "It is regular for every 0 < r < infinity. Long phasors are damped "
                  "radially, by 2/(1 + r^2) against the tangent, and never blocked.",
              .input = "one phasor of length r, eps 0",
              .numbers = {}};
  const Probe squash("squash", 2, 0);
  for (const double r : {0.1, 1.0, 10.0, 100.0}) {
    const Numbers row = phasors_of({r}, 901);
    const Matrix jacobian = squash.jacobian(row);
    const Gains gains = gains_of(jacobian, row, 0);
    const double s = 1 + r * r;
    const std::string at = "r = " + check::short_number(r) + ": ";
    claim.numbers.push_back(
        near(at + "radial gain", "2r/(1 + r^2)^2", 2 * r / (s * s), gains.radial));
    claim.numbers.push_back(near(at + "radial over tangential gain", "2/(1 + r^2)", 2 / s,
                                 gains.radial / gains.tangential));
    claim.numbers.push_back(
        near(at + "determinant", "2r^2/(1 + r^2)^3", 2 * r * r / (s * s * s), gains.determinant));
  }
  return claim;
}

// J = (I - z v^T/(P S))/S. The radial gain of phasor i is (1 - r_i^2/(m_i P S))/S, above 0 where
// any other phasor is not 0. Along z as a whole, v . z = P S - eps sum(1/m): J z = 0 at eps 0, and
// det J = S^(-2P) eps sum(1/m)/(P S).
Claim radial_flow() {
  Claim claim{.id = {},
              .statement = "MRSNorm leaves the radial gradient of every phasor unblocked.",
              .verdict = Verdict::holds_under,
              .condition =
                  "at least two non-zero phasors. The common scale of all phasors stays "
                  "blocked (one direction of 2P), as in every scale-invariant norm; a "
                  "phasor that is alone is in the case of C8.",
              .input = "8 Gaussian phasors, eps 0; 4 for the determinant at eps 0.01; one alone",
              .numbers = {}};
  constexpr std::size_t kPhasors = 8;
  const Numbers row = gaussian(kPhasors * 2, 1001);
  const double s = mean_modulus(row);
  const Matrix jacobian = Probe("mrsnorm", kPhasors * 2, 0).jacobian(row);
  const Numbers moduli = moduli_of(row);
  double error = 0, least = 1e300;
  for (std::size_t i = 0; i < kPhasors; ++i) {
    const double predicted = (1 - moduli[i] / (kPhasors * s)) / s;
    const double measured = gains_of(jacobian, row, i).radial;
    error = std::max(error, std::fabs(measured / predicted - 1));
    least = std::min(least, measured);
  }
  const double largest = *std::max_element(moduli.begin(), moduli.end());
  claim.numbers.push_back(near("least radial gain times S", "1 - max r/(P S)",
                               1 - largest / (kPhasors * s), least * s));
  claim.numbers.push_back(
      at_most("radial gain less (1 - r/(P S))/S, relative", "0, up to rounding", 1e-13, error));
  claim.numbers.push_back(at_most("|J z| S / |z|", "0, up to rounding", 1e-14,
                                  length(times(jacobian, row)) * s / length(row)));
  claim.numbers.push_back(
      exactly("rank of J, of 16", "2P - 1", 15, static_cast<double>(rank(jacobian))));
  const Matrix rms = Probe("rms_pair", kPhasors * 2, 0).jacobian(row);
  claim.numbers.push_back(
      exactly("rms_pair: rank of J, of 16", "2P - 1", 15, static_cast<double>(rank(rms))));

  const Numbers four = gaussian(8, 1002);
  const double s_eps = mean_modulus(four, 0.01);
  double inverse = 0;
  for (const double r : moduli_of(four)) inverse += 1 / std::sqrt(r * r + 0.01);
  claim.numbers.push_back(near("eps 0.01, P = 4: det J", "S^(-2P) eps sum(1/m)/(P S)",
                               std::pow(s_eps, -8) * 0.01 * inverse / (4 * s_eps),
                               determinant(Probe("mrsnorm", 8, 0.01).jacobian(four))));

  const Numbers alone = phasors_of({2}, 1003);
  claim.numbers.push_back(
      at_most("one phasor alone: |radial gain| r", "0, up to rounding", 1e-14,
              2 * std::fabs(gains_of(Probe("mrsnorm", 2, 0).jacobian(alone), alone, 0).radial)));
  return claim;
}

}  // namespace phasor::claims
