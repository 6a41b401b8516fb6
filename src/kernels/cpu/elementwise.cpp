// Elementwise kernels, reductions and pooling: memory-bound loops that vectorise as they stand (one
// rounding per operation, so every set gives the same bits), and the fixed 16-way trees over Vec.
#include "kernels/cpu/families.h"
#include "kernels/cpu/vec.h"
#include "kernels/reference/reference.h"

namespace phasor::kernels::PHASOR_ISA {
namespace {

template <class Op>
PHASOR_INLINE void binary_runs(Index n, const float* a, Index step_a, const float* b, Index step_b,
                               float* out, Op op) {
  if (step_a == 1 && step_b == 1)
    for (Index i = 0; i < n; ++i) out[i] = op(a[i], b[i]);
  else if (step_a == 1 && step_b == 0)
    for (Index i = 0, q = 0; i < n; ++i) out[i] = op(a[i], b[q]);
  else if (step_a == 0 && step_b == 1)
    for (Index i = 0, p = 0; i < n; ++i) out[i] = op(a[p], b[i]);
  else
    for (Index i = 0; i < n; ++i) out[i] = op(a[i * step_a], b[i * step_b]);
}

}  // namespace

void binary(Binary op, Index n, const float* a, Index step_a, const float* b, Index step_b,
            float* out) {
  switch (op) {
    case Binary::add:
      binary_runs(n, a, step_a, b, step_b, out, [](float p, float q) { return p + q; });
      break;
    case Binary::subtract:
      binary_runs(n, a, step_a, b, step_b, out, [](float p, float q) { return p - q; });
      break;
    case Binary::multiply:
      binary_runs(n, a, step_a, b, step_b, out, [](float p, float q) { return p * q; });
      break;
    case Binary::divide:
      binary_runs(n, a, step_a, b, step_b, out, [](float p, float q) { return p / q; });
      break;
  }
}

void unary(Unary op, Index n, const float* x, float* out) {
  switch (op) {
    case Unary::negate:
      for (Index i = 0; i < n; ++i) out[i] = -x[i];
      break;
    case Unary::square:
      for (Index i = 0; i < n; ++i) out[i] = x[i] * x[i];
      break;
    case Unary::sqrt:
      for (Index i = 0; i < n; ++i) out[i] = __builtin_sqrtf(x[i]);
      break;
    case Unary::absolute:
      for (Index i = 0; i < n; ++i) out[i] = __builtin_fabsf(x[i]);
      break;
    case Unary::relu:  // NaN stays NaN
      for (Index i = 0; i < n; ++i) out[i] = x[i] <= 0 ? 0.0f : x[i];
      break;
    case Unary::exponential:
    case Unary::tanh:
      reference::unary(op, n, x, out);
      break;
  }
}

void add_scaled(Index n, float scale, const float* x, float* y) {
  for (Index i = 0; i < n; ++i) y[i] += scale * x[i];
}

void copy_scaled(Index n, float scale, const float* x, float* y) {
  for (Index i = 0; i < n; ++i) y[i] = scale * x[i];
}

void sum_rows(Index rows, Index columns, const float* x, float* y) {
  for (Index c = 0; c < columns; c += kLanes) {
    const Index count = columns - c < kLanes ? columns - c : kLanes;
    Vec sum = zero();
    if (count == kLanes)
      for (Index r = 0; r < rows; ++r) sum = sum + load(x + r * columns + c);
    else
      for (Index r = 0; r < rows; ++r) sum = sum + load(x + r * columns + c, count);
    store(y + c, sum, count);
  }
}

void sum_columns(Index rows, Index columns, const float* x, float* y) {
  for (Index r = 0; r < rows; ++r, x += columns) {
    Vec sum = zero();
    Index c = 0;
    for (; c + kLanes <= columns; c += kLanes) sum = sum + load(x + c);
    if (c < columns) sum = sum + load(x + c, columns - c);
    y[r] = first_lane(sum_lanes_of(sum));
  }
}

void relu_backward(Index n, const float* out, const float* dy, float* dx, bool accumulate) {
  if (accumulate)
    for (Index i = 0; i < n; ++i) dx[i] += out[i] > 0 ? dy[i] : 0.0f;
  else
    for (Index i = 0; i < n; ++i) dx[i] = out[i] > 0 ? dy[i] : 0.0f;
}

void pool_forward(Index n, Index positions, Index channels, const float* x, float* y) {
  const auto count = static_cast<float>(positions);
  for (Index i = 0; i < n; ++i, x += positions * channels, y += channels) {
    sum_rows(positions, channels, x, y);
    for (Index c = 0; c < channels; ++c) y[c] /= count;
  }
}

void pool_backward(Index n, Index positions, Index channels, const float* dy, float* dx,
                   bool accumulate) {
  const auto count = static_cast<float>(positions);
  for (Index i = 0; i < n; ++i, dy += channels)
    for (Index p = 0; p < positions; ++p, dx += channels)
      if (accumulate)
        for (Index c = 0; c < channels; ++c) dx[c] += dy[c] / count;
      else
        for (Index c = 0; c < channels; ++c) dx[c] = dy[c] / count;
}

void sum_lanes(Index n, int lanes, const float* const* lane, float* total) {
  const float* first_buffer = lane[0];
  if (lanes == 1) {
    if (total != first_buffer)
      for (Index i = 0; i < n; ++i) total[i] = first_buffer[i];
    return;
  }
  const float* second = lane[1];
  for (Index i = 0; i < n; ++i) total[i] = first_buffer[i] + second[i];
  for (int l = 2; l < lanes; ++l) {
    const float* next = lane[l];
    for (Index i = 0; i < n; ++i) total[i] += next[i];
  }
}

double sum_of_squares(Index n, const float* x) {
  double lane[16] = {};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (Index l = 0; l < kLanes; ++l) {
      const double v = x[i + l];
      lane[l] += v * v;
    }
  for (Index l = 0; i + l < n; ++l) {
    const double v = x[i + l];
    lane[l] += v * v;
  }
  for (int distance = 8; distance > 0; distance /= 2)
    for (int l = 0; l < distance; ++l) lane[l] += lane[l + distance];
  return lane[0];
}

}  // namespace phasor::kernels::PHASOR_ISA
