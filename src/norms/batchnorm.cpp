// Batch normalisation: mean and variance of each channel over the batch and all pixels.
//
//   out_c = gamma_c (x_c - mean_c) / sqrt(var_c + eps) + beta_c
//
// mean_c and var_c (biased) over the rows and positions: N, H and W, so `axes` has no effect.
// Evaluation takes running statistics instead, which a step moves by `momentum` towards its own
// mean and unbiased variance; they start at 0 and 1. Source: Ioffe, Szegedy, "Batch Normalization",
// ICML 2015; names and convention of the running statistics are PyTorch's. x [rows, positions, C],
// gamma, beta and the running statistics [C].
//
// Backward in training, with n numbers of a channel, xhat = (x - mean) / S, S = sqrt(var + eps),
// u = gamma g, means over the n numbers:
//   dx = (u - mean(u) - xhat mean(u xhat)) / S,  dgamma = sum of g xhat,  dbeta = sum of g
//
// The one built-in norm whose samples are not independent: a step is one micro-batch on one thread,
// and a batch with a single value per channel has no variance to speak of, so it is refused.
#include "phasor/norm.h"

namespace phasor::norms::batchnorm {
namespace {

class BatchNorm final : public Norm {
 public:
  explicit BatchNorm(NormBuilder& builder)
      : layer_(builder.layer()),
        affine_(builder.affine()),
        eps_(builder.eps()),
        momentum_(builder.number("momentum")) {
    const Shape shape{builder.channels()};
    if (affine_) {
      gamma_ = builder.parameter("weight", shape, builder.gamma_init());
      beta_ = builder.parameter("bias", shape, 0);
    }
    running_mean_ = builder.buffer("running_mean", shape, 0);
    running_var_ = builder.buffer("running_var", shape, 1);
  }

  Var forward(const NormContext& context, const Var& x) const override {
    const Var normalised = context.training() ? by_batch(context, x) : by_running(context, x);
    if (!affine_) return normalised;
    return normalised * context.parameter(gamma_) + context.parameter(beta_);
  }

 private:
  Var by_batch(const NormContext& context, const Var& x) const {
    const auto n = static_cast<double>(x.shape()[0] * x.shape()[1]);
    PHASOR_CHECK(n > 1, "[", layer_,
                 "] batchnorm needs more than one value per channel in training; got a batch of 1 "
                 "with one pixel; use a larger batch or data.drop_last");
    const Var mean_of_x = mean(x, {0, 1});
    const Var centred = x - mean_of_x;
    const Var s = context.statistic(root_mean_square(centred, {0, 1}, eps_));
    context.update(running_mean_, mean_of_x, momentum_);
    context.update(running_var_, mean(square(centred), {0, 1}) * (n / (n - 1)), momentum_);
    return divide_or_zero(centred, s);
  }

  Var by_running(const NormContext& context, const Var& x) const {
    const Var s = sqrt(context.buffer(running_var_) + eps_);
    return divide_or_zero(x - context.buffer(running_mean_), s);
  }

  std::string layer_;
  bool affine_;
  double eps_, momentum_;
  int gamma_ = 0, beta_ = 0, running_mean_ = 0, running_var_ = 0;
};

}  // namespace

NormSpec norm_spec() {
  return {
      .name = "batchnorm",
      .help = "mean and variance of each channel over the batch, gain and bias per channel",
      .formula = "gamma (x - mean) / sqrt(var + eps) + beta, over batch, height and width",
      .properties = {.scale_invariant = true, .shift_invariant = true, .batch_statistics = true},
      .keys = {{.name = "momentum",
                .standard = 0.1,
                .help = "share of a step in the running statistics",
                .minimum = 0,
                .maximum = 1}},
      .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
        return std::make_unique<BatchNorm>(builder);
      }};
}

}  // namespace phasor::norms::batchnorm
