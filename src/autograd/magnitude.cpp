// The scale of numbers, and roots of sums of squares that neither over- nor underflow by it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "autograd/broadcast.h"
#include "phasor/ops.h"

namespace phasor {
namespace {

// A constant, whatever it was taken from: no gradient.
constexpr Op kMagnitude{"magnitude", [](Tape&, const Node&) {}};

/// The greatest power of two that is not above `value`, within the normal range of float32, whose
/// reciprocal is exact too; 1 for zero. Not a number and infinity stay out of it: they give 1.
double power_below(double value) {
  if (!(value > 0) || std::isinf(value)) return 1;
  const double bounded = std::clamp(value, 0x1p-125, 0x1p125);
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(bounded) & 0x7FF0000000000000u);
}

/// sqrt(total((x / s)^2) + eps / s^2) * s with s the magnitude of x, at least sqrt(eps).
template <class Total>
Var scaled_root(const Var& x, std::initializer_list<int> axes, double eps, Total total) {
  const double root = std::sqrt(eps);
  const Var s = magnitude(x, axes, root);
  const Var squares = total(square(x / s));
  if (eps == 0) return sqrt(squares) * s;
  return sqrt(squares + square((s * 0.0 + root) / s)) * s;
}

}  // namespace

Var magnitude(const Var& x, std::initializer_list<int> axes, double floor) {
  PHASOR_CHECK(x.defined(), "[magnitude] the argument must be a value on a tape");
  PHASOR_CHECK(floor >= 0, "[magnitude] the floor must not be negative; got ", floor);
  const Shape shape = x.shape();
  Shape kept = shape;
  for (const int axis : axes) {
    PHASOR_CHECK(axis >= -shape.rank() && axis < shape.rank(), "[magnitude] axes lie in [",
                 -shape.rank(), ", ", shape.rank(), "); got ", axis, " for ", shape.str());
    kept.set(axis, 1);
  }
  Tape& tape = x.tape();
  const Var out = tape.append(kMagnitude, kept, {x});
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* y = tape.data<T>(out);
    std::fill_n(y, kept.size(), static_cast<T>(floor));
    // The distance in y between neighbours along each axis of x; 0 along the axes that go.
    Index step[Shape::kMaxRank] = {}, index[Shape::kMaxRank] = {};
    Index size = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      step[axis] = kept[axis] == 1 ? 0 : size;
      size *= kept[axis];
    }
    const T* from = tape.data<T>(x);
    Index place = 0;
    for (Index i = 0; i < shape.size(); ++i) {
      y[place] = std::max(y[place], std::fabs(from[i]));
      for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        place += step[axis];
        if (++index[axis] < shape[axis]) break;
        place -= step[axis] * shape[axis];
        index[axis] = 0;
      }
    }
    for (Index i = 0; i < kept.size(); ++i)
      y[i] = static_cast<T>(power_below(static_cast<double>(y[i])));
  });
  return tape.finish(out);
}

Var root_mean_square(const Var& x, std::initializer_list<int> axes, double eps) {
  return scaled_root(x, axes, eps, [&](const Var& squares) { return mean(squares, axes); });
}

Var modulus(const Var& z, double eps) {
  PHASOR_CHECK(z.defined() && z.shape().rank() >= 1 && z.shape()[-1] == 2,
               "[modulus] needs the two parts of phasors in the last axis; got ",
               z.defined() ? z.shape().str() : "nothing");
  return scaled_root(z, {-1}, eps, [](const Var& squares) { return sum(squares, {-1}); });
}

}  // namespace phasor
