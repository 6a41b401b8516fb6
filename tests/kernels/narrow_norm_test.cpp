// Statistics in narrow formats: values by hand, and the float32 kernels where nothing is narrow.
#include "kernels/narrow_norm.h"

#include <algorithm>

#include "support.h"

namespace phasor::kernels {
namespace {

using namespace test;

constexpr Statistic kStatistics[] = {Statistic::deviation, Statistic::root_mean_square,
                                     Statistic::mean_pair_modulus, Statistic::mean_absolute};

struct Result {
  std::vector<float> out, dx;
  double statistic;  // of the first row
};

/// Rows of x without gain and bias, dy all ones unless given.
Result run(Statistic kind, const NumberFormat& format, bool rescue, const std::vector<float>& x,
           double eps = 0, std::vector<float> dy = {}, Index rows = 1) {
  const auto channels = static_cast<Index>(x.size()) / rows;
  const NarrowNorm norm{{kind, rows, 1, channels, false, false, eps}, format, rescue};
  if (dy.empty()) dy.assign(x.size(), 1);
  std::vector<float> saved(static_cast<std::size_t>(narrow_norm_saved_size(norm.rows)));
  Result r{std::vector<float>(x.size()), std::vector<float>(x.size()), 0};
  narrow_norm_forward(norm, {x.data(), nullptr, nullptr, nullptr, r.out.data(), saved.data()});
  narrow_norm_backward(norm, {x.data(), nullptr, r.out.data(), saved.data(), dy.data(), r.dx.data(),
                              nullptr, nullptr, nullptr, false});
  r.statistic = std::ldexp(saved[0], -static_cast<int>(saved[1]));
  return r;
}

std::vector<float> filled(std::size_t count, float value) {
  return std::vector<float>(count, value);
}

bool all_equal(const std::vector<float>& values, float value) {
  return std::all_of(values.begin(), values.end(), [&](float v) { return v == value; });
}

bool all_nan(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isnan(v); });
}

TEST_CASE("B02: 64 channels of 32.0 in float16 are 1.0 with rescue, inf and 0 without") {
  const std::vector<float> x = filled(64, 32);
  const Result rescued = run(Statistic::root_mean_square, kFloat16, true, x);
  CHECK(rescued.statistic == 32);
  CHECK(all_equal(rescued.out, 1));
  const Result plain = run(Statistic::root_mean_square, kFloat16, false, x);
  CHECK(std::isinf(plain.statistic));
  CHECK(all_equal(plain.out, 0));
  CHECK(all_equal(plain.dx, 0));
  CHECK(run(Statistic::root_mean_square, kBfloat16, false, x).statistic == 32);
  CHECK(run(Statistic::root_mean_square, kFloat32, false, x).statistic == 32);
}

TEST_CASE("B02: the phasor (182, 182) in float16: infinite without rescue, 182 sqrt(2) with") {
  const Result plain = run(Statistic::mean_pair_modulus, kFloat16, false, {182, 182});
  CHECK(std::isinf(plain.statistic));
  CHECK(all_equal(plain.out, 0));
  CHECK(all_equal(plain.dx, 0));
  const Result rescued = run(Statistic::mean_pair_modulus, kFloat16, true, {182, 182});
  CHECK(rescued.statistic == 257.25);          // 182 sqrt(2) = 257.39
  CHECK(all_equal(rescued.out, 0.70751953F));  // 182/257.25 = 0.707483
  // Just below the limit both are the same: 180^2 + 180^2 = 64800.
  CHECK(run(Statistic::mean_pair_modulus, kFloat16, false, {180, 180}).statistic == 254.5);
  CHECK(run(Statistic::mean_pair_modulus, kFloat16, true, {180, 180}).statistic == 254.5);
}

TEST_CASE("partial sums are rounded in order, one after the other") {
  // 32 moduli of 45.25: above 512 each loses a quarter, 12 * 45.25 + 20 * 45 = 1443.
  CHECK(run(Statistic::mean_pair_modulus, kFloat16, false, filled(64, 32)).statistic * 32 == 1443);
  // The sum of ones stops at 2048 in float16 and at 256 in bfloat16.
  CHECK(run(Statistic::mean_absolute, kFloat16, false, filled(4096, 1)).statistic == 0.5);
  CHECK(run(Statistic::mean_absolute, kBfloat16, false, filled(1024, 1)).statistic == 0.25);
  CHECK(run(Statistic::mean_absolute, kFloat16, true, filled(4096, 1)).statistic == 0.5);
  // 2048 + 1 + 1 is 2048, 1 + 1 + 2048 is 2050.
  CHECK(run(Statistic::mean_absolute, kFloat16, false, {2048, 1, 1, 0}).statistic == 512);
  CHECK(run(Statistic::mean_absolute, kFloat16, false, {1, 1, 2048, 0}).statistic == 512.5);
}

