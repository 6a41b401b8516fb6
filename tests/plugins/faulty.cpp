// One norm with one fault, chosen when it is compiled.
#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "phasor/norm.h"

#ifdef PHASOR_FAULT_undefined
namespace phasor {
PHASOR_API Var op_of_another_version(const Var& x);
}
#endif

namespace phasor::norms::faulty {
namespace {

volatile int* const nowhere = nullptr;

struct AtLoad {
  AtLoad() {
#if defined PHASOR_FAULT_load
    throw std::runtime_error("at load");
#elif defined PHASOR_FAULT_exit
    std::exit(0);
#endif
  }
} at_load;

class Faulty final : public Norm {
 public:
  explicit Faulty(NormBuilder& builder) {
#if defined PHASOR_FAULT_make
    throw std::runtime_error("no layer today");
#elif defined PHASOR_FAULT_make_crash
    *nowhere = 1;
#elif defined PHASOR_FAULT_usage
    PHASOR_CHECK(builder.channels() % 48 == 0, "[", builder.layer(), "] needs 48 channels; got ",
                 builder.channels());
#elif defined PHASOR_FAULT_hang
    for (volatile int turn = 0;;) turn = turn + 1;
#endif
#if defined PHASOR_FAULT_train
    throws_ = builder.number("throws") != 0;
#endif
    gamma_ = builder.parameter("weight", {builder.channels()}, builder.gamma_init());
  }

  Var forward(const NormContext& context, const Var& x) const override {
#if defined PHASOR_FAULT_train
    if (throws_) throw std::runtime_error("thrown on purpose");
#elif defined PHASOR_FAULT_forward
    *nowhere = 1;
#elif defined PHASOR_FAULT_shape
    return mean(x, {2});
#elif defined PHASOR_FAULT_nonfinite
    return x * std::numeric_limits<double>::infinity();
#elif defined PHASOR_FAULT_input
    static_cast<double*>(x.node().data)[5] = 7;
#elif defined PHASOR_FAULT_undefined
    return op_of_another_version(x);
#endif
    return x * context.parameter(gamma_);
  }

 private:
  int gamma_ = 0;
#if defined PHASOR_FAULT_train
  bool throws_ = false;  ///< in forward; off at its default, with which plugins are checked
#endif
};

}  // namespace

NormSpec norm_spec() {
#if defined PHASOR_FAULT_spec
  throw 42;
#elif defined PHASOR_FAULT_spec_crash
  *nowhere = 1;
#endif
  NormSpec spec;
  spec.name = "faulty";
#if defined PHASOR_FAULT_name
  spec.name = "other";
#endif
  spec.help = "a gain";
  spec.formula = "gamma x";
#if defined PHASOR_FAULT_train
  spec.keys = {{.name = "throws", .standard = 0.0, .help = "1 throws in training"}};
#endif
  spec.make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
    return std::make_unique<Faulty>(builder);
  };
  return spec;
}

}  // namespace phasor::norms::faulty
