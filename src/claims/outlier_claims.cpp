// C5, C6: one phasor k times the length of the P - 1 others, which have length 1.
//
// S = (P - 1 + k)/P and T = sqrt(2) R = sqrt((P - 1 + k^2)/P); a phasor comes out at its length
// over S or T. (RMSNorm divides by R: its phasors are sqrt(2) times longer. T makes both norms give
// 1 for equal phasors, so that only the statistic differs.)
#include <cmath>
#include <numbers>

#include "check/inputs.h"
#include "claims/claim_list.h"
#include "claims/probe.h"

namespace phasor::claims {
namespace {

constexpr std::size_t kPhasors = 32;
constexpr Index kChannels = 64;
constexpr double kP = 32;

/// Lengths of the outlier and of another phasor, after the norm.
struct Lengths {
  double outlier, other;
};

Lengths lengths(const char* norm, double k, double unit) {
  const Numbers row = phasors_of(one_and_rest(kPhasors, k, 1), 601);
  const Numbers moduli = moduli_of(Probe(norm, kChannels, 0).forward(row));
  return {moduli[0] / unit, moduli[1] / unit};
}

Lengths by_mrs(double k) { return lengths("mrsnorm", k, 1); }
Lengths by_rms(double k) { return lengths("rms_pair", k, std::numbers::sqrt2); }

double mean_statistic(double k) { return (kP - 1 + k) / kP; }
double square_statistic(double k) { return std::sqrt((kP - 1 + k * k) / kP); }

std::string at(double k) { return "k = " + check::short_number(k); }

}  // namespace

// T/S lies in [1, sqrt(P)]: the mean of the r_i is at most their root mean square (equal when all
// are), and sum r_i >= sqrt(sum r_i^2) (equal when all but one are 0).
Claim no_starvation() {
  Claim claim{.id = {},
              .statement = "MRSNorm prevents the starvation of small channels beside a large one.",
              .verdict = Verdict::holds_under,
              .condition =
                  "comparison with RMSNorm only: small phasors stay longer by a factor "
                  "between 1 and sqrt(P). They still go to 0 with the outlier, as P/k.",
              .input = "32 phasors of length 1, one of them of length k; eps 0",
              .numbers = {}};
  for (const double k : {10.0, 100.0, 1000.0}) {
    claim.numbers.push_back(near("mrsnorm, " + at(k) + ": a small phasor", "P/(P-1+k)",
                                 1 / mean_statistic(k), by_mrs(k).other));
    claim.numbers.push_back(near("rms_pair, " + at(k) + ": a small phasor / sqrt(2)",
                                 "sqrt(P/(P-1+k^2))", 1 / square_statistic(k), by_rms(k).other));
  }
  claim.numbers.push_back(near("ratio of the two, " + at(1) + " (all equal)", "1", 1,
                               by_mrs(1).other / by_rms(1).other));
  claim.numbers.push_back(near("ratio of the two, " + at(1e9), "sqrt(P)", std::sqrt(kP),
                               by_mrs(1e9).other / by_rms(1e9).other, 1e-6));
  return claim;
}

// The outlier comes out at k/S -> P or k/T -> sqrt(P). Both norms divide a row by one number, so
// the ratio k between the outlier and the rest is what it was.
Claim no_domination() {
  Claim claim{.id = {},
              .statement =
                  "No dancer can drown out the rest: outputs stay bounded and outliers "
                  "are held down.",
              .verdict = Verdict::does_not_hold,
              .condition =
                  "Outputs are bounded by P, but RMSNorm's by less: sqrt(P). The outlier "
                  "itself comes out larger under MRSNorm, and under either norm as many "
                  "times above the rest as it went in.",
              .input = "32 phasors of length 1, one of them of length k; eps 0",
              .numbers = {}};
  for (const double k : {10.0, 100.0, 1000.0}) {
    claim.numbers.push_back(near("mrsnorm, " + at(k) + ": the outlier", "k P/(P-1+k)",
                                 k / mean_statistic(k), by_mrs(k).outlier));
    claim.numbers.push_back(near("rms_pair, " + at(k) + ": the outlier / sqrt(2)",
                                 "k sqrt(P/(P-1+k^2))", k / square_statistic(k),
                                 by_rms(k).outlier));
  }
  claim.numbers.push_back(
      near("mrsnorm, " + at(1e9) + ": the outlier", "P", kP, by_mrs(1e9).outlier, 1e-6));
  claim.numbers.push_back(near("rms_pair, " + at(1e9) + ": the outlier / sqrt(2)", "sqrt(P)",
                               std::sqrt(kP), by_rms(1e9).outlier, 1e-6));
  claim.numbers.push_back(near("mrsnorm, " + at(100) + ": outlier over another phasor", "k", 100,
                               by_mrs(100).outlier / by_mrs(100).other));
  claim.numbers.push_back(near("rms_pair, " + at(100) + ": outlier over another phasor", "k", 100,
                               by_rms(100).outlier / by_rms(100).other));
  return claim;
}

}  // namespace phasor::claims
