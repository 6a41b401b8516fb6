// Dynamic tanh: no statistic at all.
//
//   out_c = gamma_c tanh(alpha x_c) + beta_c
//
// Source: Zhu, Chen, He, LeCun, Liu, "Transformers without Normalization", CVPR 2025. alpha is one
// learnable number of the layer, `alpha_init` at first (and for good with affine off); eps has no
// effect. x [rows, positions, C], gamma and beta [C], alpha [1].
//
// Backward, with t = tanh(alpha x), u_c = gamma_c g_c:
//   dx = alpha u (1 - t^2),  dalpha = sum of u x (1 - t^2),  dgamma = sum of g t,  dbeta = sum of g
#include "phasor/norm.h"

namespace phasor::norms::dyt {
namespace {

class DynamicTanh final : public Norm {
 public:
  explicit DynamicTanh(NormBuilder& builder)
      : affine_(builder.affine()), alpha_init_(builder.number("alpha_init")) {
    if (!affine_) return;
    gamma_ = builder.parameter("weight", {builder.channels()}, builder.gamma_init());
    beta_ = builder.parameter("bias", {builder.channels()}, 0);
    alpha_ = builder.parameter("alpha", {1}, alpha_init_);
  }

  Var forward(const NormContext& context, const Var& x) const override {
    if (!affine_) return tanh(x * alpha_init_);
    return tanh(x * context.parameter(alpha_)) * context.parameter(gamma_) +
           context.parameter(beta_);
  }

 private:
  bool affine_;
  double alpha_init_;
  int gamma_ = 0, beta_ = 0, alpha_ = 0;
};

}  // namespace

NormSpec norm_spec() {
  return {.name = "dyt",
          .help = "dynamic tanh: element by element, gain and bias per channel, one slope",
          .formula = "gamma tanh(alpha x) + beta",
          .properties = {},
          .keys = {{.name = "alpha_init",
                    .standard = 0.5,
                    .help = "alpha at the start",
                    .minimum = 1e-6,
                    .maximum = 1e6}},
          .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
            return std::make_unique<DynamicTanh>(builder);
          }};
}

}  // namespace phasor::norms::dyt
