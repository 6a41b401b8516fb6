// C1, C1b, C13: what a norm does to the angles of phasors.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "claims/claim_list.h"
#include "claims/probe.h"

namespace phasor::claims {
namespace {

constexpr double kDegrees = 180 / std::numbers::pi;
constexpr std::size_t kPhasors = 32;
constexpr Index kChannels = 64;

// Each component passes a division and a multiplication, so the two components of a phasor differ
// by at most 4 roundings of u each way; an angle moves by (d_y - d_x) sin cos, so by 2u at most.
constexpr double kAngleBound = 0x1p-52;         // 2u, double
constexpr double kAngleBoundFloat32 = 0x1p-23;  // 2u, float32

Numbers rows() { return gaussian(256 * kPhasors * 2, 101); }
Numbers positive_gains() { return uniform_between(kPhasors, 102, 0.5, 2); }

/// Rows of one phasor each, of length 1, at `count` even angles.
Numbers circle(std::size_t count) {
  Numbers x;
  for (std::size_t k = 0; k < count; ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(count);
    x.push_back(std::cos(angle));
    x.push_back(std::sin(angle));
  }
  return x;
}

/// Rows of two phasors: the first goes round the unit circle, the second holds the mean at `mean`.
Numbers circle_with_mean(std::size_t count, double mean) {
  const Numbers points = circle(count);
  Numbers x;
  for (std::size_t k = 0; k < count; ++k) {
    const double rest = (4 * mean - points[2 * k] - points[2 * k + 1]) / 2;
    x.insert(x.end(), {points[2 * k], points[2 * k + 1], rest, rest});
  }
  return x;
}

}  // namespace

// zhat_i = (gamma_i / S) z_i is a real multiple of z_i: positive leaves the angle, negative turns
// it by pi, zero leaves none.
Claim phase_is_preserved() {
  Claim claim{.id = {},
              .statement =
                  "MRSNorm preserves the phase of every phasor strictly: theta(zhat_i) = "
                  "theta(z_i).",
              .verdict = Verdict::holds_under,
              .condition =
                  "gamma_i > 0 and r_i > 0. A negative gain turns the phase by pi, and "
                  "nothing in training keeps gains positive.",
              .input = "256 rows of 32 Gaussian phasors, gains uniform in (0.5, 2), eps 1e-5",
              .numbers = {}};
  const Numbers x = rows();
  const Numbers gains = positive_gains();
  claim.numbers.push_back(
      at_most("turn in double, rad", "2u, u = 2^-53", kAngleBound,
              largest_turn(x, Probe("mrsnorm", kChannels, 1e-5, gains).forward(x))));

  Numbers x32 = x, gains32 = gains;
  for (double& value : x32) value = static_cast<float>(value);
  for (double& value : gains32) value = static_cast<float>(value);
  claim.numbers.push_back(
      at_most("turn in float32, rad", "2u, u = 2^-24", kAngleBoundFloat32,
              largest_turn(x32, Probe("mrsnorm", kChannels, 1e-5, gains32).forward_float32(x32))));

  Numbers mixed = gains;
  mixed[0] = -mixed[0];
  mixed[1] = 0;
  const Numbers out = Probe("mrsnorm", kChannels, 1e-5, mixed).forward(x);
  double least = 4, zeroed = 0;
  for (std::size_t row = 0; row * kPhasors * 2 < x.size(); ++row) {
    const std::size_t first = row * kPhasors;
    least = std::min(least, std::fabs(turn(x, out, first)));
    zeroed = std::max(zeroed, std::hypot(out[2 * first + 2], out[2 * first + 3]));
  }
  claim.numbers.push_back(
      near("gamma_i < 0: least turn, rad", "pi", std::numbers::pi, least, 1e-15));
  claim.numbers.push_back(exactly("gamma_i = 0: length of zhat_i", "no phase is left", 0, zeroed));
  return claim;
}

// Any norm z_i c_i with a scalar c_i > 0 keeps phases, whatever the statistic. Gains (a, b) within
// a pair give tan theta' = (b/a) tan theta; the turn is largest at tan theta = sqrt(a/b), where
// sin(turn) = |b - a| / (a + b). LayerNorm moves z by -mu (1, 1), which turns a phasor of length r
// by at most asin(sqrt(2) |mu| / r).
Claim statistic_preserves_phase() {
  Claim claim{.id = {},
              .statement =
                  "It is the mean root square statistic that preserves the phase, where "
                  "RMSNorm and LayerNorm distort it.",
              .verdict = Verdict::does_not_hold,
              .condition =
                  "One gain per pair does it, under any statistic without a mean. With a "
                  "gain per channel both statistics turn phases alike, and only once the "
                  "gains of a pair differ.",
              .input =
                  "rows of C1 for the gain per pair; a phasor of length 1 at 7,200 angles, "
                  "gains (1, 2), eps 1e-5, for the rest",
              .numbers = {}};
  const Numbers x = rows();
  claim.numbers.push_back(
      at_most("rms_pair, gain per pair: turn, rad", "2u, u = 2^-53", kAngleBound,
              largest_turn(x, Probe("rms_pair", kChannels, 1e-5, positive_gains()).forward(x))));
  const Numbers around = circle(7200);
  // The grid of 0.05 degrees misses the maximum by less than 1e-6 of it.
  const double skew = std::asin(1.0 / 3) * kDegrees;
  const auto worst = [&](const char* norm) {
    return largest_turn(around, Probe(norm, 2, 1e-5, {1, 2}).forward(around)) * kDegrees;
  };
  claim.numbers.push_back(near("rmsnorm, gain per channel: turn, deg", "asin(|b-a|/(a+b))", skew,
                               worst("rmsnorm"), 1e-6));
  claim.numbers.push_back(near("mrs_channel, gain per channel: turn, deg", "asin(|b-a|/(a+b))",
                               skew, worst("mrs_channel"), 1e-6));
  const Numbers shifted = circle_with_mean(7200, 0.25);
  const Numbers normalised = Probe("layernorm", 4, 1e-5).forward(shifted);
  double largest = 0;
  for (std::size_t row = 0; row < 7200; ++row)
    largest = std::max(largest, std::fabs(turn(shifted, normalised, 2 * row)));
  claim.numbers.push_back(near("layernorm, mean 0.25: turn, deg", "asin(sqrt(2) mu / r)",
                               std::asin(std::numbers::sqrt2 * 0.25) * kDegrees, largest * kDegrees,
                               1e-6));
  return claim;
}

namespace {

struct Speeds {
  double least = 1e300, largest = 0;  // |d zhat_0 / d theta_0| over one revolution
  double others = 0;                  // the largest |d zhat_j / d theta_0|, j > 0
  double one_channel = 1e300;         // the least |d out_0 / d theta_0|
};

/// Phasor 0 of length `r` goes round in 360 steps, three others stand still.
Speeds revolve(const char* norm, double r, const Numbers& gains) {
  constexpr std::size_t kSteps = 360;
  constexpr std::size_t kWidth = 8;
  const Numbers still = gaussian(kWidth, 131);
  const Numbers points = circle(kSteps);
  Numbers x, direction;
  for (std::size_t k = 0; k < kSteps; ++k) {
    const double cosine = points[2 * k], sine = points[2 * k + 1];
    x.insert(x.end(), {r * cosine, r * sine});
    x.insert(x.end(), still.begin() + 2, still.end());
    direction.insert(direction.end(), {-r * sine, r * cosine, 0, 0, 0, 0, 0, 0});
  }
  const Numbers moved = Probe(norm, kWidth, 1e-5, gains).directional(x, direction);
  Speeds speeds;
  for (std::size_t k = 0; k < kSteps; ++k) {
    const double* row = moved.data() + k * kWidth;
    const double speed = std::hypot(row[0], row[1]);
    speeds.least = std::min(speeds.least, speed);
    speeds.largest = std::max(speeds.largest, speed);
    speeds.one_channel = std::min(speeds.one_channel, std::fabs(row[0]));
    for (std::size_t c = 2; c < kWidth; ++c)
      speeds.others = std::max(speeds.others, std::fabs(row[c]));
  }
  return speeds;
}

}  // namespace

// If f is C1 and |f'| = c > 0 everywhere, f' is continuous without a zero, so of one sign, and f is
// affine: not periodic. In two dimensions (cos, sin) has both. Turning z_i leaves r_i and with it
// S, so |d zhat_i / d theta_i| = gamma_i r_i / S at every angle. Gains (a, b) make the circle an
// ellipse with speeds between a r/R and b r/R.
Claim constant_angular_speed() {
  Claim claim{.id = {},
              .statement =
                  "The 1D periodicity paradox: no periodic code in one dimension moves at "
                  "constant speed, phasors do, and MRSNorm keeps it so.",
              .verdict = Verdict::holds,
              .condition =
                  "It is the pair and its shared gain: the RMS statistic keeps the speed "
                  "as well.",
              .input =
                  "4 phasors, one of length 1.5 turned through 360 degrees in steps of 1, "
                  "gains 1.5 (per channel: 1, 2), eps 1e-5",
              .numbers = {}};
  constexpr double r = 1.5, gain = 1.5;
  const Numbers pair_gains(4, gain);
  Numbers row = gaussian(8, 131);
  row[0] = r;
  row[1] = 0;
  const Speeds mrs = revolve("mrsnorm", r, pair_gains);
  claim.numbers.push_back(near("mrsnorm: speed d zhat / d theta", "gamma r / S",
                               gain * r / mean_modulus(row, 1e-5), mrs.least));
  claim.numbers.push_back(
      near("mrsnorm: largest speed over least", "1", 1, mrs.largest / mrs.least, 1e-13));
  claim.numbers.push_back(
      at_most("mrsnorm: movement of the other phasors", "0, up to rounding", 1e-15, mrs.others));
  claim.numbers.push_back(at_most("mrsnorm: least speed of one channel alone",
                                  "0, at the turning points", 1e-15, mrs.one_channel));
  const Speeds rms_pair = revolve("rms_pair", r, pair_gains);
  claim.numbers.push_back(
      near("rms_pair: largest speed over least", "1", 1, rms_pair.largest / rms_pair.least, 1e-13));
  const Speeds rms = revolve("rmsnorm", r, {1, 2, 1, 2, 1, 2, 1, 2});
  claim.numbers.push_back(near("rmsnorm, gains (1, 2): largest over least", "b / a", 2,
                               rms.largest / rms.least, 1e-13));
  return claim;
}

}  // namespace phasor::claims
