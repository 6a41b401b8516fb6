#include "check/gradcheck.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "check/inputs.h"
#include "phasor/ops.h"

namespace phasor::check {
namespace {

using Vars = std::span<const Var>;

/// x^2 with a gradient that is off by a factor.
template <int kNumerator>
void scaled_backward(Tape& tape, const Node& node) {
  const GradTarget<double> target = tape.grad_target<double>(node, 0, node.shape);
  const double* x = tape.data<double>(node.inputs[0]);
  for (Index i = 0; i < node.shape.size(); ++i) {
    const double d = kNumerator / 100.0 * 2 * x[i] * static_cast<const double*>(node.grad)[i];
    target.data[i] = target.accumulate ? target.data[i] + d : d;
  }
}

template <int kNumerator>
Var faulty_square(const Var& x) {
  static constexpr Op kOp{"faulty", scaled_backward<kNumerator>};
  Tape& tape = x.tape();
  const Var out = tape.append(kOp, Shape(x.shape()), {x});
  for (Index i = 0; i < x.shape().size(); ++i)
    tape.data<double>(out)[i] = tape.data<double>(x)[i] * tape.data<double>(x)[i];
  return tape.finish(out);
}

TEST_CASE("gradcheck passes right gradients and measures wrong ones") {
  const std::vector<Tensor> x = {random_tensor({5}, 1)};
  CHECK(gradcheck([](Tape&, Vars v) { return faulty_square<100>(v[0]); }, x).worst < 1e-9);
  const GradcheckResult wrong =
      gradcheck([](Tape&, Vars v) { return faulty_square<101>(v[0]); }, x);
  CHECK(wrong.worst == doctest::Approx(0.01 / 1.01).epsilon(0.2));
  CHECK(wrong.analytic == doctest::Approx(1.01 * wrong.numeric).epsilon(1e-6));
  CHECK(gradcheck([](Tape&, Vars v) { return faulty_square<0>(v[0]); }, x).worst ==
        doctest::Approx(1).epsilon(0.01));
}

TEST_CASE("gradcheck names the argument and the element") {
  const std::vector<Tensor> x = {random_tensor({3}, 1), Tensor({3}, std::vector<double>{0, 0, 2})};
  const GradcheckResult wrong =
      gradcheck([](Tape&, Vars v) { return v[0] * 1.0 + faulty_square<200>(v[1]); }, x);
  CHECK(wrong.argument == 1);
  CHECK(wrong.element == 2);
  CHECK(wrong.str().find("at argument 1, element 2: analytic ") != std::string::npos);
}

TEST_CASE("gradcheck takes any subgradient at a kink, and steps over kinks nearby") {
  const std::vector<Tensor> x = {Tensor({4}, std::vector<double>{0, 1e-4, -1e-5, 0.3})};
  const GradcheckResult at_kink = gradcheck([](Tape&, Vars v) { return abs(v[0]); }, x);
  CHECK(at_kink.worst < 1e-6);
  CHECK(at_kink.kinks == 1);
  CHECK(gradcheck([](Tape&, Vars v) { return relu(v[0]); }, x).worst < 1e-6);
  CHECK(gradcheck([](Tape&, Vars v) { return -relu(v[0] * -2.0); }, x).worst < 1e-6);
}

TEST_CASE("gradcheck reports a gradient that is not a number as the worst of all") {
  const std::vector<Tensor> x = {Tensor({2}, std::vector<double>{0, 1})};
  const GradcheckResult result = gradcheck([](Tape&, Vars v) { return v[0] / v[0] * v[0]; }, x);
  CHECK(std::isinf(result.worst));
}

TEST_CASE("relative_error compares by norm, and tells finite from not") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  CHECK(relative_error({3, 4}, {3, 4}) == 0);
  CHECK(relative_error({3, 4.5}, {3, 4}) == doctest::Approx(0.1));
  CHECK(relative_error({3e200, 4.5e200}, {3e200, 4e200}) == doctest::Approx(0.1));
  CHECK(relative_error({0, 0.5}, {0, 0}) == 0.5);
  CHECK(relative_error({1, 0}, {0, 0}, 100) == doctest::Approx(0.01));
  CHECK(relative_error({inf, nan, 1}, {inf, nan, 1}) == 0);
  CHECK(std::isnan(relative_error({inf}, {1})));
  CHECK(std::isnan(relative_error({1}, {nan})));
  CHECK(std::isinf(relative_error({1}, {1, 2})));
}

}  // namespace
}  // namespace phasor::check
