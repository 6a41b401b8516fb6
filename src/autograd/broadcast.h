// Broadcasting resolved into runs of kernel calls, its transpose (sums over the broadcast axes),
// and the ways in which an elementwise rule adds to the gradient of an input.
#pragma once

#include "kernels/kernels.h"
#include "phasor/autograd.h"

namespace phasor::autograd {

/// out = a op b over `shape`, with a [a_shape] and b [b_shape] broadcast to it. `out` may be an
/// argument that has `shape` itself.
template <class T>
void binary(const kernels::Table<T>& table, kernels::Binary op, const Shape& shape, const T* a,
            const Shape& a_shape, const T* b, const Shape& b_shape, T* out);

/// y [y_shape] = x [shape] summed over the axes on which y_shape broadcasts to `shape`. Axes are
/// summed from the outermost on; along a column the order is that of the rows, restarted after
/// every 1,024 rows, so that long float32 sums stay accurate. Scratch comes from `arena`.
template <class T>
void sum_to(const kernels::Table<T>& table, Arena& arena, const Shape& shape, const T* x,
            const Shape& y_shape, T* y);

/// The gradient that `node` received.
template <class T>
const T* gradient(const Node& node) {
  return static_cast<const T*>(node.grad);
}

/// Writes or adds scale * value [n] to a gradient.
template <class T>
void put(const kernels::Table<T>& table, const GradTarget<T>& target, Index n, T scale,
         const T* value) {
  (target.accumulate ? table.add_scaled : table.copy_scaled)(n, scale, value, target.data);
}

/// Gradient of a broadcast argument: `compute(full)` fills dy * d(out)/d(input) for the whole
/// result; the sum over the broadcast axes goes to the input.
template <class T, class Compute>
void pull_back(Tape& tape, const Node& node, int input, Compute&& compute) {
  const Shape shape = tape.node(node.inputs[input]).shape;
  const GradTarget<T> target = tape.grad_target<T>(node, input, shape);
  if (!target) return;
  const bool same = shape == node.shape;
  if (same && !target.accumulate) return compute(target.data);
  const ArenaScope scope(tape.arena());
  T* full = tape.arena().allocate_array<T>(static_cast<std::size_t>(node.shape.size()));
  compute(full);
  const T* value = full;
  if (!same) {
    T* reduced = target.accumulate
                     ? tape.arena().allocate_array<T>(static_cast<std::size_t>(shape.size()))
                     : target.data;
    sum_to(tape.kernels<T>(), tape.arena(), node.shape, full, shape, reduced);
    if (!target.accumulate) return;
    value = reduced;
  }
  tape.kernels<T>().add_scaled(shape.size(), T{1}, value, target.data);
}

/// Gradient of an argument that the op only scales: scale * dy, summed where it was broadcast.
/// `last`: no rule reads dy after this one, so that its memory may move on to the input.
template <class T>
void pull_back_scaled(Tape& tape, const Node& node, int input, double scale, bool last) {
  const Shape shape = tape.node(node.inputs[input]).shape;
  const kernels::Table<T>& table = tape.kernels<T>();
  const T factor = static_cast<T>(scale);
  if (shape == node.shape) {
    const GradTarget<T> target = last ? tape.grad_target_in_place<T>(node, input, shape)
                                      : tape.grad_target<T>(node, input, shape);
    if (!target || (target.data == node.grad && scale == 1)) return;
    put(table, target, shape.size(), factor, gradient<T>(node));
    return;
  }
  const GradTarget<T> target = tape.grad_target<T>(node, input, shape);
  if (!target) return;
  const ArenaScope scope(tape.arena());
  T* reduced = tape.arena().allocate_array<T>(static_cast<std::size_t>(shape.size()));
  sum_to(table, tape.arena(), node.shape, gradient<T>(node), shape, reduced);
  put(table, target, shape.size(), factor, reduced);
}

/// Gradient of the argument of a one-to-one op: dx[i] = rule(i, dy[i]), in place where it can be.
template <class T, class Rule>
void pull_back_each(Tape& tape, const Node& node, Rule&& rule) {
  const GradTarget<T> target = tape.grad_target_in_place<T>(node, 0, node.shape);
  if (!target) return;
  const T* dy = gradient<T>(node);
  T* dx = target.data;
  const Index n = node.shape.size();
  if (dx == dy) {
    for (Index i = 0; i < n; ++i) dx[i] = rule(i, dx[i]);
  } else if (target.accumulate) {
    for (Index i = 0; i < n; ++i) dx[i] += rule(i, dy[i]);
  } else {
    for (Index i = 0; i < n; ++i) dx[i] = rule(i, dy[i]);
  }
}

}  // namespace phasor::autograd
