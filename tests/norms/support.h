// What the tests of norms share.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "check/inputs.h"
#include "check/norm_runs.h"

namespace phasor::tests {

/// x as [rows, positions, C] with gain parameters at their initial values and dy given.
inline check::NormCase norm_case(const check::NormUnderTest& norm, const Shape& shape,
                                 const std::vector<double>& x, const std::vector<double>& dy) {
  check::NormCase result;
  result.x = Tensor(shape, x);
  result.dy = Tensor(shape, dy);
  for (const NormBuilder::Parameter& parameter : norm.parameters)
    result.parameters.push_back(check::random_tensor(parameter.shape, 0, 0, parameter.init));
  return result;
}

struct Run {
  std::string name;
  check::NormResult result;
  bool exact;  // double
};

/// The definition in double, the definition in float32 and the fused pair, on every kernel set.
inline std::vector<Run> all_runs(const check::NormUnderTest& norm, const check::NormCase& input) {
  std::vector<Run> runs = {
      {"double",
       check::run_composed(*norm.norm, input, DType::float64, kernels::KernelSet::reference),
       true}};
  for (const kernels::KernelSet set : check::available_sets()) {
    const std::string name = kernels::name_of(set);
    runs.push_back(
        {"composed, " + name, check::run_composed(*norm.norm, input, DType::float32, set), false});
    if (norm.norm->fused() != nullptr)
      runs.push_back({"fused, " + name, check::run_fused(*norm.norm, input, set), false});
  }
  return runs;
}

inline check::NormUnderTest make(const char* name, Index channels, double eps) {
  return check::make_norm(find_norm(name), {.channels = channels, .eps = eps});
}

/// Every element within `limit`, absolutely.
inline void check_near(const std::vector<double>& got, const std::vector<double>& expected,
                       double limit) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("element ", i);
    CHECK(std::fabs(got[i] - expected[i]) <= limit);
  }
}

}  // namespace phasor::tests
