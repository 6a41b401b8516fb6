// Mean of a smooth |x|: out_c = gamma_c x_c / mean(sqrt(x^2 + delta^2)). One file for all routes.
#include "phasor/norm.h"

namespace phasor::norms::huber {
namespace {

class Huber final : public Norm {
 public:
  explicit Huber(NormBuilder& builder)
      : affine_(builder.affine()), eps_(builder.eps()), delta_(builder.number("delta")) {
    if (affine_) gamma_ = builder.parameter("weight", {builder.channels()}, builder.gamma_init());
  }

  Var forward(const NormContext& context, const Var& x) const override {
    const Var size = mean(sqrt(square(x) + (delta_ * delta_ + eps_)), {1, 2});
    const Var out = divide_or_zero(x, size);
    return affine_ ? out * context.parameter(gamma_) : out;
  }

 private:
  bool affine_;
  double eps_, delta_;
  int gamma_ = 0;
};

}  // namespace

NormSpec norm_spec() {
  return {.name = "huber",
          .help = "mean of a smooth absolute value, gain per channel",
          .formula = "gamma x / mean(sqrt(x^2 + delta^2 + eps))",
          .properties = {},
          .keys = {{.name = "delta",
                    .standard = 0.1,
                    .help = "below it |x| counts as a square",
                    .minimum = 0}},
          .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
            return std::make_unique<Huber>(builder);
          }};
}

}  // namespace phasor::norms::huber
