// Softsign: out = gamma x / (1 + |x|), a norm in a folder outside src/norms.
#include "phasor/norm.h"

namespace phasor::norms::softsign {
namespace {

class Softsign final : public Norm {
 public:
  explicit Softsign(NormBuilder& builder)
      : sharpness_(builder.number("sharpness")), affine_(builder.affine()) {
    if (affine_) gamma_ = builder.parameter("weight", {builder.channels()}, builder.gamma_init());
  }

  Var forward(const NormContext& context, const Var& x) const override {
    const Var out = x / (abs(x * sharpness_) + 1.0);
    return affine_ ? out * context.parameter(gamma_) : out;
  }

 private:
  double sharpness_;
  bool affine_;
  int gamma_ = 0;
};

}  // namespace

NormSpec norm_spec() {
  return {.name = "softsign",
          .help = "bounded, element by element",
          .formula = "gamma x / (1 + |sharpness x|)",
          .properties = {},
          .keys = {{.name = "sharpness", .standard = 1.0, .help = "slope at 0", .minimum = 0}},
          .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
            return std::make_unique<Softsign>(builder);
          }};
}

}  // namespace phasor::norms::softsign
