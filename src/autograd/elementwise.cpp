// Elementwise ops. Letters: dy is the gradient of the result, da, db, dx those of the arguments.
#include <cmath>
#include <limits>

#include "autograd/broadcast.h"
#include "phasor/ops.h"

namespace phasor {
namespace {

using autograd::gradient;
using autograd::pull_back;
using autograd::pull_back_each;
using autograd::pull_back_scaled;
using kernels::Binary;
using kernels::Unary;

Var binary_op(const Op& op, Binary kind, const Var& a, const Var& b) {
  PHASOR_CHECK(a.defined() && b.defined(), "[", op.name,
               "] both arguments must be values on a tape");
  const Shape shape = broadcast(a.shape(), b.shape(), op.name);
  Tape& tape = a.tape();
  const Var out = tape.append(op, shape, {a, b});
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    autograd::binary<T>(tape.kernels<T>(), kind, shape, tape.data<T>(a), a.shape(), tape.data<T>(b),
                        b.shape(), tape.data<T>(out));
  });
  return tape.finish(out);
}

Var unary_op(const Op& op, Unary kind, const Var& x) {
  PHASOR_CHECK(x.defined(), "[", op.name, "] the argument must be a value on a tape");
  Tape& tape = x.tape();
  const Var out = tape.append(op, Shape(x.shape()), {x});
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    tape.kernels<T>().unary(kind, x.shape().size(), tape.data<T>(x), tape.data<T>(out));
  });
  return tape.finish(out);
}

Var constant_op(const Op& op, Binary kind, const Var& x, double c) {
  PHASOR_CHECK(x.defined(), "[", op.name, "] the argument must be a value on a tape");
  Tape& tape = x.tape();
  const Var out = tape.append(op, Shape(x.shape()), {x}, tape.save(c));
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T constant = static_cast<T>(c);
    tape.kernels<T>().binary(kind, x.shape().size(), tape.data<T>(x), 1, &constant, 0,
                             tape.data<T>(out));
  });
  return tape.finish(out);
}

/// full = dy op (value of input number `other`), over the shape of the result.
template <class T>
void gradient_by(Tape& tape, const Node& node, Binary kind, int other, T* full) {
  const Node& argument = tape.node(node.inputs[other]);
  autograd::binary<T>(tape.kernels<T>(), kind, node.shape, gradient<T>(node), node.shape,
                      static_cast<const T*>(argument.data), argument.shape, full);
}

// a + b: da = dy, db = dy.
void add_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    pull_back_scaled<T>(tape, node, 1, 1, false);
    pull_back_scaled<T>(tape, node, 0, 1, true);
  });
}
constexpr Op kAdd{"add", add_backward};

// a - b: da = dy, db = -dy.
void subtract_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    pull_back_scaled<T>(tape, node, 1, -1, false);
    pull_back_scaled<T>(tape, node, 0, 1, true);
  });
}
constexpr Op kSubtract{"subtract", subtract_backward};

// a b: da = dy b, db = dy a.
void multiply_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (const int input : {0, 1})
      pull_back<T>(tape, node, input,
                   [&](T* full) { gradient_by<T>(tape, node, Binary::multiply, 1 - input, full); });
  });
}
constexpr Op kMultiply{"multiply", multiply_backward};

/// a / d with the divisor d [b_shape]: da = dy / d, db = -(sum over broadcast axes of dy out) / d.
template <class T>
void quotient_backward(Tape& tape, const Node& node, const T* divisor) {
  const kernels::Table<T>& table = tape.kernels<T>();
  const Shape shape = tape.node(node.inputs[1]).shape;
  pull_back<T>(tape, node, 0, [&](T* full) {
    autograd::binary<T>(table, Binary::divide, node.shape, gradient<T>(node), node.shape, divisor,
                        shape, full);
  });
  const GradTarget<T> target = tape.grad_target<T>(node, 1, shape);
  if (!target) return;
  const ArenaScope scope(tape.arena());
  T* product = tape.arena().allocate_array<T>(static_cast<std::size_t>(node.shape.size()));
  T* db = tape.arena().allocate_array<T>(static_cast<std::size_t>(shape.size()));
  table.binary(Binary::multiply, node.shape.size(), gradient<T>(node), 1,
               static_cast<const T*>(node.data), 1, product);
  autograd::sum_to(table, tape.arena(), node.shape, product, shape, db);
  table.binary(Binary::divide, shape.size(), db, 1, divisor, 1, db);
  autograd::put(table, target, shape.size(), T{-1}, db);
}

void divide_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    quotient_backward<T>(tape, node, tape.data<T>(node.inputs[1]));
  });
}
constexpr Op kDivide{"divide", divide_backward};

// The divisor is kept with infinity in place of 0: the quotient and both gradients vanish there.
void divide_or_zero_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    quotient_backward<T>(tape, node, static_cast<const T*>(node.saved));
  });
}
constexpr Op kDivideOrZero{"divide_or_zero", divide_or_zero_backward};

