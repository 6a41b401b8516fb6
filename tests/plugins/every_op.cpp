// Every public op and class at once: a plugin must find them all in the program.
#include <array>
#include <vector>

#include "phasor/norm.h"
#include "phasor/rng.h"

namespace phasor::norms::every_op {
namespace {

/// A fused pair that is the composed definition below, where everything cancels: gamma x.
class Gain final : public FusedPair {
 public:
  Index saved_size(const FusedShape&) const override { return 0; }

  void forward(const FusedShape& shape, const FusedForward& args) const override {
    const float* gamma = args.parameters == nullptr ? nullptr : args.parameters[0];
    for (Index i = 0; i < shape.rows * shape.positions; ++i) {
      for (Index c = 0; c < shape.channels; ++c) {
        const Index at = i * shape.channels + c;
        float y = args.x[at] * gamma[c];
        if (args.skip != nullptr) y += args.skip[at];
        args.out[at] = shape.relu && !(y > 0) ? 0 : y;
      }
    }
  }

  void backward(const FusedShape& shape, const FusedBackward& args) const override {
    const float* gamma = args.parameters[0];
    for (Index i = 0; i < shape.rows * shape.positions; ++i) {
      for (Index c = 0; c < shape.channels; ++c) {
        const Index at = i * shape.channels + c;
        const float dy = shape.relu && !(args.out[at] > 0) ? 0 : args.dy[at];
        if (args.dparameters[0] != nullptr) args.dparameters[0][c] += dy * args.x[at];
        const float old = args.accumulate ? args.dx[at] : 0;
        if (args.dskip != nullptr) args.dskip[at] = dy;
        args.dx[at] = old + dy * gamma[c];
      }
    }
  }
};

class EveryOp final : public Norm {
 public:
  explicit EveryOp(NormBuilder& builder)
      : affine_(builder.affine()),
        zero_(builder.number("zero") + static_cast<double>(builder.integer("count")) +
              (builder.flag("flag") ? 1.0 : 0.0) +
              static_cast<double>(builder.text("word").size())),
        gamma_(affine_ ? builder.parameter("weight", {builder.channels()}, builder.gamma_init())
                       : -1) {}

  Var forward(const NormContext& context, const Var& x) const override {
    const Var y = x + zero_ * others(x);
    return affine_ ? y * context.parameter(gamma_) : y;
  }

  const FusedPair* fused() const override { return affine_ ? &gain_ : nullptr; }

 private:
  /// Uses every op; bounded, and multiplied by 0.
  static Var others(const Var& x) {
    const Index rows = x.shape()[0], positions = x.shape()[1], width = x.shape()[2];
    Var t = tanh(x);
    t = (t + t - t * t) / (exp(t) + 1.0) + -t;
    t = divide_or_zero(t, root_mean_square(t, {1, 2}, 1e-3)) + sqrt(square(t) + 1e-3) + abs(t);
    t = relu(t) / magnitude(t, {1, 2}) + mean(t, {1, 2}) + sum(t, {1, 2}) * 1e-3;
    const Var z = phasors(concat_even(t));
    t = t + 1e-3 * mean(channels(z / modulus(z, 1e-3)), {1, 2});

    std::vector<Index> reversed(static_cast<std::size_t>(width));
    for (Index i = 0; i < width; ++i) reversed[static_cast<std::size_t>(i)] = width - 1 - i;
    t = permute_channels(t, reversed);

    Tape& tape = x.tape();
    const Var image = reshape(t, {rows, positions, 1, width});
    const Var kernel = tape.leaf(Tensor({1, 1, width, width}, x.dtype()), false);
    const Var pooled = global_average_pool(subsample_pad(conv2d(image, kernel, 1), 1, width));
    const Var weights = tape.leaf(Tensor({width, 2}, x.dtype()), false);
    const Var bias = tape.leaf(Tensor({2}, x.dtype()), false);
    static const std::vector<std::int32_t> labels(1 << 16, 0);
    const Var loss = softmax_cross_entropy(
        linear(pooled, weights, bias),
        std::span<const std::int32_t>(labels.data(), static_cast<std::size_t>(rows)));
    return t + mean(loss) * normal_quantile(0.5);
  }

  /// t with an even last axis: twice t side by side would need no new op, but a view must not be
  /// odd, so that pairs are (t, t).
  static Var concat_even(const Var& t) {
    const Shape shape = t.shape();
    return reshape(reshape(t, {shape.size(), 1}) + t.tape().leaf(Tensor({1, 2}, t.dtype()), false),
                   {shape[0], shape[1], 2 * shape[2]});
  }

  bool affine_;
  double zero_;
  int gamma_;
  Gain gain_;
};

}  // namespace

NormSpec norm_spec() {
  PHASOR_CHECK(broadcast({2, 1}, {3}, "every_op") == Shape({2, 3}), "[every_op] broadcast");
  return {.name = "every_op",
          .help = "a gain, by every op there is",
          .formula = "gamma x",
          .keys = {{.name = "zero", .standard = 0.0, .help = "0"},
                   {.name = "count", .standard = std::int64_t{0}, .help = "0"},
                   {.name = "flag", .standard = false, .help = "false"},
                   {.name = "word", .standard = std::string(), .help = "empty"}},
          .need_not_learn = "it normalises nothing",
          .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
            return std::make_unique<EveryOp>(builder);
          }};
}

}  // namespace phasor::norms::every_op
