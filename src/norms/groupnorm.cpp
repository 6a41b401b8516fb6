// Group normalisation: LayerNorm within groups of channels.
//
//   out_c = gamma_c (x_c - mean_G) / sqrt(var_G + eps) + beta_c
//
// mean_G and var_G over the channels of c's group and the positions of the row. Source: Wu, He,
// "Group Normalization", ECCV 2018 (over H and W: `axes: sample`). x [rows, positions, C], gamma
// and beta [C]. `groups` must divide the number of channels.
//
// Backward: that of LayerNorm (layernorm.cpp) within each group.
#include "phasor/norm.h"

namespace phasor::norms::groupnorm {
namespace {

class GroupNorm final : public Norm {
 public:
  explicit GroupNorm(NormBuilder& builder)
      : affine_(builder.affine()), eps_(builder.eps()), groups_(builder.integer("groups")) {
    PHASOR_CHECK(builder.channels() % groups_ == 0, "[", builder.layer(),
                 "] norm.groups must divide the number of channels; got ", groups_, " groups of ",
                 builder.channels(), " channels");
    if (!affine_) return;
    gamma_ = builder.parameter("weight", {builder.channels()}, builder.gamma_init());
    beta_ = builder.parameter("bias", {builder.channels()}, 0);
  }

  Var forward(const NormContext& context, const Var& x) const override {
    const Shape shape = x.shape();
    const Var grouped = reshape(x, {shape[0], shape[1], groups_, shape[2] / groups_});
    const Var centred = grouped - mean(grouped, {1, 3});
    const Var deviation = context.statistic(root_mean_square(centred, {1, 3}, eps_));
    const Var normalised = reshape(divide_or_zero(centred, deviation), shape);
    if (!affine_) return normalised;
    return normalised * context.parameter(gamma_) + context.parameter(beta_);
  }

 private:
  bool affine_;
  double eps_;
  Index groups_;
  int gamma_ = 0, beta_ = 0;
};

}  // namespace

NormSpec norm_spec() {
  return {
      .name = "groupnorm",
      .help = "zero mean and unit variance of each group of channels, gain and bias per channel",
      .formula = "gamma (x - mean_G) / sqrt(var_G + eps) + beta",
      .properties = {.scale_invariant = true, .shift_invariant = true},
      .keys = {{.name = "groups",
                .standard = std::int64_t{4},
                .help = "number of groups; must divide every channel count",
                .minimum = 1}},
      .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
        return std::make_unique<GroupNorm>(builder);
      }};
}

}  // namespace phasor::norms::groupnorm
