// Squash: the nonlinearity of capsules on phasors.
//
//   out_i = gamma_i (m_i^2 / (1 + m_i^2)) z_i / m_i,  m_i = sqrt(|z_i|^2 + eps)
//
// Short phasors shrink, long ones approach length gamma_i; angles stay. Source: Sabour, Frosst,
// Hinton, "Dynamic Routing Between Capsules", NeurIPS 2017. z_i = (x_2i, x_2i+1), x [rows,
// positions, C] with C even, gamma [C/2].
//
// Computed as z r / (1 + r^2) with r = 1/m, which stays in range for every m. Backward, with
// f(m) = m / (1 + m^2), f'(m) = (1 - m^2) / (1 + m^2)^2:
//   dz_i = gamma_i (f(m_i) g_i + f'(m_i) (z_i / m_i) (g_i . z_i))
#include "phasor/norm.h"

namespace phasor::norms::squash {
namespace {

class Squash final : public Norm {
 public:
  explicit Squash(NormBuilder& builder) : affine_(builder.affine()), eps_(builder.eps()) {
    if (affine_)
      gamma_ = builder.parameter("weight", {builder.channels() / 2}, builder.gamma_init());
  }

  Var forward(const NormContext& context, const Var& x) const override {
    const Var z = phasors(x);
    const Var m = modulus(z, eps_);
    const Var r = divide_or_zero(m * 0.0 + 1.0, m);
    const Var squashed = z * r / (square(r) + 1.0);
    if (!affine_) return channels(squashed);
    const Var& gamma = context.parameter(gamma_);
    return channels(squashed * reshape(gamma, {gamma.shape().size(), 1}));
  }

 private:
  bool affine_;
  double eps_;
  int gamma_ = 0;
};

}  // namespace

NormSpec norm_spec() {
  return {.name = "squash",
          .help = "phasors squashed below length 1, gain per phasor",
          .formula = "gamma z m / (1 + m^2), m = sqrt(|z|^2 + eps)",
          .properties = {.phase_preserving = true, .needs_even_channels = true},
          .keys = {},
          .need_not_learn =
              "short phasors come out multiplied by their length and vanish layer by layer",
          .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
            return std::make_unique<Squash>(builder);
          }};
}

}  // namespace phasor::norms::squash
