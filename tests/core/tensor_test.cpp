#include "phasor/tensor.h"

#include <doctest/doctest.h>

#include <cstdint>

namespace phasor {
namespace {

TEST_CASE("a tensor starts as zeros in memory aligned to 64 bytes") {
  for (const DType dtype : {DType::float32, DType::float64}) {
    const Tensor tensor({3, 5}, dtype);
    CHECK(reinterpret_cast<std::uintptr_t>(tensor.raw()) % 64 == 0);
    CHECK(tensor.values() == std::vector<double>(15, 0.0));
  }
  CHECK(Tensor().empty());
  CHECK(Tensor({0}, DType::float32).values().empty());
}

TEST_CASE("values keep row-major order; copies share, clones do not") {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6};
  Tensor tensor({2, 3}, values, DType::float32);
  CHECK(tensor.at(4) == 5);
  Tensor copy = tensor, clone = tensor.clone();
  copy.set(0, 9);
  CHECK(tensor.at(0) == 9);
  CHECK(clone.at(0) == 1);
  const Tensor view = tensor.reshaped({3, 2});
  CHECK(view.shape() == Shape{3, 2});
  CHECK(view.raw() == tensor.raw());
}

TEST_CASE("conversion rounds to the nearest float") {
  const std::vector<double> values = {0.1};
  const Tensor tensor({1}, values, DType::float64);
  CHECK(tensor.to(DType::float32).at(0) == static_cast<double>(0.1f));
  CHECK(tensor.to(DType::float64).at(0) == 0.1);
  CHECK(tensor.to(DType::float64).raw() != tensor.raw());
}

TEST_CASE("wrong number of values, number type or size are errors") {
  const std::vector<double> values = {1, 2, 3};
  CHECK_THROWS_WITH_AS(Tensor({2, 2}, values), "[tensor] shape [2,2] needs 4 values; got 3", Error);
  Tensor tensor({3}, values);
  CHECK_THROWS_WITH_AS(tensor.data<float>(), "[tensor] asked for float32 of a float64 tensor",
                       Error);
  CHECK_THROWS_WITH_AS(tensor.reshaped({2}),
                       "[reshape] the number of elements must not change; got [3] to [2]", Error);
}

}  // namespace
}  // namespace phasor
