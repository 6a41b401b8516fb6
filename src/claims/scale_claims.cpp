// C2: what happens to a norm's output and gradient when its input is scaled.
#include <algorithm>
#include <cmath>

#include "check/inputs.h"
#include "claims/claim_list.h"
#include "claims/probe.h"

namespace phasor::claims {
namespace {

constexpr std::size_t kPhasors = 32;
constexpr Index kChannels = 64;

Numbers scaled(Numbers x, double factor) {
  for (double& value : x) value *= factor;
  return x;
}

}  // namespace

// m_i(a z; eps) = a m_i(z; eps/a^2) for a > 0, so S scales alike and f_eps(a z) = f_{eps/a^2}(z).
// Invariance needs eps/a^2 = eps, so eps = 0. For eps > 0, f_eps = f_0 S_0/S_eps, and because
// m_i - r_i <= sqrt(eps) the output is short by (S_eps - S_0)/S_eps <= sqrt(eps)/S_eps.
//
// Euler: f_eps changes along z by -zhat (sum_i v_i . z_i)/(P S) + zhat, and sum v_i . z_i =
// sum (m_i - eps/m_i) = P S - eps sum 1/m_i; contracted with g: c eps sum(1/m_i)/(P S), c = sum g_i
// . zhat_i.
Claim scale_invariance() {
  Claim claim{
      .id = {},
      .statement = "MRSNorm is invariant to the scale of its input: f(a z) = f(z), a > 0.",
      .verdict = Verdict::holds_under,
      .condition =
          "eps = 0. Always f_eps(a z) = f_(eps/a^2)(z): rows with S near sqrt(eps) "
          "come out short by up to sqrt(eps)/S.",
      .input =
          "a row z of 32 Gaussian phasors, times a = 0.001, 0.1, 10, 1000, random dL/dzhat; "
          "32 phasors of equal length r for the deviation; Gaussian rows of scale "
          "0.0001 to 1 for its bound sqrt(eps)/S",
      .numbers = {}};
  const Numbers z = gaussian(kPhasors * 2, 201);
  const Probe exact("mrsnorm", kChannels, 0);
  double plain = 0, identity = 0;
  for (const double a : {1e-3, 0.1, 10.0, 1e3}) {
    plain = std::max(plain, check::relative_error(exact.forward(scaled(z, a)), exact.forward(z)));
    identity = std::max(
        identity, check::relative_error(Probe("mrsnorm", kChannels, 1e-5).forward(scaled(z, a)),
                                        Probe("mrsnorm", kChannels, 1e-5 / (a * a)).forward(z)));
  }
  claim.numbers.push_back(
      at_most("eps 0: |f(a z) - f(z)| / |f(z)|", "0, up to rounding", 1e-14, plain));
  claim.numbers.push_back(
      at_most("eps 1e-5: f_eps(a z) less f_(eps/a^2)(z)", "0, up to rounding", 1e-14, identity));

  const Matrix at_one = exact.jacobian(z);
  const Matrix at_ten = exact.jacobian(scaled(z, 10));
  claim.numbers.push_back(
      at_most("eps 0: J(z) less a J(a z), relative", "0, up to rounding", 1e-13,
              check::relative_error(scaled(at_ten.elements, 10), at_one.elements)));

  const Probe with_eps("mrsnorm", kChannels, 1e-5);
  for (const double r : {0.1, 0.01, 0.001}) {
    const Numbers equal = phasors_of(Numbers(kPhasors, r), 202);
    claim.numbers.push_back(near("eps 1e-5, r = " + check::short_number(r) + ": |f_eps| / |f_0|",
                                 "r / sqrt(r^2 + eps)", r / std::sqrt(r * r + 1e-5),
                                 length(with_eps.forward(equal)) / length(exact.forward(equal))));
  }
  double share = 0;
  for (const double sigma : {1e-4, 1e-3, 1e-2, 1e-1, 1.0}) {
    const Numbers row = scaled(z, sigma);
    const double statistic = length(row) / length(with_eps.forward(row));
    const double missing = 1 - length(with_eps.forward(row)) / length(exact.forward(row));
    share = std::max(share, missing * statistic / std::sqrt(1e-5));
  }
  claim.numbers.push_back(at_most("deviation over its bound, at worst", "1, for S -> 0", 1, share));

  const Numbers g = gaussian(kPhasors * 2, 203);
  const Probe large_eps("mrsnorm", kChannels, 0.01);
  double inverse = 0;
  for (const double r : moduli_of(z)) inverse += 1 / std::sqrt(r * r + 0.01);
  const double expected = dot(g, large_eps.forward(z)) * 0.01 * inverse /
                          (static_cast<double>(kPhasors) * mean_modulus(z, 0.01));
  claim.numbers.push_back(near("eps 0.01: z . dL/dz", "c eps sum(1/m) / (P S)", expected,
                               dot(z, large_eps.backward(z, g))));
  claim.numbers.push_back(at_most(
      "eps 0: z . dL/dz over |z| |dL/dz|", "0, up to rounding", 1e-14,
      std::fabs(dot(z, exact.backward(z, g))) / (length(z) * length(exact.backward(z, g)))));
  return claim;
}

}  // namespace phasor::claims
