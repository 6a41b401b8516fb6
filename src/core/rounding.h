// Arithmetic in a narrow number format, emulated in double: every partial result is rounded.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace phasor {

/// A binary floating-point format of at most the range and digits of float32.
struct NumberFormat {
  int fraction_bits;   ///< after the leading one
  int least_exponent;  ///< of normal numbers; below it are subnormal ones
  double largest;
};

inline constexpr NumberFormat kFloat16{10, -14, 65504.0};  ///< IEEE 754 binary16
inline constexpr NumberFormat kBfloat16{7, -126, 0x1.FEp127};
inline constexpr NumberFormat kFloat32{23, -126, 0x1.FFFFFEp127};  ///< IEEE 754 binary32

/// The number of the format nearest to `value`, ties to even; infinite from half a last digit above
/// the largest on (float16: 65520). Does not depend on flush-to-zero.
inline double round_to(const NumberFormat& format, double value) {
  const double size = std::fabs(value);
  if (!(size < 0x1p129)) return std::isnan(value) ? value : std::copysign(HUGE_VAL, value);
  // Near `size` the format's numbers are multiples of a power of two. That power is the last digit
  // of `shift`, 2^52 times as large: adding and subtracting it rounds to them.
  constexpr int kBias = 1023, kDigits = 52;
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(size) >> kDigits) - kBias;
  const int unit = std::max(exponent, format.least_exponent) - format.fraction_bits;
  const auto shift =
      std::bit_cast<double>(static_cast<std::uint64_t>(unit + kDigits + kBias) << kDigits);
  const double rounded = (size + shift) - shift;
  return std::copysign(rounded > format.largest ? HUGE_VAL : rounded, value);
}

/// The number that a pattern of 16 bits stands for.
double float16_from_bits(std::uint16_t bits);
double bfloat16_from_bits(std::uint16_t bits);

/// + - * / and sqrt of numbers of the format. The double result is rounded once more, which gives
/// the correctly rounded result: double has more than twice the digits of every format here and
/// two to spare (Figueroa, "When is double rounding innocuous?", 1995).
struct Arithmetic {
  NumberFormat format;
  double round(double a) const { return round_to(format, a); }
  double add(double a, double b) const { return round(a + b); }
  double subtract(double a, double b) const { return round(a - b); }
  double multiply(double a, double b) const { return round(a * b); }
  double divide(double a, double b) const { return round(a / b); }
  double root(double a) const { return round(std::sqrt(a)); }
};

}  // namespace phasor
