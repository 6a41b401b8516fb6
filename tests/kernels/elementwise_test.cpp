// Elementwise kernels, reductions, pooling, SGD and the choice of a set.
#include <cstdlib>
#include <string>

#include "phasor/error.h"
#include "support.h"

namespace phasor::kernels {
namespace {

using namespace test;

constexpr Index kSizes[] = {1, 7, 15, 16, 17, 31, 33, 64, 257};

TEST_CASE("elementwise: every set gives the reference's bits") {
  const Table<float>& reference = table<float>(KernelSet::reference);
  for (KernelSet set : available_sets())
    for (Index n : kSizes) {
      CAPTURE(std::string(name_of(set)));
      CAPTURE(n);
      const Table<float>& kernels = table<float>(set);
      const auto a = random_numbers(n, 1), b = random_numbers(n, 2);
      const auto compare = [&](auto run) {
        Guarded expected(a), got(a);
        run(reference, expected.data());
        run(kernels, got.data());
        CHECK(got.intact());
        CHECK(same_bits(got.values(), expected.values()));
      };
      for (Binary op : {Binary::add, Binary::subtract, Binary::multiply, Binary::divide})
        for (Index step_a : {0, 1})
          for (Index step_b : {0, 1})
            compare([&](const Table<float>& t, float* out) {
              t.binary(op, n, a.data(), step_a, b.data(), step_b, out);
            });
      auto positive = a;
      for (float& v : positive) v = std::fabs(v);
      for (Unary op : {Unary::negate, Unary::square, Unary::sqrt, Unary::absolute,
                       Unary::exponential, Unary::tanh, Unary::relu})
        compare([&](const Table<float>& t, float* out) {
          t.unary(op, n, (op == Unary::sqrt ? positive : a).data(), out);
        });
      compare([&](const Table<float>& t, float* y) { t.add_scaled(n, 0.3f, b.data(), y); });
      compare([&](const Table<float>& t, float* y) { t.copy_scaled(n, 0.3f, b.data(), y); });
      for (bool accumulate : {false, true})
        compare([&](const Table<float>& t, float* dx) {
          t.relu_backward(n, b.data(), a.data(), dx, accumulate);
        });
      const auto rows = random_numbers(5 * n, 3);
      compare([&](const Table<float>& t, float* y) { t.sum_rows(5, n, rows.data(), y); });
      compare([&](const Table<float>& t, float* y) { t.pool_forward(1, 5, n, rows.data(), y); });
      const float* lanes[] = {a.data(), rows.data(), rows.data() + n, rows.data() + 2 * n};
      for (int count : {1, 2, 3, 4})
        compare([&](const Table<float>& t, float* y) { t.sum_lanes(n, count, lanes, y); });
      CHECK(kernels.sum_of_squares(n, a.data()) == reference.sum_of_squares(n, a.data()));

      Guarded sums(5), expected_sums(5);
      kernels.sum_columns(5, n, rows.data(), sums.data());
      reference.sum_columns(5, n, rows.data(), expected_sums.data());
      CHECK(sums.intact());
      CHECK(same_bits(sums.values(), expected_sums.values()));
      for (bool accumulate : {false, true}) {
        Guarded dx(rows), expected(rows);
        kernels.pool_backward(1, 5, n, a.data(), dx.data(), accumulate);
        reference.pool_backward(1, 5, n, a.data(), expected.data(), accumulate);
        CHECK(dx.intact());
        CHECK(same_bits(dx.values(), expected.values()));
      }
    }
}

TEST_CASE("elementwise: values") {
  for (KernelSet set : available_sets()) {
    const Table<float>& t = table<float>(set);
    const float x[] = {-2, 0, 3, NAN};
    float out[4];
    t.unary(Unary::relu, 4, x, out);
    CHECK(out[0] == 0);
    CHECK(out[1] == 0);
    CHECK(out[2] == 3);
    CHECK(std::isnan(out[3]));
    const float image[] = {1, 10, 2, 20, 3, 30, 6, 60};
    t.pool_forward(1, 4, 2, image, out);
    CHECK(out[0] == 3);
    CHECK(out[1] == 30);
    CHECK(t.sum_of_squares(3, image) == 1 + 100 + 4);
    const float huge[] = {1e30f, 1e30f};
    CHECK(t.sum_of_squares(2, huge) == doctest::Approx(2e60));
  }
}

struct Trace {
  SgdRule rule;
  std::vector<double> weights;
};

TEST_CASE("B25: SGD by PyTorch's rule") {
  const SgdRule plain{0.1, 0.9, 0, 0, 1, false, true};
  SgdRule nesterov = plain, dampened = plain, decayed = plain, no_momentum = plain, clipped = plain;
  nesterov.nesterov = true;
  dampened.dampening = 0.5;
  decayed.weight_decay = 0.1;
  no_momentum.momentum = 0;
  no_momentum.weight_decay = 0.1;
  clipped.momentum = 0;
  clipped.gradient_scale = 0.5;
  for (const Trace& trace :
       {Trace{plain, {.9, .71, .439}}, Trace{nesterov, {.81, .539, .1951}},
        Trace{dampened, {.9, .76, .584}}, Trace{decayed, {.89, .6821, .388169}},
        Trace{no_momentum, {.89, .7811, .673289}}, Trace{clipped, {.95, .9, .85}}}) {
    for (KernelSet set : available_sets())
      for (Index n : kSizes) {
        std::vector<float> gradient(n, 1.0f);
        Guarded weights(n, 1.0f), momentum(n, 123.0f);
        SgdRule rule = trace.rule;
        for (double expected : trace.weights) {
          table<float>(set).sgd(n, rule, gradient.data(), weights.data(),
                                rule.momentum == 0 ? nullptr : momentum.data());
          rule.first_step = false;
          for (float w : weights.values()) CHECK(w == doctest::Approx(expected).epsilon(1e-6));
        }
        CHECK(weights.intact());
        CHECK(momentum.intact());
      }
    std::vector<double> w = {1}, m = {0}, g = {1};
    SgdRule rule = trace.rule;
    for (double expected : trace.weights) {
      table<double>(KernelSet::reference).sgd(1, rule, g.data(), w.data(), m.data());
      rule.first_step = false;
      CHECK(w[0] == doctest::Approx(expected).epsilon(1e-14));
    }
  }
}

TEST_CASE("SGD: the same bits in every set") {
  const auto gradient = random_numbers(257, 1), start = random_numbers(257, 2),
             momentum = random_numbers(257, 3);
  for (bool first : {false, true})
    for (bool nesterov : {false, true}) {
      const SgdRule rule{0.1, 0.9, first ? 0 : 0.2, 5e-4, 0.7, nesterov, first};
      auto expected = start, expected_momentum = momentum;
      table<float>(KernelSet::reference)
          .sgd(257, rule, gradient.data(), expected.data(), expected_momentum.data());
      for (KernelSet set : available_sets()) {
        auto weights = start, m = momentum;
        table<float>(set).sgd(257, rule, gradient.data(), weights.data(), m.data());
        CHECK(same_bits(weights, expected));
        CHECK(same_bits(m, expected_momentum));
      }
    }
}

TEST_CASE("kernel sets: names, availability and PHASOR_KERNELS") {
  CHECK(available(KernelSet::reference));
  CHECK(available(KernelSet::baseline));
  const char* before = std::getenv("PHASOR_KERNELS");
  const std::string saved = before == nullptr ? "" : before;
  for (KernelSet set : available_sets()) {
    CHECK(std::string(table<float>(set).name) == name_of(set));
    ::setenv("PHASOR_KERNELS", name_of(set), 1);
    CHECK(default_set() == set);
  }
  ::setenv("PHASOR_KERNELS", "sse9", 1);
  CHECK_THROWS_AS(default_set(), Error);
  ::unsetenv("PHASOR_KERNELS");
  CHECK(available(default_set()));
  if (!saved.empty()) ::setenv("PHASOR_KERNELS", saved.c_str(), 1);
  CHECK(std::string(table<double>(KernelSet::avx2).name) == "reference");
}

TEST_CASE("FlushSubnormals: in scope only") {
  volatile float small = 1e-40f;
  {
    const FlushSubnormals flush;
    CHECK(small * 1.0f == 0);
  }
  CHECK(small * 1.0f != 0);
}

}  // namespace
}  // namespace phasor::kernels
