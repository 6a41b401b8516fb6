#include "phasor/rng.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "phasor/error.h"

namespace phasor {
namespace {

using Words = std::array<std::uint32_t, 4>;

TEST_CASE("Philox-4x32-10 gives the known answers of its authors' distribution") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("draws differ by seed, purpose, epoch and sample, each in all its bits") {
  std::set<Words> seen;
  for (const std::uint64_t seed : {0ull, 1ull, 1ull << 32, 1ull << 63})
    for (const Purpose purpose : {Purpose::init, Purpose::order, Purpose::augment})
      for (const std::uint32_t epoch : {0u, 1u, 1u << 31})
        for (const std::uint64_t sample : {0ull, 1ull, 1ull << 32, 1ull << 63})
          seen.insert(draw(seed, purpose, epoch, sample));
  CHECK(seen.size() == 4 * 3 * 3 * 4);
}

TEST_CASE("uniform lies inside (0, 1), symmetric; uniform_below covers its range evenly") {
  CHECK(uniform(0) == 0x1p-33);
  CHECK(uniform(~0u) == 1 - 0x1p-33);
  CHECK(uniform(0x7fffffff) + uniform(0x80000000) == 1);
  CHECK(uniform_below(0, 9) == 0);
  CHECK(uniform_below(~0u, 9) == 8);
  int counts[9] = {};
  for (std::uint64_t i = 0; i < 90000; ++i)
    ++counts[uniform_below(draw(7, Purpose::check, 0, i)[0], 9)];
  for (const int count : counts) CHECK(std::abs(count - 10000) < 400);  // 4 deviations
}

TEST_CASE("normal_quantile meets tabulated values to 1.2e-9 and is odd") {
  const struct {
    double p, x;
  } known[] = {{0.5, 0},
               {0.75, 0.6744897501960817},
               {0.9, 1.2815515655446004},
               {0.975, 1.959963984540054},
               {0.99, 2.3263478740408408},
               {0.999, 3.090232306167813},
               {0.9999, 3.719016485455709},
               {1e-6, -4.753424308822899},
               {1e-9, -5.997807015007686}};
  for (const auto& row : known) {
    INFO("p = ", row.p);
    CHECK(std::fabs(normal_quantile(row.p) - row.x) <= 1.2e-9 * std::fabs(row.x));
  }
  for (double p = 1e-7; p < 0.5; p *= 1.7) {
    const double complement = 1 - p;
    INFO("p = ", p);
    CHECK(normal_quantile(p) == doctest::Approx(-normal_quantile(complement)).epsilon(1e-8));
  }
}

TEST_CASE("normal numbers have mean 0, variance 1 and the right tails") {
  const int n = 200000;
  double total = 0, squares = 0;
  int beyond_two = 0;
  for (int i = 0; i < n; ++i) {
    const double x =
        normal_quantile(uniform(draw(3, Purpose::check, 0, static_cast<std::uint64_t>(i))[1]));
    total += x;
    squares += x * x;
    beyond_two += std::fabs(x) > 2;
  }
  CHECK(std::fabs(total / n) < 4 / std::sqrt(n));
  CHECK(std::fabs(squares / n - 1) < 4 * std::sqrt(2.0 / n));
  CHECK(std::fabs(beyond_two / double{n} - 0.0455003) < 0.002);
}

}  // namespace
}  // namespace phasor
