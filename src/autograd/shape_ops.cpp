// Ops that move or reinterpret elements.
#include <algorithm>

#include "autograd/broadcast.h"
#include "phasor/ops.h"

namespace phasor {
namespace {

// The same elements: dx is dy under x's shape.
void reshape_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Shape shape = tape.node(node.inputs[0]).shape;
    const GradTarget<T> target = tape.grad_target_in_place<T>(node, 0, shape);
    if (!target || target.data == node.grad) return;
    autograd::put(tape.kernels<T>(), target, shape.size(), T{1}, autograd::gradient<T>(node));
  });
}
constexpr Op kReshape{"reshape", reshape_backward};
constexpr Op kPhasors{"phasors", reshape_backward};
constexpr Op kChannels{"channels", reshape_backward};

Var reinterpret(const Op& op, const Var& x, const Shape& shape) {
  Tape& tape = x.tape();
  return tape.finish(tape.append_view(op, shape, {x}, x.node().data));
}

// y(n, h, w, c) = x(n, s h, s w, c) for c < C, 0 above: dx takes dy's first C channels at every
// s-th pixel and 0 elsewhere.
void subsample_pad_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Shape shape = tape.node(node.inputs[0]).shape;
    const GradTarget<T> target = tape.grad_target<T>(node, 0, shape);
    if (!target) return;
    if (!target.accumulate) std::fill_n(target.data, shape.size(), T{0});
    const Index stride = *static_cast<const Index*>(node.saved);
    const Index h = shape[1], w = shape[2], c = shape[3];
    const T* dy = autograd::gradient<T>(node);
    for (Index n = 0; n < shape[0]; ++n)
      for (Index i = 0; i < h; i += stride)
        for (Index j = 0; j < w; j += stride, dy += node.shape[3]) {
          T* dx = target.data + ((n * h + i) * w + j) * c;
          for (Index k = 0; k < c; ++k) dx[k] += dy[k];
        }
  });
}
constexpr Op kSubsamplePad{"subsample_pad", subsample_pad_backward};

// y(r, i) = x(r, order(i)), a permutation: dx(r, order(i)) = dy(r, i).
void permute_channels_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const GradTarget<T> target = tape.grad_target<T>(node, 0, node.shape);
    if (!target) return;
    const Index* order = static_cast<const Index*>(node.saved);
    const Index c = node.shape[-1], rows = node.shape.size() / c;
    const T* dy = autograd::gradient<T>(node);
    T* dx = target.data;
    for (Index r = 0; r < rows; ++r, dy += c, dx += c)
      for (Index i = 0; i < c; ++i)
        dx[order[i]] = (target.accumulate ? dx[order[i]] : T{0}) + dy[i];
  });
}
constexpr Op kPermuteChannels{"permute_channels", permute_channels_backward};

}  // namespace

Var reshape(const Var& x, const Shape& shape) {
  PHASOR_CHECK(x.defined(), "[reshape] the argument must be a value on a tape");
  PHASOR_CHECK(x.shape().size() == shape.size(),
               "[reshape] the number of elements must not change; got ", x.shape().str(), " to ",
               shape.str());
  return reinterpret(kReshape, x, shape);
}

Var phasors(const Var& x) {
  PHASOR_CHECK(x.defined(), "[phasors] the argument must be a value on a tape");
  const Shape shape = x.shape();
  const int rank = shape.rank();
  PHASOR_CHECK(rank >= 1 && rank < Shape::kMaxRank && shape[-1] % 2 == 0,
               "[phasors] needs an even number of channels in the last of 1 to ",
               Shape::kMaxRank - 1, " axes; got ", shape.str());
  Index extents[Shape::kMaxRank];
  for (int axis = 0; axis < rank; ++axis) extents[axis] = shape[axis];
  extents[rank - 1] /= 2;
  extents[rank] = 2;
  return reinterpret(kPhasors, x,
                     Shape(std::span<const Index>(extents, static_cast<std::size_t>(rank) + 1)));
}

Var channels(const Var& z) {
  PHASOR_CHECK(z.defined(), "[channels] the argument must be a value on a tape");
  const Shape shape = z.shape();
  const int rank = shape.rank();
  PHASOR_CHECK(rank >= 2 && shape[-1] == 2,
               "[channels] needs the two parts of phasors in the last ", "axis; got ", shape.str());
  Index extents[Shape::kMaxRank];
  for (int axis = 0; axis < rank; ++axis) extents[axis] = shape[axis];
  extents[rank - 2] *= 2;
  return reinterpret(kChannels, z,
                     Shape(std::span<const Index>(extents, static_cast<std::size_t>(rank) - 1)));
}

Var subsample_pad(const Var& x, int stride, Index channels) {
  PHASOR_CHECK(x.defined() && x.shape().rank() == 4, "[subsample_pad] needs x [N,H,W,C]; got ",
               x.defined() ? x.shape().str() : "nothing");
  PHASOR_CHECK(stride == 1 || stride == 2, "[subsample_pad] stride is 1 or 2; got ", stride);
  const Shape shape = x.shape();
  PHASOR_CHECK(channels >= shape[3], "[subsample_pad] cannot take channels away; got ", shape[3],
               " to ", channels);
  Tape& tape = x.tape();
  const Shape out_shape{shape[0], (shape[1] + stride - 1) / stride,
                        (shape[2] + stride - 1) / stride, channels};
  const Var out = tape.append(kSubsamplePad, out_shape, {x}, tape.save(Index{stride}));
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Index h = shape[1], w = shape[2], c = shape[3];
    T* y = tape.data<T>(out);
    for (Index n = 0; n < shape[0]; ++n)
      for (Index i = 0; i < h; i += stride)
        for (Index j = 0; j < w; j += stride, y += channels) {
          std::copy_n(tape.data<T>(x) + ((n * h + i) * w + j) * c, c, y);
          std::fill_n(y + c, channels - c, T{0});
        }
  });
  return tape.finish(out);
}

Var permute_channels(const Var& x, std::span<const Index> order) {
  PHASOR_CHECK(
      x.defined() && x.shape().rank() >= 1 && static_cast<Index>(order.size()) == x.shape()[-1],
      "[permute_channels] needs one number for each channel of the last axis; got ", order.size(),
      " for ", x.defined() ? x.shape().str() : "nothing");
  Tape& tape = x.tape();
  const Index c = x.shape()[-1], rows = x.shape().size() / c;
  Index* saved = tape.arena().allocate_array<Index>(order.size());
  std::fill_n(saved, c, Index{-1});
  for (Index i = 0; i < c; ++i) {  // marks what is taken, then holds the order
    const Index from = order[static_cast<std::size_t>(i)];
    PHASOR_CHECK(from >= 0 && from < c && saved[from] == -1,
                 "[permute_channels] needs every channel once; got channel ", from, " at ", i);
    saved[from] = i;
  }
  std::copy(order.begin(), order.end(), saved);
  const Var out = tape.append(kPermuteChannels, x.shape(), {x}, saved);
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = tape.data<T>(x);
    T* y = tape.data<T>(out);
    for (Index r = 0; r < rows; ++r, from += c, y += c)
      for (Index i = 0; i < c; ++i) y[i] = from[saved[i]];
  });
  return tape.finish(out);
}

}  // namespace phasor
