#include <cmath>

#include "autograd/support.h"

namespace phasor::tests {
namespace {

using Vars = std::span<const Var>;

TEST_CASE("magnitude: the power of two at or below the largest, its floor, 1 for zeros") {
  Tape tape(DType::float32);
  const Var x = tape.leaf(tensor({4, 3}, {1, -5, 3, 0, 0, 0, 1e30, 1, 1, -4, 1e-30, 2}));
  const Var s = magnitude(x, {1});
  CHECK(s.shape() == Shape{4, 1});
  CHECK(s.value().values() == std::vector<double>{4, 1, std::exp2(99), 4});
  CHECK(magnitude(x, {1}, 0.3).value().at(1) == 0.25);
  CHECK(magnitude(x, {0}).value().values() == std::vector<double>{std::exp2(99), 4, 2});
}

TEST_CASE("root_mean_square and modulus: values, gradients, any magnitude in float32") {
  for (const double eps : {0.0, 1e-5, 1.0}) {
    const std::vector<Tensor> x = {check::random_tensor({3, 2, 17}, 1)};
    check_gradients([&](Tape&, Vars v) { return root_mean_square(v[0], {1, 2}, eps); }, x);
    check_gradients([&](Tape&, Vars v) { return modulus(phasors(v[0]), eps); },
                    {check::random_tensor({3, 18}, 1)});
  }
  for (const double scale : {1e-30, 1e-20, 1.0, 1e20, 1e30}) {
    Tape tape(DType::float32);
    const Var x = tape.leaf(tensor({1, 2}, {3 * scale, 4 * scale}));
    const Var m = modulus(x, 0), r = root_mean_square(x, {1}, 0);
    CHECK(m.value().at(0) == doctest::Approx(5 * scale).epsilon(1e-6));
    CHECK(r.value().at(0) == doctest::Approx(std::sqrt(12.5) * scale).epsilon(1e-6));
    tape.backward(m);
    CHECK(x.grad().at(0) == doctest::Approx(0.6).epsilon(1e-6));
    CHECK(x.grad().at(1) == doctest::Approx(0.8).epsilon(1e-6));
  }
}

}  // namespace
}  // namespace phasor::tests
