// The emulated formats, against every pattern of 16 bits.
#include "core/rounding.h"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

using namespace phasor;

namespace {

/// Every finite pattern is its own rounding, and everything between two neighbours goes to the
/// nearer one, halves to the even pattern: with monotony that is the whole function.
void check_all_patterns(double (*value_of)(std::uint16_t), const NumberFormat& format,
                        int infinity) {
  const auto round = [&](double value) { return round_to(format, value); };
  int wrong = 0;
  for (int sign = 0; sign <= 0x8000; sign += 0x8000) {
    for (int bits = 0; bits < infinity; ++bits) {
      const double here = value_of(static_cast<std::uint16_t>(sign + bits));
      wrong += round(here) != here || std::signbit(round(here)) != (sign != 0);
      if (bits + 1 == infinity) continue;
      const double next = value_of(static_cast<std::uint16_t>(sign + bits + 1));
      const double middle = (here + next) / 2;  // exact: one digit more
      wrong += round(middle) != (bits % 2 == 0 ? here : next);
      wrong += round(std::nextafter(middle, here)) != here;
      wrong += round(std::nextafter(middle, next)) != next;
      wrong += round(std::nextafter(here, next)) != here;
      wrong += round(std::nextafter(next, here)) != next;
    }
    const double limit = value_of(static_cast<std::uint16_t>(sign + infinity));
    wrong += !std::isinf(limit) || round(limit) != limit;
    for (int bits = infinity + 1; bits < 0x8000; ++bits)
      wrong += !std::isnan(value_of(static_cast<std::uint16_t>(sign + bits)));
  }
  CHECK(wrong == 0);
  CHECK(std::isnan(round(std::numeric_limits<double>::quiet_NaN())));
}

}  // namespace

TEST_CASE("float16: all 65,536 patterns, and what lies between them") {
  check_all_patterns(float16_from_bits, kFloat16, 0x7C00);
}

TEST_CASE("bfloat16: all 65,536 patterns, and what lies between them") {
  check_all_patterns(bfloat16_from_bits, kBfloat16, 0x7F80);
}

TEST_CASE("float16: known values") {
  CHECK(float16_from_bits(0x3C00) == 1);
  CHECK(float16_from_bits(0x7BFF) == 65504);
  CHECK(float16_from_bits(0x0001) == 0x1p-24);
  CHECK(float16_from_bits(0xC000) == -2);
  CHECK(float16_from_bits(0x3555) == doctest::Approx(1.0 / 3).epsilon(3e-4));
  CHECK(round_to(kFloat16, 65519.99) == 65504);
  CHECK(std::isinf(round_to(kFloat16, 65520)));
  CHECK(round_to(kFloat16, -1e300) == -std::numeric_limits<double>::infinity());
  CHECK(round_to(kFloat16, 0x1p-25) == 0);
  CHECK(round_to(kFloat16, 0x1.8p-25) == 0x1p-24);
  CHECK(round_to(kFloat16, 2049) == 2048);
  CHECK(round_to(kFloat16, 2051) == 2052);
  CHECK(round_to(kFloat16, 0.1) == 0.0999755859375);
}

TEST_CASE("bfloat16: known values") {
  CHECK(bfloat16_from_bits(0x3F80) == 1);
  CHECK(bfloat16_from_bits(0x7F7F) == 0x1.FEp127);
  CHECK(round_to(kBfloat16, 257) == 256);
  CHECK(round_to(kBfloat16, 259) == 260);
  CHECK(round_to(kBfloat16, 3.14159265) == 3.140625);
  CHECK(std::isinf(round_to(kBfloat16, 0x1.FFp127)));
  CHECK(round_to(kBfloat16, 0x1.FEFFFFp127) == 0x1.FEp127);
}

TEST_CASE("float32: what the processor does, at every exponent") {
  int wrong = 0;
  for (int exponent = -160; exponent < 135; ++exponent)
    for (int i = 0; i < 50; ++i) {
      const double value = std::ldexp(1 + std::fmod(i * 0.6180339887498949, 1.0), exponent);
      wrong += round_to(kFloat32, value) != static_cast<float>(value);
      wrong += round_to(kFloat32, -value) != static_cast<float>(-value);
      // Halfway between two numbers, and just beside.
      const double tie = std::ldexp(2 * (8388608.0 + i) + 1, exponent);
      for (const double near : {std::nextafter(tie, 0), tie, std::nextafter(tie, HUGE_VAL)})
        wrong += round_to(kFloat32, near) != static_cast<float>(near);
    }
  CHECK(wrong == 0);
}

TEST_CASE("subnormal numbers: ties to even down to the last digit") {
  CHECK(round_to(kFloat16, 0x1.8p-24) == 0x1p-23);  // 1.5 units: to 2
  CHECK(round_to(kFloat16, 0x1.4p-23) == 0x1p-23);  // 2.5 units: to 2
  CHECK(round_to(kFloat16, -0x1.4001p-23) == -0x1.8p-23);
  CHECK(round_to(kFloat16, 0x1.FFAp-15) == 0x1.FF8p-15);  // 1023.25 units: to the largest one
  CHECK(round_to(kFloat16, 0x1.FFCp-15) == 0x1p-14);      // 1023.5: to the least normal number
  CHECK(round_to(kBfloat16, 0x1p-134) == 0);
  CHECK(std::signbit(round_to(kBfloat16, -0x1p-134)));
  CHECK(round_to(kBfloat16, 0x1.8p-134) == 0x1p-133);
}

TEST_CASE("arithmetic rounds every partial result") {
  constexpr Arithmetic half{kFloat16};
  CHECK(half.add(2048, 1) == 2048);
  CHECK(half.add(2048, 3) == 2052);
  CHECK(half.subtract(1, 0x1p-12) == 1);
  CHECK(half.multiply(255.875, 255.875) == 65472);
  CHECK(std::isinf(half.multiply(256, 256)));
  CHECK(half.divide(1, 3) == float16_from_bits(0x3555));
  CHECK(half.root(2) == 1.4140625);
}
