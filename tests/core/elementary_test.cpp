#include "core/elementary.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/nearest_name.h"

namespace phasor {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("portable_exp agrees with the C library to a few units in the last place") {
  for (double x = -700; x < 709; x += 0.37) {
    INFO("x = ", x);
    CHECK(std::fabs(portable_exp(x) - std::exp(x)) <= 5e-16 * std::exp(x));
  }
  for (double x = 1e-18; x < 1; x *= 3) {
    CHECK(std::fabs(portable_exp(-x) - std::exp(-x)) <= 3e-16);
  }
  CHECK(portable_exp(0) == 1);
  CHECK(portable_exp(-kInfinity) == 0);
  CHECK(portable_exp(-800) == 0);
  CHECK(portable_exp(kInfinity) == kInfinity);
  CHECK(portable_exp(710) == kInfinity);
  CHECK(portable_exp(-740) == doctest::Approx(std::exp(-740)).epsilon(1e-2));  // subnormal
  CHECK(std::isnan(portable_exp(std::nan(""))));
}

TEST_CASE("portable_log agrees with the C library and inverts portable_exp") {
  for (double x = 1e-300; x < 1e300; x *= 1.9) {
    INFO("x = ", x);
    CHECK(std::fabs(portable_log(x) - std::log(x)) <= 4e-16 * std::fabs(std::log(x)) + 2e-16);
    CHECK(portable_exp(portable_log(x)) == doctest::Approx(x).epsilon(1e-12));
  }
  CHECK(portable_log(1) == 0);
  CHECK(portable_log(0) == -kInfinity);
  CHECK(portable_log(kInfinity) == kInfinity);
  CHECK(portable_log(4e-320) == doctest::Approx(std::log(4e-320)).epsilon(1e-15));
  CHECK(std::isnan(portable_log(-1)));
  CHECK(std::isnan(portable_log(std::nan(""))));
}

TEST_CASE("portable_angle agrees with the C library over the upper half plane") {
  constexpr double kPi = 3.141592653589793;
  for (int i = 0; i <= 720; ++i) {
    const double x = std::cos(kPi * i / 720), y = std::abs(std::sin(kPi * i / 720));
    for (const double scale : {1e-70, 1.0, 1e70})
      CHECK(std::fabs(portable_angle(scale * x, scale * y) - std::atan2(y, x)) <= 1e-15);
  }
  CHECK(portable_angle(2, 0) == 0);
  CHECK(portable_angle(-2, 0) == kPi);
  CHECK(portable_angle(0, 3) == doctest::Approx(kPi / 2).epsilon(1e-15));
  CHECK(portable_angle(1, 1e-12) == doctest::Approx(1e-12).epsilon(1e-14));
  CHECK(std::isnan(portable_angle(0, 0)));
  CHECK(std::isnan(portable_angle(std::nan(""), 1)));
}

TEST_CASE("nearest_name finds a misspelling, and nothing where nothing is near") {
  const std::vector<std::string> names = {"layernorm", "rmsnorm", "mrsnorm"};
  CHECK(nearest_name("mrsnrom", names) == "mrsnorm");
  CHECK(nearest_name("LayerNorm", names) == "layernorm");
  CHECK_FALSE(nearest_name("batch", names).has_value());
  CHECK(did_you_mean("rmsnor", names) == "; did you mean rmsnorm?");
  CHECK(did_you_mean("x", names).empty());
}

}  // namespace
}  // namespace phasor
