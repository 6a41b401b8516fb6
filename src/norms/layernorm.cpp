// Layer normalisation.
//
//   out_c = gamma_c (x_c - mean) / sqrt(var + eps) + beta_c
//
// mean and var are taken over the row; var is the biased variance, of the centred row (two passes:
// mean(x^2) - mean^2 loses every digit where the mean is large). Source: Ba, Kiros, Hinton, "Layer
// Normalization", 2016. x [rows, positions, C], gamma and beta [C].
//
// Backward, with xhat = (x - mean) / sigma, sigma = sqrt(var + eps), u_c = gamma_c g_c:
//   dx_c = (u_c - mean(u) - xhat_c mean(u xhat)) / sigma
//   dgamma_c = sum over rows of g_c xhat_c,  dbeta_c = sum over rows of g_c
#include "norms/contract/row_pair.h"

namespace phasor::norms::layernorm {
namespace {

class LayerNorm final : public Norm {
 public:
  explicit LayerNorm(NormBuilder& builder)
      : affine_(builder.affine()),
        eps_(builder.eps()),
        gamma_(affine_ ? builder.parameter("weight", {builder.channels()}, builder.gamma_init())
                       : RowPair::kNone),
        beta_(affine_ ? builder.parameter("bias", {builder.channels()}, 0) : RowPair::kNone),
        fused_({.statistic = kernels::Statistic::deviation,
                .eps = eps_,
                .gain = gamma_,
                .bias = beta_}) {}

  Var forward(const NormContext& context, const Var& x) const override {
    const Var centred = x - mean(x, {1, 2});
    const Var variance = mean(square(centred), {1, 2});
    const Var normalised = divide_or_zero(centred, context.statistic(sqrt(variance + eps_)));
    if (!affine_) return normalised;
    return normalised * context.parameter(gamma_) + context.parameter(beta_);
  }

  const FusedPair* fused() const override { return &fused_; }

 private:
  bool affine_;
  double eps_;
  int gamma_, beta_;
  RowPair fused_;
};

}  // namespace

NormSpec norm_spec() {
  return {
      .name = "layernorm",
      .help = "zero mean and unit variance of each row, gain and bias per channel",
      .formula = "gamma (x - mean) / sqrt(var + eps) + beta",
      .properties = {.scale_invariant = true, .shift_invariant = true, .narrow_statistic = true},
      .keys = {},
      .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
        return std::make_unique<LayerNorm>(builder);
      }};
}

}  // namespace phasor::norms::layernorm
