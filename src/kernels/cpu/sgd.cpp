// SGD as one pass over a flat range of parameters: load gradient, weight and momentum, store weight
// and momentum. Memory-bound; the loops vectorise as they stand, and multiply and add separately,
// so that every set rounds alike.
#include "kernels/cpu/families.h"

namespace phasor::kernels::PHASOR_ISA {
namespace {

struct Factors {
  float scale, decay, keep, take, lr;
};

void without_momentum(Index n, Factors f, const float* gradient, float* weights) {
  for (Index i = 0; i < n; ++i) {
    const float g = gradient[i] * f.scale + f.decay * weights[i];
    weights[i] -= f.lr * g;
  }
}

template <bool first_step, bool nesterov>
void with_momentum(Index n, Factors f, const float* gradient, float* weights, float* momentum) {
  for (Index i = 0; i < n; ++i) {
    const float g = gradient[i] * f.scale + f.decay * weights[i];
    const float m = first_step ? g : f.keep * momentum[i] + f.take * g;
    momentum[i] = m;
    weights[i] -= f.lr * (nesterov ? g + f.keep * m : m);
  }
}

}  // namespace

void sgd(Index n, const SgdRule& rule, const float* gradient, float* weights, float* momentum) {
  const Factors f = {static_cast<float>(rule.gradient_scale), static_cast<float>(rule.weight_decay),
                     static_cast<float>(rule.momentum), static_cast<float>(1 - rule.dampening),
                     static_cast<float>(rule.lr)};
  if (momentum == nullptr || rule.momentum == 0)
    without_momentum(n, f, gradient, weights);
  else if (rule.first_step && rule.nesterov)
    with_momentum<true, true>(n, f, gradient, weights, momentum);
  else if (rule.first_step)
    with_momentum<true, false>(n, f, gradient, weights, momentum);
  else if (rule.nesterov)
    with_momentum<false, true>(n, f, gradient, weights, momentum);
  else
    with_momentum<false, false>(n, f, gradient, weights, momentum);
}

}  // namespace phasor::kernels::PHASOR_ISA
