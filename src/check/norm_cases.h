// The rows on which a norm is tried.
#pragma once

#include <vector>

#include "check/norm_runs.h"

namespace phasor::check {

/// Numbers of channels around the widths of vectors; even ones for norms that pair channels.
const std::vector<Index>& row_lengths(bool even);

enum class Rows { generic, constant, zero, tiny, large_mean };
const char* name_of(Rows rows);

/// x [rows, positions, channels] of a kind: standard normal numbers; all 1234; zeros; normal
/// numbers times 1e-6; 2000 plus normal numbers.
Tensor make_rows(Rows kind, const Shape& shape, std::uint64_t seed);

/// A case of `kind` with random dy and with parameters moved away from their initial values
/// (positive ones stay positive), so that nothing hides behind gains of 1 and biases of 0.
NormCase make_case(const NormUnderTest& norm, Rows kind, const Shape& shape, std::uint64_t seed);

}  // namespace phasor::check
