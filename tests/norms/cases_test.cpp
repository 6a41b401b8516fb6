// Faults that users of norms have met elsewhere, with their right values.
#include <limits>

#include "norms/support.h"

namespace phasor::tests {
namespace {

std::vector<Run> fused_runs(const check::NormUnderTest& norm, const check::NormCase& input) {
  std::vector<Run> runs = all_runs(norm, input);
  std::erase_if(runs, [](const Run& run) { return run.name.starts_with("composed"); });
  return runs;
}

TEST_CASE("B01: rows of 1e25, and of 1e-25 at eps 0, come out as those of ordinary size") {
  const std::vector<double> z = {3, 4, 6, 8};
  const struct {
    const char* name;
    std::vector<double> out;
  } expected[] = {{"rmsnorm", {.536656, .715542, 1.073313, 1.431084}},
                  {"mrsnorm", {.4, .533333, .8, 1.066667}},
                  {"layernorm", {-1.171700, -.650945, .390567, 1.432078}}};
  for (const auto& row : expected)
    for (const double scale : {1e25, 1e-25}) {
      const auto norm = make(row.name, 4, 0);
      std::vector<double> x;
      for (const double value : z) x.push_back(value * scale);
      const auto runs = fused_runs(norm, norm_case(norm, {1, 1, 4}, x, {1, 0, 0, 0}));
      for (const Run& run : runs) {
        INFO(row.name, " at ", scale, ", ", run.name);
        check_near(run.result.out, row.out, 2e-6);
        CHECK(check::relative_error(run.result.dx, runs[0].result.dx) < 2e-6);
      }
    }
}

TEST_CASE("B03: a mean much larger than the deviation does not cost the variance") {
  const auto norm = make("layernorm", 4, 1e-5);
  const std::vector<double> x = {2000 + .1249, 2000 + .4133, 2000 - 1.6235, 2000 + 1.0852};
  for (const Run& run : all_runs(norm, norm_case(norm, {1, 1, 4}, x, {0, 0, 0, 0}))) {
    INFO(run.name);
    double total = 0, squares = 0;
    for (const double value : run.result.out) {
      total += value;
      squares += value * value;
    }
    CHECK(std::fabs(total / 4) < 1e-3);
    CHECK(std::fabs(squares / 4 - 1) < 1e-2);
  }
}

TEST_CASE("B04: large neighbouring numbers, and a constant row, have the right variance") {
  const auto four = make("layernorm", 4, 1e-5);
  for (const Run& run :
       all_runs(four, norm_case(four, {1, 1, 4}, {40000, 40001, 40002, 40003}, {1, 0, 0, 0}))) {
    INFO(run.name);
    check_near(run.result.out, {-1.341635, -.447212, .447212, 1.341635}, 1e-3);
    CHECK(check::all_finite(run.result.dx));
  }
  const auto wide = make("layernorm", 256, 1e-5);
  const std::vector<double> constant(256, 1234.0), dy = check::random_tensor({256}, 1).values();
  for (const Run& run : all_runs(wide, norm_case(wide, {1, 1, 256}, constant, dy))) {
    INFO(run.name);
    check_near(run.result.out, std::vector<double>(256, 0.0), 0);
    CHECK(check::all_finite(run.result.dx));
    CHECK(check::all_finite(run.result.dparameters[0]));
  }
}

TEST_CASE("B05: zero rows and zero phasors have finite gradients") {
  for (const char* name : {"mrsnorm", "rmsnorm", "layernorm"}) {
    const auto with_eps = make(name, 4, 1e-5), without = make(name, 4, 0);
    const std::vector<double> zero(4, 0.0), ones = {1, 1, 1, 1};
    // LayerNorm takes the mean of dy away, so that ones give 0.
    const double expected = std::string(name) == "layernorm" ? 0 : 316.2278;
    for (const Run& run : all_runs(with_eps, norm_case(with_eps, {1, 1, 4}, zero, ones))) {
      INFO(name, ", ", run.name);
      check_near(run.result.out, zero, 0);
      check_near(run.result.dx, std::vector<double>(4, expected), 1e-3);
    }
    for (const Run& run : all_runs(without, norm_case(without, {1, 1, 4}, zero, ones))) {
      INFO(name, " at eps 0, ", run.name);
      check_near(run.result.out, zero, 0);
      check_near(run.result.dx, zero, 0);
    }
  }
  const auto mrs = make("mrsnorm", 4, 0);
  for (const Run& run : all_runs(mrs, norm_case(mrs, {1, 1, 4}, {3, 4, 0, 0}, {1, 1, 1, 1}))) {
    INFO("a zero phasor, ", run.name);
    check_near(run.result.out, {1.2, 1.6, 0, 0}, run.exact ? 1e-15 : 2e-7);
    // S = 2.5, A = 7: dz_0 = 1/S - v_0 (A/S)/(2 S) with v_0 = (.6, .8); dz_1 = 1/S.
    check_near(run.result.dx, {.4 - .6 * .56, .4 - .8 * .56, .4, .4}, run.exact ? 1e-15 : 1e-7);
    check_near(run.result.dparameters[0], {2.8, 0}, run.exact ? 1e-15 : 3e-7);
  }
}

TEST_CASE("B07: at a zero row the gradient is gamma g / sqrt(eps), as documented") {
  for (const double eps : {1e-5, 1e-8, 1e-12}) {
    const auto norm = make("mrsnorm", 2, eps);
    for (const Run& run : all_runs(norm, norm_case(norm, {1, 1, 2}, {0, 0}, {1, 0}))) {
      INFO("eps ", eps, ", ", run.name);
      CHECK(run.result.dx[0] == doctest::Approx(1 / std::sqrt(eps)).epsilon(1e-6));
    }
  }
}

TEST_CASE("B08: eps stands inside the root") {
  const auto norm = make("rmsnorm", 4, 1e-5);
  for (const Run& run :
       all_runs(norm, norm_case(norm, {1, 1, 4}, {1e-3, 1e-3, 1e-3, 1e-3}, {0, 0, 0, 0}))) {
    INFO(run.name);
    check_near(run.result.out, std::vector<double>(4, 0.301511), 1e-6);
  }
  CHECK(find_norm("rmsnorm").formula == "gamma x / sqrt(mean(x^2) + eps)");
}

TEST_CASE("B14: affine off has no parameters and equals gains of 1") {
  for (const NormSpec& spec : norm_specs()) {
    INFO(spec.name);
    const auto off = check::make_norm(spec, {.channels = 16, .eps = 1e-5, .affine = false});
    CHECK(off.parameters.empty());
  }
}

TEST_CASE("B16: the losses that a norm makes constant have no gradient") {
  const auto loss_gradient = [](const char* name, auto&& dy_of) {
    const auto norm = make(name, 16, 0);
    const std::vector<double> x = check::random_tensor({16}, 1).values();
    check::NormCase input = norm_case(norm, {1, 1, 16}, x, x);
    const auto out =
        check::run_composed(*norm.norm, input, DType::float64, kernels::KernelSet::reference).out;
    input.dy = Tensor({1, 1, 16}, dy_of(out));
    double worst = 0;
    for (const Run& run : all_runs(norm, input))
      for (const double g : run.result.dx) worst = std::max(worst, std::fabs(g));
    return worst;
  };
  // d/dzhat of sum |zhat_i| is zhat_i / |zhat_i|; of sum xhat^2 it is 2 xhat.
  CHECK(loss_gradient("mrsnorm", [](std::vector<double> out) {
          for (std::size_t i = 0; i < out.size(); i += 2) {
            const double m = std::hypot(out[i], out[i + 1]);
            out[i] /= m;
            out[i + 1] /= m;
          }
          return out;
        }) < 1e-6);
  CHECK(loss_gradient("rmsnorm", [](std::vector<double> out) {
          for (double& value : out) value *= 2;
          return out;
        }) < 1e-6);
  CHECK(loss_gradient("layernorm", [](const std::vector<double>& out) {
          return std::vector<double>(out.size(), 1.0);
        }) < 1e-6);
}

TEST_CASE("B19: a row is a pixel's channels, or a whole image") {
  const auto norm = make("layernorm", 2, 0);
  // NCHW (1,2,1,2) = [[1,2],[3,4]] is NHWC 1,3 | 2,4.
  const std::vector<double> x = {1, 3, 2, 4}, dy(4, 0.0);
  for (const Run& run : all_runs(norm, norm_case(norm, {2, 1, 2}, x, dy))) {
    INFO("channel, ", run.name);
    check_near(run.result.out, {-1, 1, -1, 1}, 1e-6);
  }
  for (const Run& run : all_runs(norm, norm_case(norm, {1, 2, 2}, x, dy))) {
    INFO("sample, ", run.name);
    check_near(run.result.out, {-1.3416408, .4472136, -.4472136, 1.3416408}, 1e-6);
  }
}

TEST_CASE("a row that is not finite does not come out finite and silent") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const char* name : {"mrsnorm", "rmsnorm", "layernorm"})
    for (const double bad : {inf, -inf, std::nan("")}) {
      const auto norm = make(name, 4, 1e-5);
      for (const Run& run :
           all_runs(norm, norm_case(norm, {1, 1, 4}, {bad, 1, 2, 3}, {1, 1, 1, 1}))) {
        INFO(name, " of ", bad, ", ", run.name);
        CHECK_FALSE(check::all_finite(run.result.out));
      }
    }
}

}  // namespace
}  // namespace phasor::tests
