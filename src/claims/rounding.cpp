#include "claims/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace phasor::claims {
namespace {

struct Format {
  int fraction_bits;
  int least_exponent;  // of normal numbers
  double largest;
};

constexpr Format kFloat16{10, -14, 65504.0};
constexpr Format kBfloat16{7, -126, 0x1.FEp127};

/// The format's numbers near `value` are multiples of a power of two, `unit`: divided by it, they
/// are whole numbers, and rounding to those (halves to the even one) is exact in double.
double round_to(const Format& format, double value) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);  // |value| in [2^(exponent-1), 2^exponent)
  const int unit = std::max(exponent - 1, format.least_exponent) - format.fraction_bits;
  const double scaled = std::ldexp(std::fabs(value), -unit);
  const double below = std::floor(scaled);
  const double rest = scaled - below;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2.0) == 1.0);
  const double rounded = std::ldexp(up ? below + 1 : below, unit);
  const double limited =
      rounded > format.largest ? std::numeric_limits<double>::infinity() : rounded;
  return std::copysign(limited, value);
}

double from_bits(const Format& format, std::uint16_t bits) {
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  const int exponent_bits = 15 - format.fraction_bits;
  const int exponent = (bits >> format.fraction_bits) & ((1 << exponent_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  const int implicit = exponent == 0 ? 0 : 1 << format.fraction_bits;
  const int scale = (exponent == 0 ? 0 : exponent - 1) + format.least_exponent;
  return sign * std::ldexp(implicit + fraction, scale - format.fraction_bits);
}

}  // namespace

double round_float16(double value) { return round_to(kFloat16, value); }
double round_bfloat16(double value) { return round_to(kBfloat16, value); }
double round_float32(double value) { return static_cast<float>(value); }

double float16_from_bits(std::uint16_t bits) { return from_bits(kFloat16, bits); }
double bfloat16_from_bits(std::uint16_t bits) { return from_bits(kBfloat16, bits); }

double Arithmetic::root(double a) const { return round(std::sqrt(a)); }

}  // namespace phasor::claims
