// Every differentiable op. The public entry checks its arguments once and names the rule that is
// broken; forward and backward of an op stand side by side in src/autograd.
//
// Elementwise ops broadcast by NumPy's rule. Axes count from the end when negative. Reductions keep
// the axes they sum over as extents of 1 unless told otherwise.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "phasor/autograd.h"

namespace phasor {

// Arithmetic, with broadcasting.
PHASOR_API Var operator+(const Var& a, const Var& b);
PHASOR_API Var operator-(const Var& a, const Var& b);
PHASOR_API Var operator*(const Var& a, const Var& b);
PHASOR_API Var operator/(const Var& a, const Var& b);
PHASOR_API Var operator-(const Var& x);
PHASOR_API Var operator+(const Var& x, double c);
PHASOR_API Var operator*(const Var& x, double c);
inline Var operator+(double c, const Var& x) { return x + c; }
inline Var operator-(const Var& x, double c) { return x + -c; }
inline Var operator*(double c, const Var& x) { return x * c; }
inline Var operator/(const Var& x, double c) { return x * (1.0 / c); }

/// a / b, and 0 where b = 0, with gradient 0 there: the value that a normalised zero row has.
PHASOR_API Var divide_or_zero(const Var& a, const Var& b);

PHASOR_API Var square(const Var& x);
/// Square root. At 0 the gradient is 0, by definition: the subgradient that keeps a norm of a zero
/// vector differentiable (cases B05).
PHASOR_API Var sqrt(const Var& x);
/// |x|, with gradient 0 at 0.
PHASOR_API Var abs(const Var& x);
PHASOR_API Var exp(const Var& x);
PHASOR_API Var tanh(const Var& x);
/// max(x, 0), with gradient 0 at 0.
PHASOR_API Var relu(const Var& x);

/// Sum and mean over the given axes (all of them where none is given).
PHASOR_API Var sum(const Var& x, std::initializer_list<int> axes = {}, bool keep = true);
PHASOR_API Var mean(const Var& x, std::initializer_list<int> axes = {}, bool keep = true);

/// A power of two near the largest |x| over the given axes, at least `floor`; 1 where it would be
/// 0. It counts as a constant: what is divided by it and multiplied by it again does not depend on
/// it. Scaling by it keeps squares of huge and tiny numbers in range and loses no digit.
PHASOR_API Var magnitude(const Var& x, std::initializer_list<int> axes, double floor = 0);

/// sqrt(mean(x^2) + eps) over the given axes, which stay as extents of 1; right at any magnitude.
PHASOR_API Var root_mean_square(const Var& x, std::initializer_list<int> axes, double eps);

/// sqrt(|z|^2 + eps) of phasors z [..., P, 2]: [..., P, 1]; right at any magnitude.
PHASOR_API Var modulus(const Var& z, double eps);

/// The same elements under another shape of the same size; no copy.
PHASOR_API Var reshape(const Var& x, const Shape& shape);

/// [..., C] as [..., C/2, 2]: adjacent channels (2i, 2i+1) as the two components of phasor i; no
/// copy. C must be even.
PHASOR_API Var phasors(const Var& x);
/// The inverse of `phasors`: [..., P, 2] as [..., 2P].
PHASOR_API Var channels(const Var& z);

/// Convolution of x [N,H,W,C_in] with weights [k,k,C_in,C_out], k = 1 or 3, zero padding k/2,
/// stride 1 or 2, no bias: [N, (H-1)/stride+1, (W-1)/stride+1, C_out].
PHASOR_API Var conv2d(const Var& x, const Var& weights, int stride);

/// Mean over H and W: [N,H,W,C] to [N,C].
PHASOR_API Var global_average_pool(const Var& x);

/// y(..., i) = x(..., order[i]): the channels of the last axis in another order, every one once.
PHASOR_API Var permute_channels(const Var& x, std::span<const Index> order);

/// Every second pixel of x [N,H,W,C] (from the first) with zero channels appended up to
/// `channels`: the parameter-free shortcut. `stride` 1 or 2.
PHASOR_API Var subsample_pad(const Var& x, int stride, Index channels);

/// x [N,C] times weights [C,K] plus bias [K]: [N,K].
PHASOR_API Var linear(const Var& x, const Var& weights, const Var& bias);

/// Cross-entropy of softmax(logits [N,K]) against labels, for each sample: [N], in nats. Stable for
/// huge and for -inf logits. A label outside [0, K) is an error that names the sample. `labels`
/// (N of them) must live until the backward pass is done.
PHASOR_API Var softmax_cross_entropy(const Var& logits, std::span<const std::int32_t> labels);

}  // namespace phasor
