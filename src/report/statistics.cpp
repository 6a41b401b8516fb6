#include "report/statistics.h"

#include <cmath>
#include <limits>

#include "core/elementary.h"

namespace phasor {
namespace {

constexpr int kMostTerms = 10000;
constexpr double kTiny = 1e-300;

/// Logarithm of the gamma function by Stirling's series above 15, by recurrence below.
double log_gamma(double x) {
  double shift = 0;
  for (; x < 15; x += 1) shift += portable_log(x);
  const double r = 1 / x, r2 = r * r;
  const double series =
      r * (1.0 / 12 - r2 * (1.0 / 360 - r2 * (1.0 / 1260 - r2 * (1.0 / 1680 - r2 / 1188))));
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  return (x - 0.5) * portable_log(x) - x + kHalfLogTwoPi + series - shift;
}

double away_from_zero(double x) { return std::fabs(x) < kTiny ? kTiny : x; }

/// The continued fraction of I_x(a, b), which converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) {
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), h = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    h *= d * c;
    if (std::fabs(d * c - 1) < std::numeric_limits<double>::epsilon()) break;
  }
  return h;
}

}  // namespace

double incomplete_beta(double x, double a, double b) {
  if (!(x > 0)) return 0;
  if (x >= 1) return 1;
  const double front = portable_exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) +
                                    a * portable_log(x) + b * portable_log(1 - x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double beta_quantile(double p, double a, double b) {
  double low = 0, high = 1;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (incomplete_beta(middle, a, b) < p ? low : high) = middle;
  }
}

double student_quantile(double p, double degrees) {
  if (p == 0.5) return 0;
  // I_x(degrees / 2, 1 / 2) at x = degrees / (degrees + t^2) is the mass of both tails.
  const double tails = 2 * (p < 0.5 ? p : 1 - p);
  const double x = beta_quantile(tails, degrees / 2, 0.5);
  const double t = std::sqrt(degrees * (1 - x) / x);
  return p < 0.5 ? -t : t;
}

Interval clopper_pearson(std::int64_t successes, std::int64_t trials, double level) {
  const double tail = (1 - level) / 2;
  const auto k = static_cast<double>(successes), n = static_cast<double>(trials);
  return {successes <= 0 ? 0 : beta_quantile(tail, k, n - k + 1),
          successes >= trials ? 1 : beta_quantile(1 - tail, k + 1, n - k)};
}

Differences summarise(std::span<const double> values) {
  Differences out;
  out.n = static_cast<int>(values.size());
  if (values.empty()) return out;
  for (const double value : values) out.mean += value / out.n;
  if (out.n == 1) return out;
  double squares = 0;
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  out.deviation = std::sqrt(squares / (out.n - 1));
  out.half_width = student_quantile(0.975, out.n - 1) * *out.deviation / std::sqrt(out.n);
  return out;
}

}  // namespace phasor
