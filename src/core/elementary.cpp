#include "core/elementary.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace phasor {
namespace {

// ln 2 in two parts: the first has 21 trailing zero bits, so that its small multiples are exact.
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

}  // namespace

// x = k ln 2 + r with |r| <= ln(2)/2; the Taylor series of e^r to r^13, error below 1e-17.
double portable_exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 709.79) return std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0;
  const double k = std::floor(x * 1.4426950408889634 + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double sum = 1;
  for (int n = 13; n >= 1; --n) sum = 1 + sum * r / n;
  return std::ldexp(sum, static_cast<int>(k));
}

// Exponent times ln 2 plus the series of 2 atanh(s), s = (m - 1)/(m + 1), m in [sqrt(1/2),
// sqrt(2)): |s| < 0.172, and the terms beyond s^21 are below 1e-18.
double portable_log(double x) {
  if (!(x > 0))
    return x == 0 ? -std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(x)) return x;
  int exponent = 0;
  if (x < std::numeric_limits<double>::min()) {  // subnormal
    x *= 0x1p54;
    exponent = -54;
  }
  auto bits = std::bit_cast<std::uint64_t>(x);
  exponent += static_cast<int>(bits >> 52) - 1023;
  bits = (bits & 0xFFFFFFFFFFFFFull) | 0x3FF0000000000000ull;
  double mantissa = std::bit_cast<double>(bits);
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    ++exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return exponent * 0.6931471805599453 + 2 * s * sum;
}

// tan(a/2) = y / (r + |x|) for the angle a in [0, pi/2], halved twice more to t <= tan(pi/16) =
// 0.199; the series of atan(t) to t^21, whose next term is below 4e-18.
double portable_angle(double x, double y) {
  constexpr double kPi = 3.141592653589793;
  double t = y / (std::sqrt(x * x + y * y) + std::abs(x));
  for (int i = 0; i < 2; ++i) t /= 1 + std::sqrt(1 + t * t);
  const double square = t * t;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = 1.0 / k - square * sum;
  const double angle = 8 * t * sum;
  return x < 0 ? kPi - angle : angle;
}

}  // namespace phasor