TEST_CASE("every operation rounds: elements, squares, eps, root and quotient") {
  // x = 0.1 is 0.0999755859375; its square, 0.00999511778354644775390625, lies between 1310 and
  // 1311 units of 2^-17 (1310.08): the statistic is that number's root, 0.09997 -> 0.09997559.
  CHECK(run(Statistic::root_mean_square, kFloat16, false, {0.1F}).statistic == 0.0999755859375);
  // 1.0009765625^2 = 1.00195408: 1.001953125, whose root is 1.00097609, one unit above 1.
  CHECK(run(Statistic::root_mean_square, kFloat16, false, {1.0009765625F}).statistic ==
        1.0009765625);
  // eps 1e-5 is 168 units of 2^-24; below 2^-25 it is nothing.
  CHECK(run(Statistic::mean_absolute, kFloat16, false, {0, 0}, 1e-5).statistic == 168 * 0x1p-24);
  CHECK(run(Statistic::mean_absolute, kFloat16, false, {0, 0}, 2.9e-8).statistic == 0);
  CHECK(run(Statistic::root_mean_square, kFloat16, false, {1, 1}, 0x1p-11).statistic == 1);
  // 1/3 in each format: the sum of 1, 0, 0 over 3.
  CHECK(run(Statistic::mean_absolute, kFloat16, false, {1, 0, 0}).statistic == 0x1.554p-2);
  CHECK(run(Statistic::mean_absolute, kBfloat16, false, {1, 0, 0}).statistic == 0x1.56p-2);
  CHECK(run(Statistic::mean_absolute, kFloat32, false, {1, 0, 0}).statistic == 1.0F / 3);
  CHECK(run(Statistic::mean_absolute, kFloat16, false, {1, 5}).out[0] == 0x1.554p-2F);
}

TEST_CASE("without rescue: NaN from an infinite mean, element or 0/0, as plain code") {
  CHECK(all_nan(run(Statistic::deviation, kFloat16, false, filled(64, 1200)).out));
  const Result large = run(Statistic::root_mean_square, kFloat16, false, {70000, 1});
  CHECK(std::isnan(large.out[0]));  // inf / inf
  CHECK(large.out[1] == 0);
  CHECK(all_nan(run(Statistic::root_mean_square, kFloat16, false, {0, 0}).out));
  const Result tiny = run(Statistic::root_mean_square, kFloat16, false, {1e-4F, -1e-4F});
  CHECK(tiny.statistic == 0);  // the squares are below 2^-25
  CHECK(tiny.out[0] == HUGE_VALF);
  CHECK(tiny.out[1] == -HUGE_VALF);
}

TEST_CASE("with rescue: finite rows of any size come out right, others are NaN") {
  for (const NumberFormat& format : {kFloat16, kBfloat16})
    for (const Statistic kind : kStatistics)
      for (const float scale : {1e-30F, 1e-4F, 1e3F, 1e6F, 3e38F}) {
        CAPTURE(static_cast<int>(kind));
        CAPTURE(scale);
        const std::vector<float> unit = {1, -0.5F, 0.25F, 0.75F};
        std::vector<float> x = unit;
        for (float& v : x) v *= scale;
        const Result r = run(kind, format, true, x), expected = run(kind, kFloat32, false, unit);
        CHECK(error_by_norm(r.out, widened(expected.out)) < 0.02);
        CHECK(std::fabs(r.statistic / (expected.statistic * scale) - 1) < 0.02);
      }
  for (const Statistic kind : kStatistics) {
    CAPTURE(static_cast<int>(kind));
    CHECK(all_equal(run(kind, kFloat16, true, {0, 0}).out, 0));
    CHECK(all_equal(run(kind, kFloat16, true, {0, 0}).dx, 0));
    CHECK(all_equal(run(kind, kFloat16, true, {0, 0}, 1e-5).out, 0));
    CHECK(all_nan(run(kind, kFloat16, true, {HUGE_VALF, 1}).out));
    CHECK(all_nan(run(kind, kFloat16, true, {NAN, 1}).dx));
  }
}

