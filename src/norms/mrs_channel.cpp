// A control: the statistic of MRSNorm with one gain per channel.
//
//   out_c = gamma_c x_c / S,  S = (1/P) sum_i sqrt(|z_i|^2 + eps),  z_i = (x_2i, x_2i+1)
//
// Unequal gains turn the phasors; the statistic is that of MRSNorm (mrsnorm.cpp has its
// derivation). x [rows, positions, C] with C even, gamma [C].
//
// Backward, with u_c = gamma_c g_c, A = sum_c u_c x_c, v_i = z_i / m_i:
//   dz_i = u_i / S - v_i (A/S) / (P S),  dgamma_c = sum over rows of g_c x_c / S
#include "norms/contract/row_pair.h"

namespace phasor::norms::mrs_channel {
namespace {

class MrsChannel final : public Norm {
 public:
  explicit MrsChannel(NormBuilder& builder)
      : affine_(builder.affine()),
        eps_(builder.eps()),
        gamma_(affine_ ? builder.parameter("weight", {builder.channels()}, builder.gamma_init())
                       : RowPair::kNone),
        fused_({.statistic = kernels::Statistic::mean_pair_modulus, .eps = eps_, .gain = gamma_}) {}

  Var forward(const NormContext& context, const Var& x) const override {
    const Var m = sqrt(sum(square(phasors(x)), {3}) + eps_);
    const Var statistic = context.statistic(mean(m, {1, 2, 3}));  // [rows, 1, 1, 1]
    const Var normalised = divide_or_zero(x, reshape(statistic, {statistic.shape()[0], 1, 1}));
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
  return {.name = "mrs_channel",
          .help = "control: mean modulus of phasors, gain per channel",
          .formula = "gamma x / mean(sqrt(|z|^2 + eps))",
          .properties = {.scale_invariant = true,
                         .needs_even_channels = true,
                         .narrow_statistic = true},
          .keys = {},
          .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
            return std::make_unique<MrsChannel>(builder);
          }};
}

}  // namespace phasor::norms::mrs_channel
