// The layers that networks are made of, and the builder that numbers their parameters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/model.h"
#include "nn/resnet.h"

namespace phasor {

/// Collects parameters, convolutions and descriptions while a network is put together.
class ModelBuilder {
 public:
  explicit ModelBuilder(Model& model) : model_(model) {}

  int parameter(const std::string& name, const Shape& shape, ParameterRole role, Initial initial);
  int buffer(const std::string& name, const Shape& shape, double initial);
  void convolution(int parameter, const kernels::ConvShape& shape);
  /// A norm layer, which follows the convolution made last, if any; returns its number.
  int norm(NormInfo info, bool scale_invariant);
  void describe(LayerInfo info) { model_.layers_.push_back(std::move(info)); }
  /// `passes` is 3, or 2 where the input wants no gradient.
  void count_flops(Index macs, int passes);
  void pairs_channels(const std::string& pairing) { model_.pairing_ = pairing; }
  void mixes_samples() { model_.batch_statistics_ = true; }

 private:
  Model& model_;
};

/// Side lengths and channels of one image's activation.
struct Extent {
  Index h, w, channels;
};

/// Convolution without bias, zero padding kernel/2.
class Conv2d {
 public:
  Conv2d(ModelBuilder& builder, std::string name, Extent in, Index channels, int kernel, int stride,
         bool pytorch_init, bool input_gradient = true);
  Var forward(const ForwardContext& context, const Var& x) const;
  Extent out() const { return out_; }

 private:
  std::string name_;
  int weight_, stride_;
  Extent out_;
};

/// A norm with what follows it: the sum with a shortcut, and the ReLU. Uses the norm's fused pair
/// where it has one and the tape is float32; otherwise composes.
class NormLayer {
 public:
  NormLayer(ModelBuilder& builder, std::string name, const NormFactory& factory, Extent extent);
  /// relu(norm(x) + skip); `skip` undefined: none.
  Var forward(const ForwardContext& context, const Var& x, const Var& skip, bool relu) const;

 private:
  Var apply(const ForwardContext& context, const Var& x, const Var& skip, bool relu) const;
  Var compose(const ForwardContext& context, const Var& x, const Var& skip, bool relu) const;

  std::string name_;
  int number_;
  RowAxes axes_;
  StatisticPrecision precision_;
  std::unique_ptr<Norm> norm_;
  std::vector<int> parameters_, buffers_;
  std::vector<Index> order_, inverse_;  // of channels as the norm pairs them; empty: as they are
};

/// The classifier: [N,C] to [N,classes], uniform +-1/sqrt(fan_in).
class Linear {
 public:
  Linear(ModelBuilder& builder, std::string name, Index in, Index out);
  Var forward(const ForwardContext& context, const Var& x) const;

 private:
  std::string name_;
  int weight_, bias_;
};

/// relu(norm(conv(relu(norm(conv(x))))) + shortcut(x)), the post-norm block of He et al. 2015.
class BasicBlock {
 public:
  BasicBlock(ModelBuilder& builder, const std::string& name, Extent in, Index channels, int stride,
             const ResNetOptions& options, const NormFactory& norm);
  Var forward(const ForwardContext& context, const Var& x) const;
  Extent out() const { return conv2_.out(); }

 private:
  std::string name_;
  Conv2d conv1_;
  NormLayer norm1_;
  Conv2d conv2_;
  NormLayer norm2_;
  bool reshapes_;
  int stride_;
  std::unique_ptr<Conv2d> shortcut_conv_;  // null: identity, or the parameter-free shortcut
  std::unique_ptr<NormLayer> shortcut_norm_;
};

}  // namespace phasor
