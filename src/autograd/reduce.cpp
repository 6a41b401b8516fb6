// Sums and means over axes.
#include "autograd/broadcast.h"
#include "phasor/ops.h"

namespace phasor {
namespace {

using kernels::Binary;

struct Reduction {
  Shape kept;    // the result's shape with the summed axes as extents of 1
  double count;  // what the sum is divided by: 1, or the number of elements in each sum
};

// y = sum(x) / count: dx = dy / count at every element of the sum.
void reduce_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto& [kept, count] = *static_cast<const Reduction*>(node.saved);
    const Shape shape = tape.node(node.inputs[0]).shape;
    const GradTarget<T> target = tape.grad_target<T>(node, 0, shape);
    if (!target) return;
    const kernels::Table<T>& table = tape.kernels<T>();
    const T divisor = static_cast<T>(count);
    const T* dy = autograd::gradient<T>(node);
    if (!target.accumulate) {
      autograd::binary<T>(table, Binary::divide, shape, dy, kept, &divisor, Shape{}, target.data);
      return;
    }
    const ArenaScope scope(tape.arena());
    T* share = tape.arena().allocate_array<T>(static_cast<std::size_t>(kept.size()));
    table.binary(Binary::divide, kept.size(), dy, 1, &divisor, 0, share);
    autograd::binary<T>(table, Binary::add, shape, target.data, shape, share, kept, target.data);
  });
}
constexpr Op kSum{"sum", reduce_backward};
constexpr Op kMean{"mean", reduce_backward};

Var reduce(const Op& op, const Var& x, std::initializer_list<int> axes, bool keep) {
  PHASOR_CHECK(x.defined(), "[", op.name, "] the argument must be a value on a tape");
  const Shape shape = x.shape();
  bool summed[Shape::kMaxRank] = {};
  for (const int axis : axes) {
    const int place = axis < 0 ? axis + shape.rank() : axis;
    PHASOR_CHECK(place >= 0 && place < shape.rank(), "[", op.name, "] axes lie in [", -shape.rank(),
                 ", ", shape.rank(), "); got ", axis, " for ", shape.str());
    PHASOR_CHECK(!summed[place], "[", op.name, "] each axis is named once; got ", axis,
                 " again for ", shape.str());
    summed[place] = true;
  }
  Shape kept = shape;
  Index extents[Shape::kMaxRank] = {};
  std::size_t rank = 0;
  Index count = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool sum_this = axes.size() == 0 || summed[axis];
    if (sum_this) {
      count *= shape[axis];
      kept.set(axis, 1);
    }
    if (keep || !sum_this) extents[rank++] = kept[axis];
  }
  const bool is_mean = &op == &kMean;
  PHASOR_CHECK(!is_mean || count > 0, "[mean] needs at least one element; got ", shape.str());

  Tape& tape = x.tape();
  const Reduction* saved = tape.save(Reduction{kept, is_mean ? static_cast<double>(count) : 1.0});
  const Var out = tape.append(op, Shape(std::span<const Index>(extents, rank)), {x}, saved);
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const kernels::Table<T>& table = tape.kernels<T>();
    T* y = tape.data<T>(out);
    autograd::sum_to(table, tape.arena(), shape, tape.data<T>(x), kept, y);
    if (!is_mean) return;
    const T divisor = static_cast<T>(count);
    table.binary(Binary::divide, kept.size(), y, 1, &divisor, 0, y);
  });
  return tape.finish(out);
}

}  // namespace

Var sum(const Var& x, std::initializer_list<int> axes, bool keep) {
  return reduce(kSum, x, axes, keep);
}

Var mean(const Var& x, std::initializer_list<int> axes, bool keep) {
  return reduce(kMean, x, axes, keep);
}

}  // namespace phasor
