// Global average pooling.
#include "autograd/broadcast.h"
#include "phasor/ops.h"

namespace phasor {
namespace {

// y(n, c) = mean of x(n, ., ., c): dx = dy / (H W) at every pixel.
void global_average_pool_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Shape shape = tape.node(node.inputs[0]).shape;
    const GradTarget<T> target = tape.grad_target<T>(node, 0, shape);
    if (!target) return;
    tape.kernels<T>().pool_backward(shape[0], shape[1] * shape[2], shape[3],
                                    autograd::gradient<T>(node), target.data, target.accumulate);
  });
}
constexpr Op kGlobalAveragePool{"global_average_pool", global_average_pool_backward};

}  // namespace

Var global_average_pool(const Var& x) {
  PHASOR_CHECK(x.defined() && x.shape().rank() == 4 && x.shape()[1] > 0 && x.shape()[2] > 0,
               "[global_average_pool] needs x [N,H,W,C] with pixels; got ",
               x.defined() ? x.shape().str() : "nothing");
  const Shape shape = x.shape();
  Tape& tape = x.tape();
  const Var out = tape.append(kGlobalAveragePool, {shape[0], shape[3]}, {x});
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    tape.kernels<T>().pool_forward(shape[0], shape[1] * shape[2], shape[3], tape.data<T>(x),
                                   tape.data<T>(out));
  });
  return tape.finish(out);
}

}  // namespace phasor
