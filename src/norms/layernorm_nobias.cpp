// A control: layer normalisation without its bias.
//
//   out_c = gamma_c (x_c - mean) / sqrt(var + eps)
//
// It tells apart what LayerNorm owes to centring and what to its bias (layernorm.cpp has source and
// derivation). x [rows, positions, C], gamma [C].
#include "norms/contract/row_pair.h"

namespace phasor::norms::layernorm_nobias {
namespace {

class LayerNormNoBias final : public Norm {
 public:
  explicit LayerNormNoBias(NormBuilder& builder)
      : affine_(builder.affine()),
        eps_(builder.eps()),
        gamma_(affine_ ? builder.parameter("weight", {builder.channels()}, builder.gamma_init())
                       : RowPair::kNone),
        fused_({.statistic = kernels::Statistic::deviation, .eps = eps_, .gain = gamma_}) {}

  Var forward(const NormContext& context, const Var& x) const override {
    const Var centred = x - mean(x, {1, 2});
    const Var variance = mean(square(centred), {1, 2});
    const Var normalised = divide_or_zero(centred, context.statistic(sqrt(variance + eps_)));
    return affine_ ? normalised * context.parameter(gamma_) : normalised;
  }

  const FusedPair* fused() const override { return &fused_; }

 private:
  bool affine_;
  double eps_;
  int gamma_;
  RowPair fused_;
};

}  // namespace

NormSpec norm_spec() {
  return {
      .name = "layernorm_nobias",
      .help = "control: layernorm without bias",
      .formula = "gamma (x - mean) / sqrt(var + eps)",
      .properties = {.scale_invariant = true, .shift_invariant = true, .narrow_statistic = true},
      .keys = {},
      .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
        return std::make_unique<LayerNormNoBias>(builder);
      }};
}

}  // namespace phasor::norms::layernorm_nobias
