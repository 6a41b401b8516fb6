// L1 normalisation: the mean absolute value as the statistic.
//
//   out_c = gamma_c x_c / S,  S = mean|x| + eps
//
// The real counterpart of MRSNorm: linear in each number, without pairs. Used for its cheap and
// robust statistic by Hoffer et al., "Norm matters", NeurIPS 2018. x [rows, positions, C], gamma
// [C].
//
// Backward, with u_c = gamma_c g_c, A = sum_c u_c x_c and D numbers in a row:
//   dx_c = u_c / S - sign(x_c) (A/S) / (D S),  dgamma_c = sum over rows of g_c x_c / S
#include "norms/contract/row_pair.h"

namespace phasor::norms::l1norm {
namespace {

class L1Norm final : public Norm {
 public:
  explicit L1Norm(NormBuilder& builder)
      : affine_(builder.affine()),
        eps_(builder.eps()),
        gamma_(affine_ ? builder.parameter("weight", {builder.channels()}, builder.gamma_init())
                       : RowPair::kNone),
        fused_({.statistic = kernels::Statistic::mean_absolute, .eps = eps_, .gain = gamma_}) {}

  Var forward(const NormContext& context, const Var& x) const override {
    const Var normalised = divide_or_zero(x, context.statistic(mean(abs(x), {1, 2}) + eps_));
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
  return {.name = "l1norm",
          .help = "mean absolute value of each row, gain per channel",
          .formula = "gamma x / (mean|x| + eps)",
          .properties = {.scale_invariant = true, .narrow_statistic = true},
          .keys = {},
          .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
            return std::make_unique<L1Norm>(builder);
          }};
}

}  // namespace phasor::norms::l1norm
