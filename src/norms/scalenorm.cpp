// Scale normalisation: one gain for the whole layer.
//
//   out = g x / S,  S = sqrt(mean(x^2) + eps)
//
// Source: Nguyen, Salazar, "Transformers without Tears", IWSLT 2019, who write g' x / |x| with
// g' = sqrt(D) at first, D the length of a row: g = 1 here. x [rows, positions, C], g [1].
//
// Backward, with xhat = x / S: dx = g (dy - xhat mean(dy xhat)) / S, dg = sum of dy xhat.
#include "phasor/norm.h"

namespace phasor::norms::scalenorm {
namespace {

class ScaleNorm final : public Norm {
 public:
  explicit ScaleNorm(NormBuilder& builder) : affine_(builder.affine()), eps_(builder.eps()) {
    if (affine_) gain_ = builder.parameter("weight", {1}, builder.gamma_init());
  }

  Var forward(const NormContext& context, const Var& x) const override {
    const Var normalised = divide_or_zero(x, context.statistic(root_mean_square(x, {1, 2}, eps_)));
    return affine_ ? normalised * context.parameter(gain_) : normalised;
  }

 private:
  bool affine_;
  double eps_;
  int gain_ = 0;
};

}  // namespace

NormSpec norm_spec() {
  return {.name = "scalenorm",
          .help = "root mean square of each row, one gain for the layer",
          .formula = "g x / sqrt(mean(x^2) + eps)",
          .properties = {.scale_invariant = true, .phase_preserving = true},
          .keys = {},
          .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
            return std::make_unique<ScaleNorm>(builder);
          }};
}

}  // namespace phasor::norms::scalenorm
