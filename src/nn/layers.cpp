#include "nn/layers.h"

#include <cmath>

namespace phasor {
namespace {

/// Names the nodes made while in scope after a layer.
class ScopeName {
 public:
  ScopeName(Tape& tape, const std::string& name)
      : tape_(tape), old_(tape.set_scope(name.c_str())) {}
  ~ScopeName() { tape_.set_scope(old_); }

 private:
  Tape& tape_;
  const char* old_;
};

}  // namespace

namespace {

int append(std::vector<Parameter>& list, Index& block_size, Parameter parameter) {
  constexpr Index kVector = 16;  // every parameter starts on a 64-byte line
  parameter.offset = block_size;
  block_size += (parameter.shape.size() + kVector - 1) / kVector * kVector;
  list.push_back(std::move(parameter));
  return static_cast<int>(list.size()) - 1;
}

}  // namespace

int ModelBuilder::parameter(const std::string& name, const Shape& shape, ParameterRole role,
                            Initial initial) {
  return append(model_.parameters_, model_.block_size_, {name, shape, role, initial});
}

int ModelBuilder::buffer(const std::string& name, const Shape& shape, double initial) {
  return append(model_.buffers_, model_.buffer_size_,
                {name, shape, ParameterRole::norm, {Initial::Kind::constant, initial}});
}

void ModelBuilder::convolution(int parameter, const kernels::ConvShape& shape) {
  model_.convolutions_.push_back({parameter, shape});
}

int ModelBuilder::norm(NormInfo info, bool scale_invariant) {
  model_.norms_.push_back(std::move(info));
  if (!model_.convolutions_.empty()) model_.convolutions_.back().scale_invariant = scale_invariant;
  return static_cast<int>(model_.norms_.size()) - 1;
}

void ModelBuilder::count_flops(Index macs, int passes) {
  model_.training_flops_ += 2.0 * static_cast<double>(macs) * passes;
}

Conv2d::Conv2d(ModelBuilder& builder, std::string name, Extent in, Index channels, int kernel,
               int stride, bool pytorch_init, bool input_gradient)
    : name_(std::move(name)), stride_(stride) {
  const kernels::ConvShape shape{1, in.h, in.w, in.channels, channels, kernel, stride};
  out_ = {shape.out_h(), shape.out_w(), channels};
  const double taps = static_cast<double>(kernel) * kernel;
  const Initial initial =
      pytorch_init
          ? Initial{Initial::Kind::uniform, 1 / std::sqrt(taps * static_cast<double>(in.channels))}
          : Initial{Initial::Kind::normal, std::sqrt(2 / (taps * static_cast<double>(channels)))};
  weight_ = builder.parameter(name_ + ".weight", {kernel, kernel, in.channels, channels},
                              ParameterRole::conv_weight, initial);
  builder.convolution(weight_, shape);
  const Index macs = out_.h * out_.w * shape.weight_size();
  builder.count_flops(macs, input_gradient ? 3 : 2);
  builder.describe({name_,
                    concat("conv ", kernel, "x", kernel, stride == 2 ? " stride 2" : ""),
                    {out_.h, out_.w, channels},
                    shape.weight_size(),
                    macs});
}

Var Conv2d::forward(const ForwardContext& context, const Var& x) const {
  const ScopeName scope(context.tape, name_);
  return conv2d(x, context.parameter(weight_), stride_);
}

Linear::Linear(ModelBuilder& builder, std::string name, Index in, Index out)
    : name_(std::move(name)) {
  const Initial initial{Initial::Kind::uniform, 1 / std::sqrt(static_cast<double>(in))};
  weight_ = builder.parameter(name_ + ".weight", {in, out}, ParameterRole::linear_weight, initial);
  bias_ = builder.parameter(name_ + ".bias", {out}, ParameterRole::bias, initial);
  builder.count_flops(in * out, 3);
  builder.describe({name_, "linear", {out}, in * out + out, in * out});
}

Var Linear::forward(const ForwardContext& context, const Var& x) const {
  const ScopeName scope(context.tape, name_);
  return linear(x, context.parameter(weight_), context.parameter(bias_));
}

BasicBlock::BasicBlock(ModelBuilder& builder, const std::string& name, Extent in, Index channels,
                       int stride, const ResNetOptions& options, const NormFactory& norm)
    : name_(name),
      conv1_(builder, name + ".conv1", in, channels, 3, stride, options.pytorch_init),
      norm1_(builder, name + ".norm1", norm, conv1_.out()),
      conv2_(builder, name + ".conv2", conv1_.out(), channels, 3, 1, options.pytorch_init),
      norm2_(builder, name + ".norm2", norm, conv2_.out()),
      reshapes_(stride != 1 || in.channels != channels),
      stride_(stride) {
  if (!reshapes_ || !options.projection) return;
  shortcut_conv_ = std::make_unique<Conv2d>(builder, name + ".shortcut.conv", in, channels, 1,
                                            stride, options.pytorch_init);
  shortcut_norm_ =
      std::make_unique<NormLayer>(builder, name + ".shortcut.norm", norm, shortcut_conv_->out());
}

Var BasicBlock::forward(const ForwardContext& context, const Var& x) const {
  Var skip = x;
  if (shortcut_conv_ != nullptr) {
    skip = shortcut_norm_->forward(context, shortcut_conv_->forward(context, x), {}, false);
  } else if (reshapes_) {
    const ScopeName scope(context.tape, name_);
    skip = subsample_pad(x, stride_, conv2_.out().channels);
  }
  const Var hidden = norm1_.forward(context, conv1_.forward(context, x), {}, true);
  return norm2_.forward(context, conv2_.forward(context, hidden), skip, true);
}

}  // namespace phasor
