#include "check/norm_cases.h"

#include <cmath>

#include "check/inputs.h"

namespace phasor::check {

const std::vector<Index>& row_lengths(bool even) {
  static const std::vector<Index> any = {1, 15, 16, 17, 31, 33, 64, 257};
  static const std::vector<Index> even_only = {2, 14, 16, 18, 30, 34, 64, 258};
  return even ? even_only : any;
}

const char* name_of(Rows rows) {
  switch (rows) {
    case Rows::generic:
      return "generic rows";
    case Rows::constant:
      return "constant rows";
    case Rows::zero:
      return "zero rows";
    case Rows::tiny:
      return "tiny rows";
    case Rows::large_mean:
      return "rows of large mean";
  }
  return "";
}

Tensor make_rows(Rows kind, const Shape& shape, std::uint64_t seed) {
  switch (kind) {
    case Rows::generic:
      return random_tensor(shape, seed);
    case Rows::constant:
      return random_tensor(shape, seed, 0, 1234);
    case Rows::zero:
      return Tensor(shape, DType::float64);
    case Rows::tiny:
      return random_tensor(shape, seed, 1e-6);
    case Rows::large_mean:
      return random_tensor(shape, seed, 1, 2000);
  }
  return {};
}

NormCase make_case(const NormUnderTest& norm, Rows kind, const Shape& shape, std::uint64_t seed) {
  NormCase result;
  // float32 numbers, so that runs in float32 and in double see the same input.
  result.x = make_rows(kind, shape, seed).to(DType::float32).to(DType::float64);
  result.dy = random_tensor(shape, seed + 1).to(DType::float32).to(DType::float64);
  std::uint64_t next = seed + 2;
  for (const NormBuilder::Parameter& parameter : norm.parameters) {
    Tensor value = random_tensor(parameter.shape, next++, 0.5);
    for (Index i = 0; i < value.size(); ++i)
      value.set(i, static_cast<float>(parameter.init == 0
                                          ? value.at(i)
                                          : parameter.init * (0.5 + std::fabs(value.at(i)))));
    result.parameters.push_back(value);
  }
  return result;
}

}  // namespace phasor::check