TEST_CASE("with rescue: constant rows, and a spread far below the mean") {
  // Sums of 64 equal numbers that are exact in 11 digits give their mean, and no element. eps alone
  // makes the row be redone, though its maximum is large.
  for (const float mean : {100.0F, 1024.0F, 0x1.8p100F, 0x1p-60F}) {
    CAPTURE(mean);
    const Result r = run(Statistic::deviation, kFloat16, true, filled(64, mean), 1e-5);
    CHECK(all_equal(r.out, 0));
    CHECK(std::all_of(r.dx.begin(), r.dx.end(), [](float v) { return std::isfinite(v); }));
  }
  // Where they are not, the mean is off by its rounding: that is precision, and not range.
  const Result off = run(Statistic::deviation, kFloat16, true, filled(64, 1200), 1e-5);
  CHECK(off.out[0] != 0);
  CHECK(std::isfinite(off.out[0]));
  // 0.5 +- one unit (2^-11): squares of 2^-22 are 4 units of 2^-24, and S = 2^-11 is redone.
  const std::vector<float> spread = {0.5F + 0x1p-11F, 0.5F - 0x1p-11F};
  const Result r = run(Statistic::deviation, kFloat16, true, spread);
  CHECK(r.statistic == 0x1p-11);
  CHECK(r.out == std::vector<float>{1, -1});
}

TEST_CASE("float32 without rescue is the reference, but for its rounding") {
  for (const Statistic kind : kStatistics)
    for (const Index positions : {1, 3}) {
      CAPTURE(static_cast<int>(kind));
      constexpr Index kRows = 5, kChannels = 20;
      NormRows shape{kind, kRows, positions, kChannels, true, true, 1e-5};
      const Index size = kRows * shape.row_size();
      const auto x = random_numbers(size, 1), dy = random_numbers(size, 2),
                 skip = random_numbers(size, 3), bias = random_numbers(kChannels, 4),
                 gain = random_numbers(kChannels / 2, 5);
      const NarrowNorm norm{shape, kFloat32, false};
      const auto all = [&](auto forward, auto backward, Index saved_size) {
        std::vector<std::vector<float>> r{random_numbers(size, 6), random_numbers(size, 6),
                                          random_numbers(size, 6), random_numbers(kChannels / 2, 7),
                                          random_numbers(kChannels, 8)};
        std::vector<float> saved(static_cast<std::size_t>(saved_size));
        forward(NormForward<float>{x.data(), gain.data(), bias.data(), skip.data(), r[0].data(),
                                   saved.data()});
        backward(NormBackward<float>{x.data(), gain.data(), r[0].data(), saved.data(), dy.data(),
                                     r[1].data(), r[2].data(), r[3].data(), r[4].data(), true});
        return r;
      };
      const Table<float>& table = kernels::table<float>(KernelSet::reference);
      const auto exact = all([&](const auto& a) { table.norm_forward(shape, a); },
                             [&](const auto& a) { table.norm_backward(shape, a); }, 2 * kRows);
      const auto narrow =
          all([&](const auto& a) { narrow_norm_forward(norm, a); },
              [&](const auto& a) { narrow_norm_backward(norm, a); }, narrow_norm_saved_size(shape));
      for (std::size_t i = 0; i < exact.size(); ++i) {
        CAPTURE(i);
        CHECK(error_by_norm(narrow[i], widened(exact[i])) < 1e-6);
      }
    }
}

TEST_CASE("the way back uses the narrow statistic and the narrow normalised row") {
  // rmsnorm of {3, 4, 6, 8} in bfloat16: squares 9, 16, 36, 64, sums 25, 61, 125 (64 + 61), mean
  // 31.25, S = 5.59017 -> 5.59375 (1/32 a unit), h = 0.53631 -> .5351.., all by hand:
  const std::vector<float> x = {3, 4, 6, 8}, dy = {1, 0, 0, 0};
  const Result r = run(Statistic::root_mean_square, kBfloat16, false, x, 0, dy);
  CHECK(r.statistic == 5.59375);
  double h[4];
  for (int i = 0; i < 4; ++i) {
    h[i] = round_to(kBfloat16, x[static_cast<std::size_t>(i)] / 5.59375);
    CHECK(r.out[static_cast<std::size_t>(i)] == h[i]);
  }
  for (int i = 0; i < 4; ++i)
    CHECK(r.dx[static_cast<std::size_t>(i)] ==
          static_cast<float>((dy[static_cast<std::size_t>(i)] - h[i] * (h[0] / 4)) / 5.59375));
}

}  // namespace
}  // namespace phasor::kernels
