// No normalisation: the identity, as a baseline.
//
//   out = x,  dx = g
//
// It has no parameters and ignores the keys of the layer. x [rows, positions, C].
#include "kernels/kernels.h"
#include "phasor/norm.h"

namespace phasor::norms::none {
namespace {

Index size_of(const FusedShape& shape) { return shape.rows * shape.positions * shape.channels; }

/// relu(x + skip) without the detour over the tape.
class IdentityPair final : public FusedPair {
 public:
  Index saved_size(const FusedShape&) const override { return 0; }

  void forward(const FusedShape& shape, const FusedForward& args) const override {
    const kernels::Table<float>& table = kernels::table<float>(shape.kernels);
    const Index n = size_of(shape);
    const float* sum = args.x;
    if (args.skip != nullptr) {
      table.binary(kernels::Binary::add, n, args.x, 1, args.skip, 1, args.out);
      sum = args.out;
    }
    if (shape.relu)
      table.unary(kernels::Unary::relu, n, sum, args.out);
    else if (sum != args.out)
      table.copy_scaled(n, 1.0f, sum, args.out);
  }

  void backward(const FusedShape& shape, const FusedBackward& args) const override {
    // One of the two may share dy's memory: it is written last.
    if (args.dskip == args.dy) {
      pass(shape, args, args.dx, args.accumulate);
      pass(shape, args, args.dskip, false);
    } else {
      if (args.dskip != nullptr) pass(shape, args, args.dskip, false);
      pass(shape, args, args.dx, args.accumulate);
    }
  }

 private:
  static void pass(const FusedShape& shape, const FusedBackward& args, float* to, bool accumulate) {
    const kernels::Table<float>& table = kernels::table<float>(shape.kernels);
    const Index n = size_of(shape);
    if (shape.relu)
      table.relu_backward(n, args.out, args.dy, to, accumulate);
    else if (accumulate)
      table.add_scaled(n, 1.0f, args.dy, to);
    else if (to != args.dy)
      table.copy_scaled(n, 1.0f, args.dy, to);
  }
};

class Identity final : public Norm {
 public:
  Var forward(const NormContext&, const Var& x) const override { return x; }
  const FusedPair* fused() const override { return &fused_; }

 private:
  IdentityPair fused_;
};

}  // namespace

NormSpec norm_spec() {
  return {
      .name = "none",
      .help = "no normalisation; eps, gamma_init, affine and axes have no effect",
      .formula = "x",
      .properties = {.phase_preserving = true},
      .keys = {},
      .need_not_learn = "nothing holds the scale of the activations",
      .make = [](NormBuilder&) -> std::unique_ptr<Norm> { return std::make_unique<Identity>(); }};
}

}  // namespace phasor::norms::none
