// The fully connected layer: a 1x1 convolution over a row of N pixels, plus a bias.
#include "autograd/broadcast.h"
#include "autograd/convolution.h"
#include "phasor/ops.h"

namespace phasor {
namespace {

// y = x w + b: dx = dy w^T, dw = x^T dy, db = sum of dy over the samples.
void linear_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    autograd::conv_backward(tape, node, *static_cast<const autograd::ConvCall<T>*>(node.saved));
    autograd::pull_back_scaled<T>(tape, node, 2, 1, false);
  });
}
constexpr Op kLinear{"linear", linear_backward};

}  // namespace

Var linear(const Var& x, const Var& weights, const Var& bias) {
  PHASOR_CHECK(x.defined() && weights.defined() && bias.defined(),
               "[linear] all arguments must be values on a tape");
  const Shape in = x.shape(), w = weights.shape(), b = bias.shape();
  PHASOR_CHECK(in.rank() == 2 && w.rank() == 2 && b.rank() == 1 && in[1] == w[0] && w[1] == b[0],
               "[linear] needs x [N,C], weights [C,K] and bias [K]; got ", in.str(), ", ", w.str(),
               " and ", b.str());
  PHASOR_CHECK(w[0] > 0 && w[1] > 0, "[linear] C and K must not be 0; got weights ", w.str());
  const kernels::ConvShape shape{1, 1, in[0], in[1], w[1], 1, 1};
  Tape& tape = x.tape();
  return dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto* call = tape.save(autograd::conv_call<T>(tape, shape, weights.node()));
    const Shape out_shape{in[0], w[1]};
    const Var out = tape.append(kLinear, out_shape, {x, weights, bias}, call);
    T* y = tape.data<T>(out);
    autograd::conv_forward<T>(tape, *call, tape.data<T>(x), tape.data<T>(weights), y);
    autograd::binary<T>(tape.kernels<T>(), kernels::Binary::add, out_shape, y, out_shape,
                        tape.data<T>(bias), b, y);
    return tape.finish(out);
  });
}

}  // namespace phasor
