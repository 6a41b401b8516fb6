// Inputs and comparisons of checks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "phasor/tensor.h"

namespace phasor::check {

/// shift + scale * (standard normal numbers), a pure function of the seed.
Tensor random_tensor(const Shape& shape, std::uint64_t seed, double scale = 1, double shift = 0);

/// Norm of (got - expected) over the norm of `expected`; the norm of `got` itself where `expected`
/// is zero, NaN where `got` is not finite but `expected` is. 0 for two equal vectors. Elements that
/// are equal infinities or both NaN count as equal.
double relative_error(const std::vector<double>& got, const std::vector<double>& expected);

bool all_finite(const std::vector<double>& values);

/// The number in short form, for reports: six significant digits.
std::string short_number(double value);

}  // namespace phasor::check
