// Mean root square normalisation: the mean modulus of phasors as the statistic.
//
// Adjacent channels form phasors z_i = (x_2i, x_2i+1), i = 1..P over the row:
//
//   m_i = sqrt(|z_i|^2 + eps),  S = (1/P) sum_i m_i,  out_i = gamma_i z_i / S
//
// One gain per phasor, so that its angle stays; no bias. Source: "Phasor Attention: Mean Root
// Square Normalization for Phase Manifold Preservation", arXiv 2607.17822. x [rows, positions, C]
// with C even, gamma [C/2].
//
// Backward. With g_i = dL/dout_i the loss changes by
//   dL = sum_i g_i . (gamma_i dz_i / S - gamma_i z_i dS / S^2),
//   dS = (1/P) sum_i dm_i,  dm_i = v_i . dz_i,  v_i = z_i / m_i.
// With A = sum_j gamma_j (g_j . z_j), gathering the terms in dz_i:
//   dL/dz_i     = gamma_i g_i / S - v_i (A/S) / (P S)
//   dL/dgamma_i = sum over rows of (g_i . z_i) / S
// A/(P S^2) is never formed: S^2 leaves the range of float32 long before S does.
//
// Euler's identity: sum_i z_i . dL/dz_i = A/S - (A/S)/(P S) sum_i |z_i|^2 / m_i, and with
// |z_i|^2 / m_i = m_i - eps/m_i this is (A/S) eps sum_j (1/m_j) / (P S): zero exactly at eps 0,
// where the output does not depend on the scale of z.
//
// At a zero phasor v_i = z_i / sqrt(eps) = 0; at eps 0 it gets the subgradient v_i = 0. A zero row
// has S = sqrt(eps), output 0 and gradient gamma g / sqrt(eps) (316 for eps 1e-5; 0 at eps 0).
#include "norms/contract/row_pair.h"

namespace phasor::norms::mrsnorm {
namespace {

class MrsNorm final : public Norm {
 public:
  explicit MrsNorm(NormBuilder& builder)
      : affine_(builder.affine()),
        eps_(builder.eps()),
        gamma_(affine_ ? builder.parameter("weight", {builder.channels() / 2}, builder.gamma_init())
                       : RowPair::kNone),
        fused_({.statistic = kernels::Statistic::mean_pair_modulus,
                .eps = eps_,
                .gain = gamma_,
                .gain_per_pair = true}) {}

  Var forward(const NormContext& context, const Var& x) const override {
    const Var z = phasors(x);                        // [rows, positions, P, 2]
    const Var m = sqrt(sum(square(z), {3}) + eps_);  // [rows, positions, P, 1]
    const Var normalised = divide_or_zero(z, context.statistic(mean(m, {1, 2, 3})));
    if (!affine_) return channels(normalised);
    const Var& gamma = context.parameter(gamma_);
    return channels(normalised * reshape(gamma, {gamma.shape().size(), 1}));
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
  return {.name = "mrsnorm",
          .help = "mean modulus of adjacent channel pairs (phasors), gain per phasor",
          .formula = "gamma z / mean(sqrt(|z|^2 + eps))",
          .properties = {.scale_invariant = true,
                         .phase_preserving = true,
                         .needs_even_channels = true,
                         .narrow_statistic = true},
          .keys = {},
          .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
            return std::make_unique<MrsNorm>(builder);
          }};
}

}  // namespace phasor::norms::mrsnorm