void negate_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(),
           [&](auto zero) { pull_back_scaled<decltype(zero)>(tape, node, 0, -1, true); });
}
constexpr Op kNegate{"negate", negate_backward};

void add_constant_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(),
           [&](auto zero) { pull_back_scaled<decltype(zero)>(tape, node, 0, 1, true); });
}
constexpr Op kAddConstant{"add", add_constant_backward};

void scale_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    const double factor = *static_cast<const double*>(node.saved);
    pull_back_scaled<decltype(zero)>(tape, node, 0, factor, true);
  });
}
constexpr Op kScale{"multiply", scale_backward};

// x^2: dx = 2 x dy.
void square_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* x = tape.data<T>(node.inputs[0]);
    pull_back_each<T>(tape, node, [x](Index i, T dy) { return T{2} * x[i] * dy; });
  });
}
constexpr Op kSquare{"square", square_backward};

// y = sqrt(x): dx = dy / (2 y), and 0 where y = 0.
void sqrt_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* y = static_cast<const T*>(node.data);
    pull_back_each<T>(tape, node,
                      [y](Index i, T dy) { return y[i] == T{0} ? T{0} : dy / (T{2} * y[i]); });
  });
}
constexpr Op kSqrt{"sqrt", sqrt_backward};

// |x|: dx = sign(x) dy; a NaN stays one.
void abs_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* x = tape.data<T>(node.inputs[0]);
    pull_back_each<T>(tape, node, [x](Index i, T dy) {
      return x[i] > T{0} ? dy : x[i] < T{0} ? -dy : x[i] * dy;
    });
  });
}
constexpr Op kAbs{"abs", abs_backward};

// y = exp(x): dx = y dy.
void exp_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* y = static_cast<const T*>(node.data);
    pull_back_each<T>(tape, node, [y](Index i, T dy) { return y[i] * dy; });
  });
}
constexpr Op kExp{"exp", exp_backward};

// y = tanh(x): dx = (1 - y^2) dy.
void tanh_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* y = static_cast<const T*>(node.data);
    pull_back_each<T>(tape, node, [y](Index i, T dy) { return (T{1} - y[i] * y[i]) * dy; });
  });
}
constexpr Op kTanh{"tanh", tanh_backward};

// y = max(x, 0): dx = dy where y > 0.
void relu_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const GradTarget<T> target = tape.grad_target_in_place<T>(node, 0, node.shape);
    if (!target) return;
    tape.kernels<T>().relu_backward(node.shape.size(), static_cast<const T*>(node.data),
                                    gradient<T>(node), target.data, target.accumulate);
  });
}
constexpr Op kRelu{"relu", relu_backward};

}  // namespace

Var operator+(const Var& a, const Var& b) { return binary_op(kAdd, Binary::add, a, b); }
Var operator-(const Var& a, const Var& b) { return binary_op(kSubtract, Binary::subtract, a, b); }
Var operator*(const Var& a, const Var& b) { return binary_op(kMultiply, Binary::multiply, a, b); }
Var operator/(const Var& a, const Var& b) { return binary_op(kDivide, Binary::divide, a, b); }
Var operator-(const Var& x) { return unary_op(kNegate, Unary::negate, x); }
Var operator+(const Var& x, double c) { return constant_op(kAddConstant, Binary::add, x, c); }
Var operator*(const Var& x, double c) { return constant_op(kScale, Binary::multiply, x, c); }

Var divide_or_zero(const Var& a, const Var& b) {
  PHASOR_CHECK(a.defined() && b.defined(),
               "[divide_or_zero] both arguments must be values on a tape");
  const Shape shape = broadcast(a.shape(), b.shape(), kDivideOrZero.name);
  const Index divisors = b.shape().size();
  Tape& tape = a.tape();
  void* divisor = tape.arena().allocate(static_cast<std::size_t>(divisors) * size_of(tape.dtype()));
  const Var out = tape.append(kDivideOrZero, shape, {a, b}, divisor);
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = tape.data<T>(b);
    T* to = static_cast<T*>(divisor);
    for (Index i = 0; i < divisors; ++i)
      to[i] = from[i] == T{0} ? std::numeric_limits<T>::infinity() : from[i];
    autograd::binary<T>(tape.kernels<T>(), Binary::divide, shape, tape.data<T>(a), a.shape(), to,
                        b.shape(), tape.data<T>(out));
  });
  return tape.finish(out);
}

Var square(const Var& x) { return unary_op(kSquare, Unary::square, x); }
Var sqrt(const Var& x) { return unary_op(kSqrt, Unary::sqrt, x); }
Var abs(const Var& x) { return unary_op(kAbs, Unary::absolute, x); }
Var exp(const Var& x) { return unary_op(kExp, Unary::exponential, x); }
Var tanh(const Var& x) { return unary_op(kTanh, Unary::tanh, x); }
Var relu(const Var& x) { return unary_op(kRelu, Unary::relu, x); }

}  // namespace phasor
