// The reference table: elementwise kernels, reductions, pooling and SGD.
#include <cmath>

#include "kernels/reference/reference.h"

namespace phasor::kernels::reference {

template <class T>
void unary(Unary op, Index n, const T* x, T* out) {
  for (Index i = 0; i < n; ++i) {
    const T v = x[i];
    switch (op) {
      case Unary::negate:
        out[i] = -v;
        break;
      case Unary::square:
        out[i] = v * v;
        break;
      case Unary::sqrt:
        out[i] = std::sqrt(v);
        break;
      case Unary::absolute:
        out[i] = std::fabs(v);
        break;
      case Unary::exponential:
        out[i] = static_cast<T>(std::exp(static_cast<double>(v)));
        break;
      case Unary::tanh:
        out[i] = static_cast<T>(std::tanh(static_cast<double>(v)));
        break;
      case Unary::relu:
        out[i] = v <= 0 ? T(0) : v;
        break;
    }
  }
}

namespace {

template <class T>
void binary(Binary op, Index n, const T* a, Index step_a, const T* b, Index step_b, T* out) {
  for (Index i = 0; i < n; ++i) {
    const T p = a[i * step_a], q = b[i * step_b];
    switch (op) {
      case Binary::add:
        out[i] = p + q;
        break;
      case Binary::subtract:
        out[i] = p - q;
        break;
      case Binary::multiply:
        out[i] = p * q;
        break;
      case Binary::divide:
        out[i] = p / q;
        break;
    }
  }
}

template <class T>
void add_scaled(Index n, T scale, const T* x, T* y) {
  for (Index i = 0; i < n; ++i) y[i] += scale * x[i];
}

template <class T>
void copy_scaled(Index n, T scale, const T* x, T* y) {
  for (Index i = 0; i < n; ++i) y[i] = scale * x[i];
}

template <class T>
void sum_rows(Index rows, Index columns, const T* x, T* y) {
  for (Index c = 0; c < columns; ++c) y[c] = 0;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c) y[c] += x[r * columns + c];
}

/// Lane l of sixteen adds the elements l, l + 16, ...; lanes are added at distances 8, 4, 2, 1.
template <class Sum, class Term>
Sum tree(Index n, Term term) {
  Sum lane[16] = {};
  for (Index i = 0; i < n; ++i) lane[i % 16] += term(i);
  for (int distance = 8; distance > 0; distance /= 2)
    for (int i = 0; i < distance; ++i) lane[i] += lane[i + distance];
  return lane[0];
}

template <class T>
void sum_columns(Index rows, Index columns, const T* x, T* y) {
  for (Index r = 0; r < rows; ++r)
    y[r] = tree<T>(columns, [&](Index i) { return x[r * columns + i]; });
}

template <class T>
void relu_backward(Index n, const T* out, const T* dy, T* dx, bool accumulate) {
  for (Index i = 0; i < n; ++i) {
    const T g = out[i] > 0 ? dy[i] : T(0);
    dx[i] = accumulate ? dx[i] + g : g;
  }
}

template <class T>
void pool_forward(Index n, Index positions, Index channels, const T* x, T* y) {
  for (Index i = 0; i < n; ++i, x += positions * channels, y += channels) {
    sum_rows(positions, channels, x, y);
    for (Index c = 0; c < channels; ++c) y[c] /= static_cast<T>(positions);
  }
}

template <class T>
void pool_backward(Index n, Index positions, Index channels, const T* dy, T* dx, bool accumulate) {
  for (Index i = 0; i < n; ++i, dy += channels)
    for (Index p = 0; p < positions; ++p, dx += channels)
      for (Index c = 0; c < channels; ++c) {
        const T g = dy[c] / static_cast<T>(positions);
        dx[c] = accumulate ? dx[c] + g : g;
      }
}

template <class T>
void sum_lanes(Index n, int lanes, const T* const* lane, T* total) {
  for (Index i = 0; i < n; ++i) {
    T sum = lane[0][i];
    for (int l = 1; l < lanes; ++l) sum += lane[l][i];
    total[i] = sum;
  }
}

template <class T>
double sum_of_squares(Index n, const T* x) {
  return tree<double>(n, [&](Index i) {
    const auto v = static_cast<double>(x[i]);
    return v * v;
  });
}

/// torch.optim.SGD: decay joins the gradient, then momentum, then Nesterov.
template <class T>
void sgd(Index n, const SgdRule& rule, const T* gradient, T* weights, T* momentum) {
  const T scale = static_cast<T>(rule.gradient_scale), decay = static_cast<T>(rule.weight_decay);
  const T keep = static_cast<T>(rule.momentum), take = static_cast<T>(1 - rule.dampening);
  const T lr = static_cast<T>(rule.lr);
  for (Index i = 0; i < n; ++i) {
    T g = gradient[i] * scale + decay * weights[i];
    if (momentum != nullptr && rule.momentum != 0) {
      momentum[i] = rule.first_step ? g : keep * momentum[i] + take * g;
      g = rule.nesterov ? g + keep * momentum[i] : momentum[i];
    }
    weights[i] -= lr * g;
  }
}

template <class T>
const ConvPass<T>* const forward_list[] = {&Kernels<T>::conv_forward, nullptr};
template <class T>
const ConvPass<T>* const backward_data_list[] = {&Kernels<T>::conv_backward_data, nullptr};
template <class T>
const ConvGradient<T>* const gradient_list[] = {&Kernels<T>::conv_gradient, nullptr};

}  // namespace

template <class T>
const Table<T> Kernels<T>::table = {
    .name = "reference",
    .conv_forward = forward_list<T>,
    .conv_backward_data = backward_data_list<T>,
    .conv_backward_weights = gradient_list<T>,
    .norm_forward = norm_forward<T>,
    .norm_backward = norm_backward<T>,
    .binary = binary<T>,
    .unary = unary<T>,
    .add_scaled = add_scaled<T>,
    .copy_scaled = copy_scaled<T>,
    .sum_rows = sum_rows<T>,
    .sum_columns = sum_columns<T>,
    .relu_backward = relu_backward<T>,
    .pool_forward = pool_forward<T>,
    .pool_backward = pool_backward<T>,
    .sum_lanes = sum_lanes<T>,
    .sum_of_squares = sum_of_squares<T>,
    .sgd = sgd<T>,
};

template void unary<float>(Unary, Index, const float*, float*);
template void unary<double>(Unary, Index, const double*, double*);
template const Table<float> Kernels<float>::table;
template const Table<double> Kernels<double>::table;

}  // namespace phasor::kernels::reference
