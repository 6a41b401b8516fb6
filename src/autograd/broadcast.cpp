#include "autograd/broadcast.h"

#include <algorithm>

namespace phasor::autograd {
namespace {

// Elements of an argument that are spread out at a time, where runs along the last axis are short.
constexpr Index kBlock = 2048;
constexpr Index kRestart = 1024;

/// The loops over a broadcast result, outermost first, neighbours merged where both arguments allow
/// it. A step is an argument's distance between neighbours along an axis, 0 where it is broadcast.
struct LoopNest {
  int rank = 0;
  Index extent[Shape::kMaxRank] = {};
  Index below[Shape::kMaxRank] = {};  // elements of the result for one index of this axis
  Index step[2][Shape::kMaxRank] = {};
};

LoopNest loop_nest(const Shape& shape, const Shape& a, const Shape& b) {
  LoopNest nest;
  const Shape* arguments[2] = {&a, &b};
  Index size[2] = {1, 1};  // of the argument's axes inside this one
  Index reversed_extent[Shape::kMaxRank] = {};
  Index reversed_step[2][Shape::kMaxRank] = {};
  int rank = 0;
  for (int axis = 1; axis <= shape.rank(); ++axis) {
    const Index extent = shape[-axis];
    if (extent == 1) continue;
    Index step[2];
    bool merge = rank > 0;
    for (int k = 0; k < 2; ++k) {
      const Index own = axis <= arguments[k]->rank() ? (*arguments[k])[-axis] : 1;
      step[k] = own == 1 ? 0 : size[k];
      size[k] *= own;
      merge = merge && step[k] == reversed_step[k][rank - 1] * reversed_extent[rank - 1];
    }
    if (merge) {
      reversed_extent[rank - 1] *= extent;
      continue;
    }
    reversed_extent[rank] = extent;
    for (int k = 0; k < 2; ++k) reversed_step[k][rank] = step[k];
    ++rank;
  }
  if (rank == 0) reversed_extent[rank++] = 1;
  nest.rank = rank;
  Index below = 1;
  for (int axis = rank - 1; axis >= 0; --axis) {
    const int reversed = rank - 1 - axis;
    nest.extent[axis] = reversed_extent[reversed];
    nest.below[axis] = below;
    below *= reversed_extent[reversed];
    for (int k = 0; k < 2; ++k) nest.step[k][axis] = reversed_step[k][reversed];
  }
  return nest;
}

/// Writes `count` indices of `axis` and all axes inside it, as the result sees the argument.
template <class T>
void spread(const LoopNest& nest, const Index* step, int axis, Index count, const T* from, T* to) {
  const int last = nest.rank - 1;
  if (axis == last) {
    for (Index i = 0; i < count; ++i) to[i] = from[i * step[axis]];
  } else if (axis == last - 1 && nest.extent[last] == 2 && step[last] == 0 && step[axis] == 1) {
    for (Index i = 0; i < count; ++i) {  // one number for both parts of a phasor
      to[2 * i] = from[i];
      to[2 * i + 1] = from[i];
    }
  } else if (axis == last - 1 && step[last] == 0) {
    const Index width = nest.extent[last];
    for (Index i = 0; i < count; ++i) std::fill_n(to + i * width, width, from[i * step[axis]]);
  } else {
    for (Index i = 0; i < count; ++i)
      spread(nest, step, axis + 1, nest.extent[axis + 1], from + i * step[axis],
             to + i * nest.below[axis]);
  }
}

/// An argument as the kernel reads it within one block of the result.
template <class T>
class BlockArgument {
 public:
  BlockArgument(const LoopNest& nest, int argument, int axis)
      : nest_(nest), step_(nest.step[argument]), axis_(axis) {
    bool contiguous = true, constant = true, periodic = true;
    for (int d = 0; d < nest.rank; ++d) {
      if (d <= axis) periodic = periodic && step_[d] == 0;
      if (d < axis) continue;
      contiguous = contiguous && step_[d] == nest.below[d];
      constant = constant && step_[d] == 0;
    }
    kernel_step_ = constant ? 0 : 1;
    spread_ = !contiguous && !constant;
    periodic_ = periodic;
  }

  Index kernel_step() const { return kernel_step_; }

  /// Where the block of `count` indices that starts at `from` can be read.
  const T* block(const T* from, Index count) {
    if (!spread_) return from;
    if (!periodic_ || count > filled_) spread(nest_, step_, axis_, count, from, buffer_);
    filled_ = std::max(filled_, count);
    return buffer_;
  }

