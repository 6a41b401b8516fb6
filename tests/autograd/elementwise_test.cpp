#include <cmath>
#include <limits>

#include "autograd/support.h"

namespace phasor::tests {
namespace {

using Vars = std::span<const Var>;

const Index kSizes[] = {1, 2, 7, 8, 15, 16, 17, 31, 33, 64, 65};

struct UnaryCase {
  const char* name;
  check::Function function;
  Tensor (*input)(const Shape&, std::uint64_t);
};

Tensor normal(const Shape& shape, std::uint64_t seed) { return check::random_tensor(shape, seed); }

const UnaryCase kUnary[] = {
    {"negate", [](Tape&, Vars v) { return -v[0]; }, normal},
    {"add constant", [](Tape&, Vars v) { return v[0] + 1.5; }, normal},
    {"subtract constant", [](Tape&, Vars v) { return v[0] - 1.5; }, normal},
    {"scale", [](Tape&, Vars v) { return -2.5 * v[0]; }, normal},
    {"divide by constant", [](Tape&, Vars v) { return v[0] / 3.0; }, normal},
    {"square", [](Tape&, Vars v) { return square(v[0]); }, normal},
    {"sqrt", [](Tape&, Vars v) { return sqrt(v[0]); }, positive},
    {"abs", [](Tape&, Vars v) { return abs(v[0]); }, away_from_zero},
    {"exp", [](Tape&, Vars v) { return exp(v[0]); }, normal},
    {"tanh", [](Tape&, Vars v) { return tanh(v[0]); }, normal},
    {"relu", [](Tape&, Vars v) { return relu(v[0]); }, away_from_zero},
};

struct BinaryCase {
  const char* name;
  check::Function function;
};

const BinaryCase kBinary[] = {
    {"add", [](Tape&, Vars v) { return v[0] + v[1]; }},
    {"subtract", [](Tape&, Vars v) { return v[0] - v[1]; }},
    {"multiply", [](Tape&, Vars v) { return v[0] * v[1]; }},
    {"divide", [](Tape&, Vars v) { return v[0] / v[1]; }},
    {"divide_or_zero", [](Tape&, Vars v) { return divide_or_zero(v[0], v[1]); }},
};

TEST_CASE("one-argument ops: gradients in double, float32 on every kernel set") {
  for (const UnaryCase& op : kUnary)
    for (const Index n : kSizes) {
      INFO(op.name, " of ", n);
      check_gradients(op.function, {op.input({n}, 3)});
      check_float32(op.function, {op.input({n}, 3)});
    }
}

TEST_CASE("two-argument ops: gradients of both, float32 on every kernel set") {
  for (const BinaryCase& op : kBinary)
    for (const Index n : kSizes) {
      INFO(op.name, " of ", n);
      check_gradients(op.function, {away_from_zero({n}, 5), away_from_zero({n}, 6)});
      check_float32(op.function, {away_from_zero({n}, 5), away_from_zero({n}, 6)});
    }
}

TEST_CASE("two-argument ops with a broadcast argument: gradients of both") {
  const Shape whole{2, 3, 4};
  const Shape parts[] = {{},        {1},       {4},       {1, 4},    {3, 4},   {3, 1},
                         {2, 1, 1}, {1, 3, 1}, {2, 1, 4}, {2, 3, 1}, {1, 1, 1}};
  for (const BinaryCase& op : kBinary)
    for (const Shape& part : parts) {
      INFO(op.name, " with ", part.str());
      check_gradients(op.function, {away_from_zero(whole, 7), away_from_zero(part, 8)});
      check_gradients(op.function, {away_from_zero(part, 7), away_from_zero(whole, 8)});
      check_float32(op.function, {away_from_zero(whole, 7), away_from_zero(part, 8)});
    }
  // Both at once.
  for (const BinaryCase& op : kBinary)
    check_gradients(op.function, {away_from_zero({3, 1}, 7), away_from_zero({1, 4}, 8)});
}

TEST_CASE("an argument used twice gets both gradients") {
  check_gradients([](Tape&, Vars v) { return v[0] + v[0]; }, {normal({17}, 1)});
  check_gradients([](Tape&, Vars v) { return v[0] - v[0] * v[0]; }, {normal({17}, 1)});
  check_gradients([](Tape&, Vars v) { return v[0] / (v[0] * v[0] + 1.0); }, {normal({17}, 1)});
  check_gradients([](Tape&, Vars v) { return relu(v[0]) + tanh(v[0]) + -v[0]; },
                  {away_from_zero({17}, 1)});
}

TEST_CASE("sqrt, abs and relu have gradient 0 at 0") {
  for (const auto& function : {check::Function([](Tape&, Vars v) { return sqrt(v[0]); }),
                               check::Function([](Tape&, Vars v) { return abs(v[0]); }),
                               check::Function([](Tape&, Vars v) { return relu(v[0]); })}) {
    Tape tape(DType::float64);
    const Var x = tape.leaf(tensor({2}, {0.0, 4.0}));
    const std::vector<Var> vars = {x};
    tape.backward(sum(function(tape, vars)));
    CHECK(x.grad().at(0) == 0);
    CHECK(x.grad().at(1) > 0);
  }
}

TEST_CASE("divide_or_zero: a zero divisor gives 0 and passes no gradient") {
  Tape tape(DType::float64);
  const Var a = tape.leaf(tensor({2, 2}, {1, 2, 0, -3}));
  const Var b = tape.leaf(tensor({2, 1}, {4, 0}));
  const Var out = divide_or_zero(a, b);
  CHECK(out.value().values() == std::vector<double>{0.25, 0.5, 0, 0});
  tape.backward(sum(out));
  CHECK(a.grad().values() == std::vector<double>{0.25, 0.25, 0, 0});
  CHECK(b.grad().values() == std::vector<double>{-3.0 / 16, 0});
}

TEST_CASE("NaN and infinity pass through; they are not hidden") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const kernels::KernelSet set : check::available_sets()) {
    Tape tape(DType::float32, true, set);
    const Var x = tape.leaf(filled({33}, nan));
    for (const Var& y : {relu(x), abs(x), sqrt(x), x + 1.0, x * x, divide_or_zero(x, x)}) {
      INFO(kernels::name_of(set), ", ", y.node().op->name);
      CHECK(std::isnan(y.value().at(32)));
    }
  }
}

TEST_CASE("shapes that do not broadcast are an error that names the op and both") {
  Tape tape(DType::float64);
  const Var a = tape.leaf(filled({2, 3}, 1)), b = tape.leaf(filled({4}, 1));
  CHECK(message_of([&] { a* b; }) ==
        "[multiply] shapes must broadcast; got [2,3] and [4]; extents from the last axis on must "
        "be equal or 1");
}

}  // namespace
}  // namespace phasor::tests
