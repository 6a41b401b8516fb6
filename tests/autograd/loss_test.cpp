#include <cmath>
#include <limits>

#include "autograd/support.h"
#include "core/elementary.h"

namespace phasor::tests {
namespace {

using Vars = std::span<const Var>;
using Labels = std::vector<std::int32_t>;

struct Loss {
  double value;
  std::vector<double> gradient;
};

Loss loss_of(const std::vector<double>& logits, std::int32_t label, DType dtype) {
  Tape tape(dtype);
  const Labels labels = {label};
  const Var x = tape.leaf(tensor({1, static_cast<Index>(logits.size())}, logits));
  const Var loss = softmax_cross_entropy(x, labels);
  tape.backward(loss);
  return {loss.value().at(0), x.grad().values()};
}

TEST_CASE("B23: cross-entropy of huge and of infinite logits") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::float32, DType::float64}) {
    INFO(name_of(dtype));
    for (const double v : {1.0, 1e4, 1e6, 1e8}) {
      const Loss loss = loss_of({v, v}, 0, dtype);
      CHECK(loss.value == doctest::Approx(std::log(2.0)).epsilon(1e-7));
      CHECK(loss.gradient == std::vector<double>{-0.5, 0.5});
    }
    const Loss wrong = loss_of({1e8, 0}, 1, dtype);
    CHECK(wrong.value == 1e8);
    CHECK(wrong.gradient == std::vector<double>{1, -1});
    const Loss certain = loss_of({-inf, 0}, 1, dtype);
    CHECK(certain.value == 0);
    CHECK(certain.gradient == std::vector<double>{0, 0});
    const Loss impossible = loss_of({-inf, 0}, 0, dtype);
    CHECK(impossible.value == inf);
    CHECK(impossible.gradient == std::vector<double>{-1, 1});
    CHECK(std::isnan(loss_of({inf, 0}, 1, dtype).value));
    CHECK(std::isnan(loss_of({std::nan(""), 0}, 1, dtype).value));
    CHECK(std::isnan(loss_of({0, std::nan("")}, 0, dtype).gradient[0]));
  }
}

TEST_CASE("B23: gradients of cross-entropy sum to 0 in each row") {
  const Index rows = 40, classes = 100;
  Labels labels(rows);
  for (Index n = 0; n < rows; ++n) labels[n] = static_cast<std::int32_t>((n * 37) % classes);
  for (const double scale : {0.1, 1.0, 30.0}) {
    Tape tape(DType::float32);
    const Var x = tape.leaf(check::random_tensor({rows, classes}, 5, scale));
    tape.backward(mean(softmax_cross_entropy(x, labels)));
    const std::vector<double> gradient = x.grad().values();
    for (Index n = 0; n < rows; ++n) {
      double total = 0;
      for (Index k = 0; k < classes; ++k) total += gradient[n * classes + k];
      CHECK(std::fabs(total) < 2e-9);  // a rounding of the label's own entry, at most 1/40
    }
  }
}

TEST_CASE("cross-entropy: gradients in double, float32 close to double") {
  for (const Index classes : {1, 2, 3, 10, 16, 17, 100}) {
    const Labels labels = {0, static_cast<std::int32_t>(classes - 1),
                           static_cast<std::int32_t>(classes / 2)};
    const auto function = [&](Tape&, Vars v) { return softmax_cross_entropy(v[0], labels); };
    INFO(classes, " classes");
    check_gradients(function, {check::random_tensor({3, classes}, 9)});
    // One class has loss and gradient 0.
    check_float32(function, {check::random_tensor({3, classes}, 9)});
    // A second consumer.
    check_gradients(
        [&](Tape&, Vars v) {
          return softmax_cross_entropy(v[0], labels) + sum(square(v[0]), {1}, false);
        },
        {check::random_tensor({3, classes}, 9)});
  }
}

TEST_CASE("a label out of range is an error that names the sample") {
  Tape tape(DType::float64);
  const Var x = tape.leaf(filled({3, 10}, 0));
  const Labels high = {0, 9, 10}, low = {0, -1, 5}, few = {1, 2};
  CHECK(message_of([&] { softmax_cross_entropy(x, high); }) ==
        "[softmax_cross_entropy] labels lie in [0, 10); got 10 for sample 2");
  CHECK(message_of([&] { softmax_cross_entropy(x, low); }) ==
        "[softmax_cross_entropy] labels lie in [0, 10); got -1 for sample 1");
  CHECK(message_of([&] { softmax_cross_entropy(x, few); }) ==
        "[softmax_cross_entropy] needs one label for each of 3 samples; got 2");
}

}  // namespace
}  // namespace phasor::tests
