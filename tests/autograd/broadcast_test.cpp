#include "autograd/broadcast.h"

#include <numeric>

#include "autograd/support.h"

namespace phasor::tests {
namespace {

using kernels::Binary;

/// Element `i` of the result as the broadcasting rule says, by index arithmetic alone.
double element(const Tensor& argument, const Shape& shape, Index i) {
  Index place = 0, step = 1;
  for (int axis = 1; axis <= shape.rank(); ++axis) {
    const Index index = i % shape[-axis];
    i /= shape[-axis];
    if (axis > argument.shape().rank()) continue;
    const Index extent = argument.shape()[-axis];
    place += (extent == 1 ? 0 : index) * step;
    step *= extent;
  }
  return argument.at(place);
}

void check_pair(const Shape& a_shape, const Shape& b_shape) {
  INFO(a_shape.str(), " and ", b_shape.str());
  const Tensor a = check::random_tensor(a_shape, 1), b = check::random_tensor(b_shape, 2);
  const Shape shape = broadcast(a_shape, b_shape, "test");
  const auto& table = kernels::table<double>(kernels::KernelSet::reference);
  Tensor out(shape, DType::float64);
  autograd::binary(table, Binary::subtract, shape, a.data<double>(), a_shape, b.data<double>(),
                   b_shape, out.data<double>());
  Index wrong = 0;
  for (Index i = 0; i < shape.size(); ++i)
    wrong += out.at(i) != element(a, shape, i) - element(b, shape, i);
  CHECK(wrong == 0);

  // The transpose: sums of the result over the axes that b lacks.
  Arena arena;
  Tensor summed(b_shape, DType::float64), expected(b_shape, DType::float64);
  autograd::sum_to(table, arena, shape, out.data<double>(), b_shape, summed.data<double>());
  Tensor places(b_shape, DType::float64);
  for (Index i = 0; i < b_shape.size(); ++i) places.set(i, static_cast<double>(i));
  for (Index i = 0; i < shape.size(); ++i) {
    const auto place = static_cast<Index>(element(places, shape, i));
    expected.set(place, expected.at(place) + out.at(i));
  }
  CHECK(check::relative_error(summed.values(), expected.values()) < 1e-12);
}

TEST_CASE("broadcasting and its transpose, over a table of shapes") {
  const Shape shapes[] = {{},        {1},          {5},          {1, 5},       {4, 1},
                          {4, 5},    {3, 1, 1},    {3, 4, 1},    {3, 1, 5},    {1, 4, 5},
                          {3, 4, 5}, {2, 3, 4, 5}, {2, 1, 4, 1}, {1, 3, 1, 5}, {2, 1, 1, 5}};
  for (const Shape& a : shapes)
    for (const Shape& b : shapes) check_pair(a, b);
}

TEST_CASE("broadcasting at sizes around the blocks and vectors that it works in") {
  for (const Index c : {1, 2, 3, 15, 16, 17, 257, 2047, 2048, 2049, 4100}) {
    check_pair({9, c}, {c});
    check_pair({9, c}, {9, 1});
    check_pair({c, 9}, {c, 1});
    check_pair({c, 9}, {9});
    check_pair({3, 1, c, 2}, {c, 1});  // a gain per phasor
    check_pair({3, 2, c, 2}, {3, 2, c, 1});
    check_pair({3, 2, c, 2}, {3, 1, 1, 1});
    check_pair({3, 2, c, 2}, {1, 2, 1, 2});
  }
  check_pair({1300, 2, 2, 2, 2, 1}, {2, 1, 2, 3});
}

TEST_CASE("empty arguments broadcast to nothing and sum to zero") {
  const auto& table = kernels::table<double>(kernels::KernelSet::reference);
  Arena arena;
  double y[3] = {1, 2, 3};
  autograd::sum_to<double>(table, arena, {0, 3}, nullptr, {1, 3}, y);
  CHECK(std::accumulate(y, y + 3, 0.0) == 0);
  Tape tape(DType::float64);
  const Var x = tape.leaf(Tensor({0, 3}, DType::float64));
  const Var b = tape.leaf(filled({3}, 1));
  tape.backward(sum(x + b));
  CHECK(b.grad().values() == std::vector<double>{0, 0, 0});
}

TEST_CASE("B15: long sums of rows in float32 stay accurate") {
  const Index rows = 50000, c = 16;
  Tensor x = check::random_tensor({rows, c}, 3, 1, 0.5).to(DType::float32);
  std::vector<double> exact(c);
  for (Index i = 0; i < x.size(); ++i) exact[i % c] += x.at(i);
  for (const kernels::KernelSet set : check::available_sets()) {
    Arena arena;
    Tensor y({c}, DType::float32);
    autograd::sum_to(kernels::table<float>(set), arena, x.shape(), x.data<float>(), {c},
                     y.data<float>());
    INFO(kernels::name_of(set));
    CHECK(check::relative_error(y.values(), exact) < 2e-6);
  }
}

}  // namespace
}  // namespace phasor::tests
