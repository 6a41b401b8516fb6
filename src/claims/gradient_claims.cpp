// C3, C4, C7: what the statistic does to gradients.
//
// With gamma = 1, dL/dz_i = g_i / S - v_i A / (P S^2), A = sum_j g_j . z_j, v_i = z_i / m_i. The
// second term is the coupling: what the phasors do to one another through S, because dS/dz_i =
// v_i / P. Where dL/dzhat is zero but for phasor 0, the gradient of all others is the coupling
// alone: so it is measured here, through the norm.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "check/inputs.h"
#include "claims/claim_list.h"
#include "claims/probe.h"
#include "phasor/ops.h"

namespace phasor::claims {
namespace {

constexpr std::size_t kPhasors = 32;
constexpr Index kChannels = 64;

/// |dL/dz_j| of all phasors but the first, for dL/dzhat = (1, 0) at the first and 0 elsewhere.
Numbers coupling(const char* norm, double eps, const Numbers& row) {
  Numbers g(row.size());
  g[0] = 1;
  const Probe probe(norm, static_cast<Index>(row.size()), eps);
  Numbers lengths = moduli_of(probe.backward(row, g));
  lengths.erase(lengths.begin());
  return lengths;
}

}  // namespace

// |dS/dz_i| = |v_i| / P = r_i / (P sqrt(r_i^2 + eps)). RMSNorm's is proportional to r_i. The first
// term g_i / S is whatever the loss sends: with Gaussian g_i its length is Rayleigh distributed, of
// deviation over mean sqrt(4/pi - 1).
Claim equal_gradient_magnitude() {
  Claim claim{.id = {},
              .statement = "The local gradient magnitude is unconditionally equal for all phasors.",
              .verdict = Verdict::holds_under,
              .condition =
                  "eps = 0 and r_i > 0, and for the gradient of the statistic only: "
                  "|dS/dz_i| = 1/P. Not for |dL/dz_i|, whose first term gamma_i g_i / S "
                  "is arbitrary.",
              .input =
                  "32 Gaussian phasors, eps 0, dL/dzhat = (1, 0) at the first alone; phasors of "
                  "length 1, 0.1, 0.01, 0.001 with eps 1e-5; 64 rows of 512 with Gaussian "
                  "dL/dzhat for |dL/dz_i|",
              .numbers = {}};
  const Numbers row = gaussian(kPhasors * 2, 301);
  claim.numbers.push_back(at_most("mrsnorm: deviation/mean of the coupling", "0, up to rounding",
                                  1e-13, variation(coupling("mrsnorm", 0, row))));
  Numbers lengths = moduli_of(row);
  lengths.erase(lengths.begin());
  claim.numbers.push_back(near("rms_pair: deviation/mean of the coupling", "that of the r_j",
                               variation(lengths), variation(coupling("rms_pair", 0, row))));

  const Numbers unequal = coupling("mrsnorm", 1e-5, phasors_of({1, 1, 0.1, 0.01, 0.001}, 302));
  const double eps = 1e-5;
  for (std::size_t i = 1; i < 4; ++i) {
    const double r = std::pow(10.0, -static_cast<double>(i));
    claim.numbers.push_back(near("r = " + check::short_number(r) + ": coupling over that at r = 1",
                                 "r/sqrt(r^2+eps) (1+eps)^.5",
                                 r / std::sqrt(r * r + eps) * std::sqrt(1 + eps),
                                 unequal[i] / unequal[0]));
  }

  constexpr std::size_t kMany = 512, kRows = 64;
  const Numbers x = gaussian(kRows * kMany * 2, 303);
  const Numbers g = gaussian(kRows * kMany * 2, 304);
  claim.numbers.push_back(about("mrsnorm: deviation/mean of |dL/dz_i|", "sqrt(4/pi - 1), P large",
                                std::sqrt(4 / std::numbers::pi - 1),
                                variation(moduli_of(Probe("mrsnorm", kMany * 2, 0).backward(x, g))),
                                0.015));
  return claim;
}

namespace {

/// ||J|| R at eps 0: how much a norm's gradient can grow, free of the row's scale.
double relative_norm(const char* norm, const Numbers& row) {
  return operator_norm(Probe(norm, static_cast<Index>(row.size()), 0).jacobian(row)) *
         root_mean_square_of(row);
}

/// sqrt(2) R^2 / S^2: the same for MRSNorm, by the formula, where no phasor is zero.
double predicted_norm(const Numbers& row) {
  const double ratio = root_mean_square_of(row) / mean_modulus(row);
  return std::numbers::sqrt2 * ratio * ratio;
}

/// |d statistic / d x| of one row, by the engine's ops.
template <class Statistic>
double statistic_gradient(const Numbers& row, Statistic&& statistic) {
  Tape tape(DType::float64);
  const Var x = tape.leaf(Tensor({1, 1, static_cast<Index>(row.size())}, row));
  tape.backward(sum(statistic(x)));
  return length(x.grad().values());
}

}  // namespace

// At eps 0, J = (I - Q)/S with Q = z v^T/(P S), a projector (v . z = P S) that is not symmetric.
// Then ||I - Q|| = ||Q|| = |z| |v|/(P S), and with |z| = sqrt(2P) R, |v| = sqrt(P): ||J|| =
// sqrt(2) R / S^2. For RMSNorm the projector is symmetric and ||J|| = 1/R.
// One phasor of length k, the rest towards 0: S = k/P, R = k/sqrt(2P): ||J|| R -> P/sqrt(2). At the
// limit itself the zero phasors have v_j = 0, |v| = 1, the projector is symmetric, and ||J|| R =
// R/S = sqrt(P/2).
// With eps, S >= sqrt(eps), |v| <= sqrt(P) and |z| <= P S: ||J|| <= (1 + sqrt(P))/sqrt(eps), and
// 1/sqrt(eps) at a zero row.
Claim gradient_clipper() {
  Claim claim{.id = {},
              .statement = "MRSNorm works as a built-in gradient clipper.",
              .verdict = Verdict::does_not_hold,
              .condition =
                  "Nothing bounds ||J|| but eps. On Gaussian rows it is 10% below RMSNorm's 1/R, "
                  "on rows with outliers up to P/sqrt(2) times above. The statistic's own "
                  "gradient is constant under both norms; only how it is shared differs.",
              .input =
                  "rows of 32 phasors (Gaussian, Laplace, Cauchy; one phasor 10^6 times the "
                  "rest), 256 for the Gaussian limit; J by the engine, ||J|| by power iteration",
              .numbers = {}};
  const Numbers gauss = gaussian(kPhasors * 2, 401);
  const Numbers laplacian = laplace(kPhasors * 2, 402);
  const Numbers heavy = cauchy(kPhasors * 2, 403);
  const char* formula = "sqrt(2) R^2/S^2 of it";
  claim.numbers.push_back(near("mrsnorm, Gaussian row: ||J|| R", formula, predicted_norm(gauss),
                               relative_norm("mrsnorm", gauss)));
  // One row scatters by sqrt((v - 4 c + 4 w)/P), relative to itself: v = 1 and w = 4/pi - 1 are
  // the relative variances of r^2 and r, c = 1/2 their covariance. The band is three deviations of
  // the mean of 8 rows.
  double average = 0;
  for (std::uint64_t i = 0; i < 8; ++i)
    average += relative_norm("mrsnorm", gaussian(512, 410 + i)) / 8;
  claim.numbers.push_back(about("mrsnorm, 8 Gaussian rows: mean ||J|| R", "2 sqrt(2)/pi",
                                2 * std::numbers::sqrt2 / std::numbers::pi, average, 0.019));
  claim.numbers.push_back(near("mrsnorm, Laplace row: ||J|| R", formula, predicted_norm(laplacian),
                               relative_norm("mrsnorm", laplacian)));
  claim.numbers.push_back(near("mrsnorm, Cauchy row: ||J|| R", formula, predicted_norm(heavy),
                               relative_norm("mrsnorm", heavy)));
  const Numbers nearly_one = phasors_of(one_and_rest(kPhasors, 1, 1e-6), 405);
  claim.numbers.push_back(near("mrsnorm, one phasor far above: ||J|| R", "P/sqrt(2)",
                               kPhasors / std::numbers::sqrt2, relative_norm("mrsnorm", nearly_one),
                               1e-3));
  const Numbers one = phasors_of(one_and_rest(kPhasors, 1, 0), 405);
  claim.numbers.push_back(near("mrsnorm, the rest exactly zero: ||J|| R", "sqrt(P/2)",
                               std::sqrt(kPhasors / 2.0), relative_norm("mrsnorm", one)));
  double rms_low = 1e300, rms_high = 0;
  for (const Numbers* row : {&gauss, &laplacian, &heavy, &nearly_one}) {
    const double norm = relative_norm("rmsnorm", *row);
    rms_low = std::min(rms_low, norm);
    rms_high = std::max(rms_high, norm);
  }
  claim.numbers.push_back(near("rmsnorm, the same rows: least ||J|| R", "1", 1, rms_low));
  claim.numbers.push_back(near("rmsnorm, the same rows: largest ||J|| R", "1", 1, rms_high));
  claim.numbers.push_back(
      near("mrsnorm, zero row, eps 1e-5: ||J||", "1/sqrt(eps)", 1 / std::sqrt(1e-5),
           operator_norm(Probe("mrsnorm", kChannels, 1e-5).jacobian(Numbers(kPhasors * 2)))));
  claim.numbers.push_back(near(
      "Cauchy row: |grad S| sqrt(P)", "1", 1,
      std::sqrt(static_cast<double>(kPhasors)) *
          statistic_gradient(heavy, [](const Var& x) { return mean(modulus(phasors(x), 0)); })));
  claim.numbers.push_back(
      near("Cauchy row: |grad R| sqrt(C)", "1", 1,
           std::sqrt(2.0 * kPhasors) * statistic_gradient(heavy, [](const Var& x) {
             return root_mean_square(x, {1, 2}, 0);
           })));
  return claim;
}

namespace {

/// dT/dr_0 of a norm's statistic T, from its output alone: phasor 1 is (1, 0), so out_1 = 1/T and
/// dT/dz_0 = -T^2 d(out_1)/dz_0.
double influence(const char* norm, double r) {
  Numbers row = phasors_of(one_and_rest(kPhasors, r, 1), 501);
  row[2] = 1;
  row[3] = 0;
  const Probe probe(norm, kChannels, 0);
  Numbers g(row.size());
  g[2] = 1;
  const double statistic = 1 / probe.forward(row)[2];
  const Numbers gradient = probe.backward(row, g);
  const double along = (gradient[0] * row[0] + gradient[1] * row[1]) / r;
  return -statistic * statistic * along;
}

}  // namespace

// dS/dr_i = 1/P for every r_i. For T = sqrt(2) R = sqrt(sum r^2 / P), dT/dr_i = r_i/(P T): rising
// with r_i while it is small, and 1/sqrt(P) once it dominates. (The norm's statistic is R; the
// factor sqrt(2) makes T = S for equal phasors.)
Claim linear_influence() {
  Claim claim{.id = {},
              .statement =
                  "An outlier enters MRSNorm's statistic linearly, and RMSNorm's "
                  "quadratically.",
              .verdict = Verdict::holds_under,
              .condition =
                  "the reading that each phasor has the same slope, 1/P. RMSNorm's "
                  "statistic is linear in a dominating outlier too, with the slope "
                  "1/sqrt(P); it is quadratic in small phasors only.",
              .input =
                  "32 phasors of length 1, one of them of length r; eps 0; slopes from the "
                  "gradient of another phasor's output",
              .numbers = {}};
  constexpr double p = kPhasors;
  for (const double r : {0.1, 1.0, 10.0, 1000.0})
    claim.numbers.push_back(near("mrsnorm, r = " + check::short_number(r) + ": dS/dr", "1/P", 1 / p,
                                 influence("mrsnorm", r)));
  for (const double r : {0.1, 1.0, 10.0, 1000.0}) {
    const double statistic = std::sqrt((p - 1 + r * r) / p);
    claim.numbers.push_back(near("rms_pair, r = " + check::short_number(r) + ": d(sqrt(2) R)/dr",
                                 "r / (P sqrt(2) R)", r / (p * statistic),
                                 std::numbers::sqrt2 * influence("rms_pair", r)));
  }
  claim.numbers.push_back(near("rms_pair, r = 10^6: d(sqrt(2) R)/dr", "1/sqrt(P)", 1 / std::sqrt(p),
                               std::numbers::sqrt2 * influence("rms_pair", 1e6)));
  return claim;
}

}  // namespace phasor::claims
