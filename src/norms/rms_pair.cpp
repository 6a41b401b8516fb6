// A control: the statistic of RMSNorm with the shared gains of MRSNorm.
//
//   out_i = gamma_i z_i / S,  S = sqrt(mean(x^2) + eps),  z_i = (x_2i, x_2i+1)
//
// It tells apart what MRSNorm owes to its statistic and what to one gain per phasor. x [rows,
// positions, C] with C even, gamma [C/2].
//
// Backward, with u_i = gamma_i g_i, zhat = z / S and D numbers in a row:
//   dz_i = (u_i - zhat_i (sum_j u_j . zhat_j) / D) / S,  dgamma_i = sum over rows of g_i . zhat_i
#include "norms/contract/row_pair.h"

namespace phasor::norms::rms_pair {
namespace {

class RmsPair final : public Norm {
 public:
  explicit RmsPair(NormBuilder& builder)
      : affine_(builder.affine()),
        eps_(builder.eps()),
        gamma_(affine_ ? builder.parameter("weight", {builder.channels() / 2}, builder.gamma_init())
                       : RowPair::kNone),
        fused_({.statistic = kernels::Statistic::root_mean_square,
                .eps = eps_,
                .gain = gamma_,
                .gain_per_pair = true}) {}

  Var forward(const NormContext& context, const Var& x) const override {
    const Var normalised =
        divide_or_zero(x, context.statistic(sqrt(mean(square(x), {1, 2}) + eps_)));
    if (!affine_) return normalised;
    const Var& gamma = context.parameter(gamma_);
    return channels(phasors(normalised) * reshape(gamma, {gamma.shape().size(), 1}));
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
  return {.name = "rms_pair",
          .help = "control: root mean square, gain per phasor",
          .formula = "gamma z / sqrt(mean(x^2) + eps)",
          .properties = {.scale_invariant = true,
                         .phase_preserving = true,
                         .needs_even_channels = true,
                         .narrow_statistic = true},
          .keys = {},
          .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
            return std::make_unique<RmsPair>(builder);
          }};
}

}  // namespace phasor::norms::rms_pair
