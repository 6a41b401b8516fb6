// C12: dot products of normalised phasors, as attention forms them.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "claims/claim_list.h"
#include "claims/probe.h"

namespace phasor::claims {
namespace {

constexpr std::size_t kWidth = 64;  // d, one head
constexpr std::size_t kPhasors = kWidth / 2;
constexpr std::size_t kPairs = 4096;

Numbers products(const Numbers& q, const Numbers& k) {
  Numbers result(q.size() / kWidth);
  for (std::size_t i = 0; i < q.size(); ++i) result[i / kWidth] += q[i] * k[i];
  return result;
}

/// q . k against sum_i |q_i| |k_i| cos(theta_k - theta_q), relative to |q| |k|, at worst.
double identity_error(const Numbers& q, const Numbers& k) {
  const Numbers direct = products(q, k);
  double worst = 0;
  for (std::size_t row = 0; row < direct.size(); ++row) {
    double sum = 0, qq = 0, kk = 0;
    for (std::size_t i = row * kPhasors; i < (row + 1) * kPhasors; ++i) {
      const double q_length = std::hypot(q[2 * i], q[2 * i + 1]);
      const double k_length = std::hypot(k[2 * i], k[2 * i + 1]);
      sum += q_length * k_length * std::cos(turn(q, k, i));
      qq += q_length * q_length;
      kk += k_length * k_length;
    }
    worst = std::max(worst, std::fabs(sum - direct[row]) / std::sqrt(qq * kk));
  }
  return worst;
}

double deviation(const Numbers& values) {
  return length(values) / std::sqrt(static_cast<double>(values.size()));
}

}  // namespace

// In the plane q_i . k_i = |q_i| |k_i| cos(angle): an identity of any vectors. MRSNorm adds
// sum |q_i| = P, so q . k <= sum |q_i| |k_i| <= P^2, reached with all length in one phasor; RMSNorm
// adds |q|^2 = 2P, so q . k <= 2P. On Gaussian vectors S = sqrt(pi/2) sigma, R = sigma: logits are
// smaller by R^2/S^2 = 2/pi.
Claim energy_weighted_cosine() {
  Claim claim{.id = {},
              .statement =
                  "With MRSNorm on queries and keys, attention becomes an energy-weighted "
                  "cosine of phase differences.",
              .verdict = Verdict::holds,
              .condition =
                  "It is an identity of any vectors, normalised or not. MRSNorm's own "
                  "part is sum |q_i| = P, and the bound that follows is looser than "
                  "RMSNorm's: P^2 against 2P.",
              .input = "4,096 pairs of Gaussian queries and keys, d = 64, P = 32, eps 0",
              .numbers = {}};
  const Numbers q = gaussian(kPairs * kWidth, 1201), k = gaussian(kPairs * kWidth, 1202);
  const Probe mrs("mrsnorm", kWidth, 0), rms("rmsnorm", kWidth, 0);
  const Numbers q_mrs = mrs.forward(q), k_mrs = mrs.forward(k);
  const Numbers q_rms = rms.forward(q), k_rms = rms.forward(k);
  const char* rounding = "0, up to rounding";
  claim.numbers.push_back(
      at_most("no norm: q.k less sum |q_i||k_i| cos", rounding, 1e-14, identity_error(q, k)));
  claim.numbers.push_back(at_most("mrsnorm: q.k less sum |q_i||k_i| cos", rounding, 1e-14,
                                  identity_error(q_mrs, k_mrs)));
  claim.numbers.push_back(at_most("rmsnorm: q.k less sum |q_i||k_i| cos", rounding, 1e-14,
                                  identity_error(q_rms, k_rms)));
  claim.numbers.push_back(near("mrsnorm: mean over rows of sum |q_i|", "P", kPhasors,
                               mean_modulus(q_mrs) * static_cast<double>(kPhasors)));
  const Numbers one = phasors_of(one_and_rest(kPhasors, 1, 0), 1203);
  const double root = std::sqrt(static_cast<double>(kWidth));
  const auto logit = [&](const Numbers& v) { return products(v, v)[0] / root; };
  claim.numbers.push_back(near("mrsnorm: largest logit, one phasor alone", "P^2 / sqrt(d)", 128,
                               logit(mrs.forward(one))));
  claim.numbers.push_back(
      near("rmsnorm: largest logit, one phasor alone", "2P / sqrt(d)", 8, logit(rms.forward(one))));
  const double rms_deviation = deviation(products(q_rms, k_rms)) / root;
  claim.numbers.push_back(
      about("rmsnorm: deviation of Gaussian logits", "1", 1, rms_deviation, 0.035));
  claim.numbers.push_back(about("mrsnorm: the same, over RMSNorm's", "2/pi, P large",
                                2 / std::numbers::pi,
                                deviation(products(q_mrs, k_mrs)) / root / rms_deviation, 0.01));
  return claim;
}

}  // namespace phasor::claims
