// Unit phasors: every phasor is normalised by itself.
//
//   out_i = gamma_i z_i / m_i,  m_i = sqrt(|z_i|^2 + eps),  z_i = (x_2i, x_2i+1)
//
// The extreme of phase preservation: only angles pass, and with them no gradient along z_i at
// eps 0 (the radial part of dz_i vanishes). x [rows, positions, C] with C even, gamma [C/2].
//
// Backward, with v_i = z_i / m_i:
//   dz_i = gamma_i (g_i - v_i (g_i . v_i)) / m_i,  dgamma_i = sum over rows of g_i . v_i
#include "phasor/norm.h"

namespace phasor::norms::unit_phasor {
namespace {

class UnitPhasor final : public Norm {
 public:
  explicit UnitPhasor(NormBuilder& builder) : affine_(builder.affine()), eps_(builder.eps()) {
    if (affine_)
      gamma_ = builder.parameter("weight", {builder.channels() / 2}, builder.gamma_init());
  }

  Var forward(const NormContext& context, const Var& x) const override {
    const Var z = phasors(x);
    const Var normalised = divide_or_zero(z, context.statistic(modulus(z, eps_)));
    if (!affine_) return channels(normalised);
    const Var& gamma = context.parameter(gamma_);
    return channels(normalised * reshape(gamma, {gamma.shape().size(), 1}));
  }

 private:
  bool affine_;
  double eps_;
  int gamma_ = 0;
};

}  // namespace

NormSpec norm_spec() {
  return {.name = "unit_phasor",
          .help = "every phasor divided by its own modulus, gain per phasor",
          .formula = "gamma z / sqrt(|z|^2 + eps)",
          .properties = {.scale_invariant = true,
                         .phase_preserving = true,
                         .needs_even_channels = true},
          .keys = {},
          .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
            return std::make_unique<UnitPhasor>(builder);
          }};
}

}  // namespace phasor::norms::unit_phasor
