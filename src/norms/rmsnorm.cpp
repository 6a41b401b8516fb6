// Root mean square normalisation.
//
//   out_c = gamma_c x_c / S,  S = sqrt(mean(x^2) + eps)
//
// The mean is taken over the row of D numbers. Source: Zhang, Sennrich, "Root Mean Square Layer
// Normalization", NeurIPS 2019. x [rows, positions, C], gamma [C], no bias.
//
// Backward, with u_c = gamma_c g_c and xhat = x / S:
//   dx_c = (u_c - xhat_c mean(u xhat)) / S
//   dgamma_c = sum over rows of g_c xhat_c
#include "norms/contract/row_pair.h"

namespace phasor::norms::rmsnorm {
namespace {

class RmsNorm final : public Norm {
 public:
  explicit RmsNorm(NormBuilder& builder)
      : affine_(builder.affine()),
        eps_(builder.eps()),
        gamma_(affine_ ? builder.parameter("weight", {builder.channels()}, builder.gamma_init())
                       : RowPair::kNone),
        fused_({.statistic = kernels::Statistic::root_mean_square, .eps = eps_, .gain = gamma_}) {}

  Var forward(const NormContext& context, const Var& x) const override {
    const Var normalised =
        divide_or_zero(x, context.statistic(sqrt(mean(square(x), {1, 2}) + eps_)));
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
  return {.name = "rmsnorm",
          .help = "root mean square of each row, gain per channel",
          .formula = "gamma x / sqrt(mean(x^2) + eps)",
          .properties = {.scale_invariant = true, .narrow_statistic = true},
          .keys = {},
          .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
            return std::make_unique<RmsNorm>(builder);
          }};
}

}  // namespace phasor::norms::rmsnorm
