// Arithmetic in a narrow number format, emulated in double: every partial result is rounded.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace phasor {

/// A binary floating-point format of at most the range and digits of float32.
struct NumberFormat {
  int fraction_bits;   ///< after the leading one
  int least_exponent;  ///< of normal numbers; below it are subnormal ones
  double overflow;     ///< half a last digit above the largest number: infinite from here on
};

inline constexpr NumberFormat kFloat16{10, -14, 65520.0};  ///< IEEE 754 binary16
inline constexpr NumberFormat kBfloat16{7, -126, 0x1.FFp127};
inline constexpr NumberFormat kFloat32{23, -126, 0x1.FFFFFFp127};  ///< IEEE 754 binary32

/// The number of the format nearest to `value`, ties to even. Does not depend on flush-to-zero.
inline double round_to(const NumberFormat& format, double value) {
  constexpr int kDigits = 52, kBias = 1023;  // of double
  const auto power = [](int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kBias) << kDigits);
  };
  const double size = std::fabs(value);
  if (size >= power(format.least_exponent) && size < format.overflow) {
    // Add half a last digit, less a bit where the last digit is even, and cut; a carry into the
    // exponent is right.
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int cut = kDigits - format.fraction_bits;
    const std::uint64_t half = std::uint64_t{1} << (cut - 1), odd = (bits >> cut) & 1;
    return std::bit_cast<double>((bits + (half - 1) + odd) >> cut << cut);
  }
  if (size < format.overflow) {
    // Subnormal numbers are multiples of one power of two. It is the last digit of `shift`, so that
    // the processor rounds to it.
    const double shift = power(format.least_exponent - format.fraction_bits + kDigits);
    return std::copysign((size + shift) - shift, value);
  }
  return std::isnan(value) ? value : std::copysign(HUGE_VAL, value);
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
