// What the tests of ops share.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "check/gradcheck.h"
#include "check/inputs.h"
#include "check/norm_runs.h"
#include "phasor/ops.h"

namespace phasor::tests {

inline Tensor tensor(const Shape& shape, const std::vector<double>& values) {
  return Tensor(shape, values, DType::float64);
}

inline Tensor filled(const Shape& shape, double value) {
  return check::random_tensor(shape, 0, 0, value);
}

/// Normal numbers moved away from 0 by a half, so that 0 is not near.
inline Tensor away_from_zero(const Shape& shape, std::uint64_t seed) {
  Tensor result = check::random_tensor(shape, seed);
  for (Index i = 0; i < shape.size(); ++i)
    result.set(i, result.at(i) + (result.at(i) < 0 ? -0.5 : 0.5));
  return result;
}

inline Tensor positive(const Shape& shape, std::uint64_t seed) {
  Tensor result = away_from_zero(shape, seed);
  for (Index i = 0; i < shape.size(); ++i) result.set(i, std::abs(result.at(i)));
  return result;
}

inline void check_gradients(const check::Function& function, const std::vector<Tensor>& arguments,
                            double limit = 1e-7) {
  const check::GradcheckResult result = check::gradcheck(function, arguments);
  INFO("worst ", result.str());
  CHECK(result.worst < limit);
}

/// The values of `function`, on a double tape.
inline std::vector<double> values_of(const check::Function& function,
                                     const std::vector<Tensor>& arguments) {
  Tape tape(DType::float64);
  std::vector<Var> vars;
  for (const Tensor& argument : arguments) vars.push_back(tape.leaf(argument));
  return function(tape, vars).value().values();
}

/// Value and all gradients in float32 on every kernel set against double.
inline void check_float32(const check::Function& function, const std::vector<Tensor>& arguments,
                          double limit = 2e-6) {
  const auto run = [&](DType dtype, kernels::KernelSet set) {
    Tape tape(dtype, true, set);
    std::vector<Var> vars;
    for (const Tensor& argument : arguments) vars.push_back(tape.leaf(argument.to(DType::float32)));
    const Var out = function(tape, vars);
    const Tensor dy = check::random_tensor(out.shape(), 99).to(DType::float32);
    std::vector<std::vector<double>> results = {out.value().values()};
    tape.backward(sum(out * tape.leaf(dy, false)));
    for (const Var& var : vars) results.push_back(var.grad().values());
    return results;
  };
  const auto exact = run(DType::float64, kernels::KernelSet::reference);
  for (const kernels::KernelSet set : check::available_sets()) {
    const auto got = run(DType::float32, set);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      INFO(kernels::name_of(set), ", result ", i, " (0: value, k: gradient of argument k - 1)");
      CHECK(check::relative_error(got[i], exact[i]) < limit);
    }
  }
}

template <class Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no exception";
}

}  // namespace phasor::tests
