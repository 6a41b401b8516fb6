#include "core/rounding.h"

namespace phasor {
namespace {

double from_bits(const NumberFormat& format, std::uint16_t bits) {
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  const int exponent_bits = 15 - format.fraction_bits;
  const int exponent = (bits >> format.fraction_bits) & ((1 << exponent_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  const int implicit = exponent == 0 ? 0 : 1 << format.fraction_bits;
  const int scale = (exponent == 0 ? 0 : exponent - 1) + format.least_exponent;
  return sign * std::ldexp(implicit + fraction, scale - format.fraction_bits);
}

}  // namespace

double float16_from_bits(std::uint16_t bits) { return from_bits(kFloat16, bits); }
double bfloat16_from_bits(std::uint16_t bits) { return from_bits(kBfloat16, bits); }

}  // namespace phasor