 private:
  const LoopNest& nest_;
  const Index* step_;
  int axis_;
  Index kernel_step_;
  bool spread_, periodic_;
  Index filled_ = 0;
  alignas(64) T buffer_[kBlock];
};

template <class T>
void sum_rows_restarted(const kernels::Table<T>& table, Index rows, Index columns, const T* x,
                        T* partial, T* y) {
  table.sum_rows(std::min(rows, kRestart), columns, x, y);
  for (Index row = kRestart; row < rows; row += kRestart) {
    table.sum_rows(std::min(rows - row, kRestart), columns, x + row * columns, partial);
    table.add_scaled(columns, T{1}, partial, y);
  }
}

}  // namespace

template <class T>
void binary(const kernels::Table<T>& table, kernels::Binary op, const Shape& shape, const T* a,
            const Shape& a_shape, const T* b, const Shape& b_shape, T* out) {
  if (shape.size() == 0) return;
  const LoopNest nest = loop_nest(shape, a_shape, b_shape);
  const int last = nest.rank - 1;
  if (last == 0) {
    table.binary(op, nest.extent[0], a, nest.step[0][0], b, nest.step[1][0], out);
    return;
  }
  // A block is a run of indices of `axis` with everything inside; one kernel call does it.
  int axis = last;
  while (axis > 0 && nest.below[axis - 1] <= kBlock) --axis;
  const bool whole_rows = axis == last;  // long rows need no spreading
  const Index block =
      whole_rows ? nest.extent[last] : std::max<Index>(1, kBlock / nest.below[axis]);
  BlockArgument<T> left(nest, 0, axis), right(nest, 1, axis);

  Index index[Shape::kMaxRank] = {};
  for (;;) {
    Index from_a = 0, from_b = 0;
    for (int d = 0; d < axis; ++d) {
      from_a += index[d] * nest.step[0][d];
      from_b += index[d] * nest.step[1][d];
    }
    for (Index i = 0; i < nest.extent[axis]; i += block) {
      const Index count = std::min(block, nest.extent[axis] - i);
      const Index n = count * nest.below[axis];
      table.binary(op, n, left.block(a + from_a + i * nest.step[0][axis], count),
                   left.kernel_step(), right.block(b + from_b + i * nest.step[1][axis], count),
                   right.kernel_step(), out);
      out += n;
    }
    int d = axis - 1;
    while (d >= 0 && ++index[d] == nest.extent[d]) index[d--] = 0;
    if (d < 0) return;
  }
}

template <class T>
void sum_to(const kernels::Table<T>& table, Arena& arena, const Shape& shape, const T* x,
            const Shape& y_shape, T* y) {
  if (shape.size() == 0) {
    std::fill_n(y, y_shape.size(), T{0});
    return;
  }
  // Runs of neighbouring axes that are summed or kept together, outermost first.
  struct Group {
    Index extent;
    bool summed;
  } groups[Shape::kMaxRank];
  int count = 0, to_sum = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const Index extent = shape[axis];
    if (extent == 1) continue;
    const int own = axis - shape.rank() + y_shape.rank();
    const bool summed = own < 0 || y_shape[own] == 1;
    if (count > 0 && groups[count - 1].summed == summed) {
      groups[count - 1].extent *= extent;
    } else {
      groups[count++] = {extent, summed};
      to_sum += summed;
    }
  }
  if (to_sum == 0) {
    std::copy_n(x, shape.size(), y);
    return;
  }
  const ArenaScope scope(arena);
  Index outer = 1, inner = shape.size();
  for (int g = 0; g < count; ++g) {
    const Index extent = groups[g].extent;
    inner /= extent;
    if (!groups[g].summed) {
      outer *= extent;
      continue;
    }
    T* to = --to_sum == 0 ? y : arena.allocate_array<T>(static_cast<std::size_t>(outer * inner));
    if (inner == 1 && extent == 2) {
      for (Index i = 0; i < outer; ++i) to[i] = x[2 * i] + x[2 * i + 1];
    } else if (inner == 1) {
      table.sum_columns(outer, extent, x, to);
    } else {
      T* partial =
          extent > kRestart ? arena.allocate_array<T>(static_cast<std::size_t>(inner)) : nullptr;
      for (Index o = 0; o < outer; ++o)
        sum_rows_restarted(table, extent, inner, x + o * extent * inner, partial, to + o * inner);
    }
    x = to;
  }
}

template void binary(const kernels::Table<float>&, kernels::Binary, const Shape&, const float*,
                     const Shape&, const float*, const Shape&, float*);
template void binary(const kernels::Table<double>&, kernels::Binary, const Shape&, const double*,
                     const Shape&, const double*, const Shape&, double*);
template void sum_to(const kernels::Table<float>&, Arena&, const Shape&, const float*, const Shape&,
                     float*);
template void sum_to(const kernels::Table<double>&, Arena&, const Shape&, const double*,
                     const Shape&, double*);

}  // namespace phasor::autograd
