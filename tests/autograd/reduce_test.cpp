#include "autograd/support.h"

namespace phasor::tests {
namespace {

using Vars = std::span<const Var>;

TEST_CASE("sum and mean over axes: values and shapes") {
  Tape tape(DType::float64);
  const Var x = tape.leaf(tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(sum(x).shape() == Shape{1, 1});
  CHECK(sum(x).value().at(0) == 21);
  CHECK(sum(x, {}, false).shape() == Shape{});
  CHECK(sum(x, {0}).value().values() == std::vector<double>{5, 7, 9});
  CHECK(sum(x, {-1}).shape() == Shape{2, 1});
  CHECK(sum(x, {1}, false).shape() == Shape{2});
  CHECK(sum(x, {1}).value().values() == std::vector<double>{6, 15});
  CHECK(mean(x, {1}).value().values() == std::vector<double>{2, 5});
  CHECK(mean(x).value().at(0) == 3.5);
}

TEST_CASE("sum and mean: gradients over every choice of axes") {
  for (const Index n : {1, 2, 7, 16, 17, 33}) {
    const std::vector<Tensor> x = {check::random_tensor({2, n, 3}, 11)};
    INFO("[2,", n, ",3]");
    check_gradients([](Tape&, Vars v) { return sum(v[0]); }, x);
    check_gradients([](Tape&, Vars v) { return mean(v[0]); }, x);
    check_gradients([](Tape&, Vars v) { return sum(v[0], {0}); }, x);
    check_gradients([](Tape&, Vars v) { return sum(v[0], {1}, false); }, x);
    check_gradients([](Tape&, Vars v) { return mean(v[0], {2}); }, x);
    check_gradients([](Tape&, Vars v) { return mean(v[0], {0, 2}, false); }, x);
    check_gradients([](Tape&, Vars v) { return mean(v[0], {1, -1}); }, x);
    // A second consumer: the gradient is added.
    check_gradients([](Tape&, Vars v) { return v[0] - mean(v[0], {1}) + sum(v[0], {0, 2}); }, x);
    check_float32([](Tape&, Vars v) { return v[0] * mean(v[0], {1}) + sum(v[0], {2}); }, x);
  }
}

TEST_CASE("sum and mean refuse axes that are not there or come twice") {
  Tape tape(DType::float64);
  const Var x = tape.leaf(filled({2, 3}, 1));
  CHECK(message_of([&] { sum(x, {2}); }) == "[sum] axes lie in [-2, 2); got 2 for [2,3]");
  CHECK(message_of([&] {
          mean(x, {1, -1});
        }) == "[mean] each axis is named once; got -1 again for [2,3]");
  const Var empty = tape.leaf(Tensor({0, 3}, DType::float64));
  CHECK(message_of([&] { mean(empty); }) == "[mean] needs at least one element; got [0,3]");
  CHECK(sum(empty).value().at(0) == 0);
}

}  // namespace
}  // namespace phasor::tests
