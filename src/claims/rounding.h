// Arithmetic in a narrow number format, emulated in double: every partial result is rounded.
#pragma once

#include <cstdint>

namespace phasor::claims {

/// A number rounded to a format.
using Rounding = double (*)(double);

/// IEEE 754 binary16: 11 significant bits, largest 65504, subnormals down to 2^-24. To nearest,
/// ties to even; from 65520 on it is infinite.
double round_float16(double value);

/// bfloat16: 8 significant bits with the range of float32. To nearest, ties to even.
double round_bfloat16(double value);

double round_float32(double value);

/// The number that a pattern of 16 bits stands for.
double float16_from_bits(std::uint16_t bits);
double bfloat16_from_bits(std::uint16_t bits);

/// + - * / and sqrt in the format of `round`. The double result is rounded once more, which gives
/// the correctly rounded result: double has more than twice the digits of every format here and
/// two to spare (Figueroa, "When is double rounding innocuous?", 1995).
struct Arithmetic {
  Rounding round;
  double add(double a, double b) const { return round(a + b); }
  double subtract(double a, double b) const { return round(a - b); }
  double multiply(double a, double b) const { return round(a * b); }
  double divide(double a, double b) const { return round(a / b); }
  double root(double a) const;
};

}  // namespace phasor::claims
