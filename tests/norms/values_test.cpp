// Values worked out by hand, and identities that hold for every input.
#include "norms/support.h"

namespace phasor::tests {
namespace {

TEST_CASE("mrsnorm: the check values of its definition") {
  const auto norm = make("mrsnorm", 4, 0);
  for (const Run& run : all_runs(norm, norm_case(norm, {1, 1, 4}, {3, 4, 6, 8}, {1, 0, 0, 0}))) {
    INFO(run.name);
    const double limit = run.exact ? 1e-15 : 2e-7;
    check_near(run.result.out, {0.4, 4 / 7.5, 0.8, 8 / 7.5}, limit);
    check_near(run.result.dx,
               {0.1173333333333333, -0.0213333333333333, -0.016, -0.0213333333333333},
               run.exact ? 1e-15 : 2e-8);
    check_near(run.result.dparameters[0], {0.4, 0}, limit);
  }
}

TEST_CASE("rmsnorm and layernorm: values by hand") {
  const auto rms = make("rmsnorm", 4, 0);
  for (const Run& run : all_runs(rms, norm_case(rms, {1, 1, 4}, {3, 4, 6, 8}, {0, 0, 0, 0}))) {
    INFO(run.name);
    const double s = std::sqrt(125.0 / 4);
    check_near(run.result.out, {3 / s, 4 / s, 6 / s, 8 / s}, run.exact ? 1e-15 : 2e-7);
  }
  const auto ln = make("layernorm", 4, 0);
  for (const Run& run : all_runs(ln, norm_case(ln, {1, 1, 4}, {1, 2, 3, 4}, {1, 0, 0, 0}))) {
    INFO(run.name);
    const double s = std::sqrt(1.25);
    check_near(run.result.out, {-1.5 / s, -0.5 / s, 0.5 / s, 1.5 / s}, run.exact ? 1e-15 : 3e-7);
    // (u - mean(u) - xhat mean(u xhat)) / s with mean(u) = 1/4, mean(u xhat) = -1.5/(4 s)
    check_near(run.result.dx,
               {(0.75 - 0.45) / s, (-0.25 - 0.15) / s, (-0.25 + 0.15) / s, (-0.25 + 0.45) / s},
               run.exact ? 1e-15 : 1e-7);
    check_near(run.result.dparameters[1], {1, 0, 0, 0}, 0);
  }
}

TEST_CASE("none: the identity, whatever the layer says") {
  const auto norm = check::make_norm(find_norm("none"),
                                     {.channels = 3, .eps = 0.5, .gamma_init = 7, .affine = true});
  CHECK(norm.parameters.empty());
  for (const Run& run : all_runs(norm, norm_case(norm, {1, 1, 3}, {1, -2, 3}, {4, 5, 6}))) {
    INFO(run.name);
    CHECK(run.result.out == std::vector<double>{1, -2, 3});
    CHECK(run.result.dx == std::vector<double>{4, 5, 6});
  }
}

TEST_CASE("mrsnorm: Euler's identity for several eps") {
  const Index rows = 3, channels = 18;
  for (const double eps : {0.0, 1e-8, 1e-5, 1e-2, 1.0}) {
    const auto norm = make("mrsnorm", channels, eps);
    check::NormCase input;
    input.x = check::random_tensor({rows, 1, channels}, 1);
    input.dy = check::random_tensor({rows, 1, channels}, 2);
    input.parameters = {check::random_tensor({channels / 2}, 3)};
    for (const Run& run : all_runs(norm, input)) {
      INFO("eps ", eps, ", ", run.name);
      for (Index row = 0; row < rows; ++row) {
        double a = 0, s = 0, inverse = 0, product = 0, size = 0;
        for (Index p = 0; p < channels / 2; ++p) {
          const Index i = row * channels + 2 * p;
          const double re = input.x.at(i), im = input.x.at(i + 1);
          const double m = std::sqrt(re * re + im * im + eps);
          s += m / (channels / 2);
          inverse += 1 / m;
          a += input.parameters[0].at(p) * (input.dy.at(i) * re + input.dy.at(i + 1) * im);
          const auto k = static_cast<std::size_t>(i);
          product += re * run.result.dx[k] + im * run.result.dx[k + 1];
          size += std::fabs(re * run.result.dx[k]) + std::fabs(im * run.result.dx[k + 1]);
        }
        const double expected = a / s * eps * inverse / (channels / 2 * s);
        CHECK(std::fabs(product - expected) < (run.exact ? 1e-14 : 1e-6) * size);
      }
    }
  }
}

TEST_CASE("parameters of one layer: MRS C/2, RMS C, LN 2C, none 0; gamma_init fills the gains") {
  const struct {
    const char* name;
    Index count;
  } expected[] = {{"mrsnorm", 8}, {"rmsnorm", 16}, {"layernorm", 32}, {"none", 0}};
  for (const auto& row : expected) {
    const auto norm = check::make_norm(
        find_norm(row.name), {.channels = 16, .eps = 1e-5, .gamma_init = 0.7979, .affine = true});
    Index total = 0;
    for (const NormBuilder::Parameter& parameter : norm.parameters) {
      total += parameter.shape.size();
      CHECK(parameter.init == (parameter.name == "weight" ? 0.7979 : 0.0));
    }
    INFO(row.name);
    CHECK(total == row.count);
  }
}

TEST_CASE("mrsnorm's output is sqrt(2/pi) of rmsnorm's on normal input") {
  const Index channels = 4096;
  const auto mrs = make("mrsnorm", channels, 0), rms = make("rmsnorm", channels, 0);
  const std::vector<double> x = check::random_tensor({channels}, 5).values();
  const auto length = [&](const check::NormUnderTest& norm) {
    const auto runs = all_runs(norm, norm_case(norm, {1, 1, channels}, x, x));
    double squares = 0;
    for (const double value : runs[0].result.out) squares += value * value;
    return std::sqrt(squares);
  };
  // E|z| = sqrt(pi/2) against sqrt(E x^2) = 1.
  CHECK(length(mrs) / length(rms) == doctest::Approx(std::sqrt(2 / M_PI)).epsilon(0.02));
}

}  // namespace
}  // namespace phasor::tests
