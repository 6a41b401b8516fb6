// Convolution: the op, and what linear shares with it.
#include <algorithm>

#include "autograd/broadcast.h"
#include "autograd/convolution.h"
#include "phasor/ops.h"

namespace phasor {
namespace autograd {
namespace {

bool fits(const kernels::ConvShape& prepared, const kernels::ConvShape& shape) {
  return prepared.kernel == shape.kernel && prepared.stride == shape.stride &&
         prepared.c_in == shape.c_in && prepared.c_out == shape.c_out &&
         prepared.in_h == shape.in_h && prepared.in_w == shape.in_w;
}

template <class T>
T* scratch(Tape& tape, Index count) {
  return tape.arena().allocate_array<T>(static_cast<std::size_t>(count));
}

/// `to` = or += the pass over `from`, with weights packed here unless they come `packed`.
template <class T>
void run_pass(Tape& tape, const kernels::ConvPass<T>& pass, const kernels::ConvShape& shape,
              const T* from, const T* weights, const T* packed, T* to, bool accumulate) {
  const ArenaScope scope(tape.arena());
  if (packed == nullptr) {
    T* own = scratch<T>(tape, pass.prepared_size(shape));
    pass.prepare(shape, weights, own);
    packed = own;
  }
  pass.run(shape, from, packed, to, accumulate, scratch<T>(tape, pass.workspace_size(shape)));
}

/// dw, where no lane collects a running sum: written to or added to `target`.
template <class T>
void weight_gradient(Tape& tape, const kernels::ConvGradient<T>& pass,
                     const kernels::ConvShape& shape, const T* x, const T* dy,
                     const GradTarget<T>& target) {
  const ArenaScope scope(tape.arena());
  T* workspace = scratch<T>(tape, pass.workspace_size(shape));
  const Index size = shape.weight_size();
  const Index sum_size = pass.sum_size(shape);
  if (sum_size == 0) {
    if (!target.accumulate) std::fill_n(target.data, size, T{0});
    pass.run(shape, x, dy, target.data, workspace);
    return;
  }
  T* sum = scratch<T>(tape, sum_size);
  T* dw = target.accumulate ? scratch<T>(tape, size) : target.data;
  std::fill_n(sum, sum_size, T{0});
  pass.run(shape, x, dy, sum, workspace);
  pass.finish(shape, sum, dw, workspace);
  if (target.accumulate) tape.kernels<T>().add_scaled(size, T{1}, dw, target.data);
}

}  // namespace

template <class T>
ConvCall<T> conv_call(const Tape& tape, const kernels::ConvShape& shape, const Node& weights) {
  ConvCall<T> call;
  call.shape = shape;
  const auto* prepared = static_cast<const PreparedConv<T>*>(weights.prepared);
  if (prepared != nullptr && fits(prepared->shape, shape)) {
    call.plan = prepared->plan;
    call.packed_forward = prepared->forward;
    call.packed_backward_data = prepared->backward_data;
    call.gradient_sum = prepared->gradient_sum;
  } else {
    call.plan = kernels::plan_conv(tape.kernels<T>(), shape, kernels::ConvChoice::direct);
  }
  return call;
}

template <class T>
void conv_forward(Tape& tape, const ConvCall<T>& call, const T* x, const T* weights, T* y) {
  if (call.shape.out_size() == 0) return;
  run_pass(tape, *call.plan.forward, call.shape, x, weights, call.packed_forward, y, false);
}

// y = x * w: dx is dy convolved with the rotated, transposed weights; dw correlates x with dy.
template <class T>
void conv_backward(Tape& tape, const Node& node, const ConvCall<T>& call) {
  const Node& x = tape.node(node.inputs[0]);
  const Node& weights = tape.node(node.inputs[1]);
  const T* dy = gradient<T>(node);
  const bool empty = call.shape.out_size() == 0;
  if (call.gradient_sum != nullptr && weights.needs_grad && !empty) {
    const ArenaScope scope(tape.arena());
    const kernels::ConvGradient<T>& pass = *call.plan.backward_weights;
    pass.run(call.shape, static_cast<const T*>(x.data), dy, call.gradient_sum,
             scratch<T>(tape, pass.workspace_size(call.shape)));
  } else if (const GradTarget<T> dw = tape.grad_target<T>(node, 1, Shape(weights.shape)); dw) {
    if (!empty)
      weight_gradient(tape, *call.plan.backward_weights, call.shape, static_cast<const T*>(x.data),
                      dy, dw);
    else if (!dw.accumulate)
      std::fill_n(dw.data, weights.shape.size(), T{0});
  }
  if (const GradTarget<T> dx = tape.grad_target<T>(node, 0, Shape(x.shape)); dx && !empty)
    run_pass(tape, *call.plan.backward_data, call.shape, dy, static_cast<const T*>(weights.data),
             call.packed_backward_data, dx.data, dx.accumulate);
}

template ConvCall<float> conv_call(const Tape&, const kernels::ConvShape&, const Node&);
template ConvCall<double> conv_call(const Tape&, const kernels::ConvShape&, const Node&);
template void conv_forward(Tape&, const ConvCall<float>&, const float*, const float*, float*);
template void conv_forward(Tape&, const ConvCall<double>&, const double*, const double*, double*);
template void conv_backward(Tape&, const Node&, const ConvCall<float>&);
template void conv_backward(Tape&, const Node&, const ConvCall<double>&);

}  // namespace autograd

namespace {

void conv2d_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    autograd::conv_backward(tape, node, *static_cast<const autograd::ConvCall<T>*>(node.saved));
  });
}
constexpr Op kConv2d{"conv2d", conv2d_backward};

}  // namespace

Var conv2d(const Var& x, const Var& weights, int stride) {
  PHASOR_CHECK(x.defined() && weights.defined(),
               "[conv2d] both arguments must be values on a tape");
  const Shape in = x.shape(), w = weights.shape();
  PHASOR_CHECK(in.rank() == 4, "[conv2d] needs x [N,H,W,C]; got ", in.str());
  PHASOR_CHECK(w.rank() == 4 && w[0] == w[1] && (w[0] == 1 || w[0] == 3),
               "[conv2d] needs weights [k,k,C_in,C_out] with k = 1 or 3; got ", w.str());
  PHASOR_CHECK(w[2] == in[3], "[conv2d] x and weights must agree on C_in; got x ", in.str(),
               " and weights ", w.str(), "; weights are [k,k,C_in,C_out]");
  PHASOR_CHECK(stride == 1 || stride == 2, "[conv2d] stride is 1 or 2; got ", stride);
  PHASOR_CHECK(in[1] > 0 && in[2] > 0 && in[3] > 0 && w[3] > 0,
               "[conv2d] height, width and channels must not be 0; got x ", in.str(),
               " and weights ", w.str());
  const kernels::ConvShape shape{in[0], in[1], in[2], in[3], w[3], w[0], stride};
  Tape& tape = x.tape();
  return dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto* call = tape.save(autograd::conv_call<T>(tape, shape, weights.node()));
    const Var out =
        tape.append(kConv2d, {in[0], shape.out_h(), shape.out_w(), w[3]}, {x, weights}, call);
    autograd::conv_forward<T>(tape, *call, tape.data<T>(x), tape.data<T>(weights),
                              tape.data<T>(out));
    return tape.finish(out);
  });
}

}  // namespace phasor
