// Inputs and comparisons of checks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "phasor/tensor.h"

namespace phasor::check {

/// shift + scale * (standard normal numbers), a pure function of the seed.
Tensor random_tensor(const Shape& shape, std::uint64_t seed, double scale = 1, double shift = 0);

/// Euclidean norm of the finite elements, without overflow.
double length(const std::vector<double>& values);

/// length(got - expected) over the larger of length(expected) and `at_least`, or by itself where
/// both are 0. NaN where only one of two elements is finite. Elements that are equal infinities or
/// both NaN count as equal.
double relative_error(const std::vector<double>& got, const std::vector<double>& expected,
                      double at_least = 0);

bool all_finite(const std::vector<double>& values);

/// The number in short form, for reports: six significant digits.
std::string short_number(double value);

}  // namespace phasor::check
