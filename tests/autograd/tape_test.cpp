#include <pthread.h>

#include <cstdlib>
#include <type_traits>
#include <utility>

#include "autograd/support.h"

namespace phasor::tests {
namespace {

using Vars = std::span<const Var>;

// Nodes move when the tape grows, so a shape by reference would be one of freed memory.
static_assert(std::is_same_v<decltype(std::declval<Var>().shape()), Shape>);

TEST_CASE("a chain of 200,000 ops runs backward and is destroyed on a 256 KiB stack") {
  struct Result {
    double value = 0, gradient = 0;
  } result;
  const auto body = [](void* data) -> void* {
    Tape tape(DType::float64);
    const Var x = tape.leaf(filled({1}, 1));
    Var y = x;
    for (int i = 0; i < 200000; ++i) y = i % 2 == 0 ? y + 1.0 : -y;
    tape.backward(y);
    *static_cast<Result*>(data) = {y.value().at(0), x.grad().at(0)};
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &attributes, body, &result) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  CHECK(result.value == 1);  // x, x + 1, -x - 1, -x, x, ...
  CHECK(result.gradient == 1);
}

TEST_CASE("after the first round a pass takes no memory") {
  Tape tape(DType::float32);
  const Tensor input = check::random_tensor({4, 8, 8, 6}, 1);
  const Tensor weights = check::random_tensor({3, 3, 6, 6}, 2, 0.2);
  const Tensor head = check::random_tensor({6, 10}, 3);
  const std::vector<std::int32_t> labels = {1, 2, 3, 4};
  std::size_t capacity[5];
  std::vector<double> gradients[5];
  for (int round = 0; round < 5; ++round) {
    tape.clear();
    const Var x = tape.leaf(input, false), w = tape.leaf(weights), h = tape.leaf(head);
    const Var b = tape.leaf(filled({10}, 0));
    const Var y = relu(conv2d(x, w, 1));
    const Var z = relu(conv2d(y, w, 1) + y);
    const Var logits = linear(global_average_pool(z / (sqrt(mean(square(z), {3}) + 1e-5))), h, b);
    tape.backward(mean(softmax_cross_entropy(logits, labels)));
    gradients[round] = w.grad().values();
    capacity[round] = tape.arena().capacity();
  }
  CHECK(capacity[4] == capacity[2]);
  CHECK(gradients[4] == gradients[0]);
}

TEST_CASE("a leaf's gradient is added to what the caller's buffer holds") {
  Tape tape(DType::float64);
  const double value[2] = {3, 4};
  double gradient[2] = {10, 20};
  for (int pass = 0; pass < 2; ++pass) {
    tape.clear();
    tape.backward(sum(square(tape.leaf({2}, value, gradient))), 0.5);
  }
  CHECK(gradient[0] == 16);
  CHECK(gradient[1] == 28);
}

TEST_CASE("B11: gradient buffers that move do not disturb a residual branch") {
  const auto norm = [](const Var& x) {
    const Var centred = x - mean(x, {1});
    return centred / sqrt(mean(square(centred), {1}) + 1e-5);
  };
  const std::vector<Tensor> x = {check::random_tensor({3, 17}, 1)};
  check_gradients([&](Tape&, Vars v) { return v[0] + norm(norm(v[0])); }, x);
  check_gradients([&](Tape&, Vars v) { return norm(v[0]) + v[0]; }, x);
  check_gradients([&](Tape&, Vars v) { return relu(norm(v[0]) + v[0]) + v[0]; }, x);
  check_gradients([&](Tape&, Vars v) { return reshape(-(v[0] + 2.0), {51}) + reshape(v[0], {51}); },
                  x);
}

TEST_CASE("B09: the gradient of a sum is read as the broadcast value that it is") {
  const Tensor x = check::random_tensor({4, 18}, 1);
  const auto gradient = [&](bool by_ones) {
    Tape tape(DType::float32);
    const Var leaf = tape.leaf(x);
    const Var y = leaf / sqrt(mean(square(leaf), {1}) + 1e-5);
    tape.backward(by_ones ? sum(y * tape.leaf(filled({4, 18}, 1), false)) : sum(y));
    return leaf.grad().values();
  };
  CHECK(gradient(false) == gradient(true));
}

TEST_CASE("B10: an op without a backward rule is an error when it is made") {
  Tape tape(DType::float64);
  const Var x = tape.leaf(filled({2}, 1));
  static constexpr Op kBroken{"broken", nullptr};
  CHECK(message_of([&] { tape.append(kBroken, {2}, {x}); }) ==
        "[broken] an op needs a backward rule; got none");
}

TEST_CASE("B10: every argument upstream of an op gets a gradient that is not zero") {
  Tape tape(DType::float64);
  const Var x = tape.leaf(check::random_tensor({2, 4, 4, 2}, 1));
  const Var w = tape.leaf(check::random_tensor({3, 3, 2, 4}, 2));
  const Var gain = tape.leaf(filled({4}, 1.5)), head = tape.leaf(check::random_tensor({4, 3}, 3));
  const Var bias = tape.leaf(filled({3}, 0));
  const std::vector<std::int32_t> labels = {0, 2};
  const Var y = tanh(conv2d(x, w, 2) * gain) + subsample_pad(abs(x), 2, 4);
  tape.backward(sum(softmax_cross_entropy(linear(global_average_pool(y), head, bias), labels)));
  for (const Var& leaf : {x, w, gain, head, bias}) {
    double largest = 0;
    for (const double g : leaf.grad().values()) largest = std::max(largest, std::abs(g));
    CHECK(largest > 1e-4);
  }
}

TEST_CASE("a backward rule that believes in another shape is named") {
  static constexpr Op kWrong{
      "wrong", [](Tape& tape, const Node& node) { tape.grad_target<double>(node, 0, Shape{3}); }};
  Tape tape(DType::float64);
  tape.set_scope("layer1");
  const Var out = tape.append(kWrong, {1}, {tape.leaf(filled({2}, 1))});
  CHECK(message_of([&] { tape.backward(out); }) ==
        "[wrong] the gradient of input 0 must have its shape [2]; got [3] in layer 'layer1'; the "
        "op's backward rule is wrong");
}

TEST_CASE("misuse of a tape is explained") {
  Tape tape(DType::float64), other(DType::float64), silent(DType::float64, false);
  const Var x = tape.leaf(filled({2}, 1)), y = other.leaf(filled({2}, 1));
  CHECK(message_of([&] { x + y; }) == "[add] all inputs must be on the same tape");
  CHECK(message_of([&] { tape.backward(x); }) ==
        "[backward] the root must have one element; got [2]; take its sum or mean first");
  const Var z = sum(silent.leaf(filled({2}, 1)));
  CHECK(message_of([&] { silent.backward(z); }) ==
        "[backward] this tape records nothing; make it with record = true");
  CHECK(message_of([&] { sqrt(Var()); }) == "[sqrt] the argument must be a value on a tape");
}

TEST_CASE("B16: mathematically constant losses have zero gradient") {
  const Tensor x = check::random_tensor({3, 16}, 1);
  const auto largest_gradient = [&](const check::Function& loss) {
    Tape tape(DType::float64);
    const std::vector<Var> leaf = {tape.leaf(x)};
    tape.backward(sum(loss(tape, leaf)));
    double largest = 0;
    for (const double g : leaf[0].grad().values()) largest = std::max(largest, std::abs(g));
    return largest;
  };
  CHECK(largest_gradient([](Tape&, Vars v) {  // sum |zhat_i| = P
          const Var m = sqrt(sum(square(phasors(v[0])), {2}));
          const Var zhat = phasors(v[0]) / mean(m, {1, 2});
          return sqrt(sum(square(zhat), {2}));
        }) < 1e-12);
  CHECK(largest_gradient([](Tape&, Vars v) {  // sum xhat^2 = C
          return square(v[0] / sqrt(mean(square(v[0]), {1})));
        }) < 1e-12);
  CHECK(largest_gradient([](Tape&, Vars v) {  // LayerNorm followed by a sum
          const Var centred = v[0] - mean(v[0], {1});
          return centred / sqrt(mean(square(centred), {1}) + 1e-5);
        }) < 1e-12);
}

}  // namespace
}  // namespace phasor::tests
