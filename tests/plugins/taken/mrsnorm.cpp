// A norm whose name is taken.
#include "phasor/norm.h"

namespace phasor::norms::mrsnorm {
namespace {

class Identity final : public Norm {
 public:
  Var forward(const NormContext&, const Var& x) const override { return x; }
};

}  // namespace

NormSpec norm_spec() {
  NormSpec spec;
  spec.name = "mrsnorm";
  spec.help = "not that one";
  spec.formula = "x";
  spec.make = [](NormBuilder&) -> std::unique_ptr<Norm> { return std::make_unique<Identity>(); };
  return spec;
}

}  // namespace phasor::norms::mrsnorm
