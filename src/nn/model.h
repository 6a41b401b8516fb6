// A network as the trainer sees it: named parameters in one flat block, convolutions with their
// shapes, and a forward pass on a tape. It holds no values and no number type.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "phasor/autograd.h"
#include "phasor/norm.h"

namespace phasor {

/// What a parameter is: decides its layout in checkpoints, its initial values and its decay.
enum class ParameterRole : std::uint8_t {
  conv_weight,    ///< [k,k,C_in,C_out] here, [C_out,C_in,k,k] in checkpoints
  linear_weight,  ///< [C_in,C_out] here, [C_out,C_in] in checkpoints
  bias,
  norm,  ///< gains and biases of norms
};

/// Initial values: `normal` with deviation `scale`, `uniform` in +-scale, or `constant` = scale.
struct Initial {
  enum class Kind : std::uint8_t { normal, uniform, constant } kind = Kind::constant;
  double scale = 0;
};

struct Parameter {
  std::string name;  ///< PyTorch's: "layer1.0.conv1.weight"
  Shape shape;
  ParameterRole role;
  Initial initial;
  Index offset = 0;  ///< of its first element in the flat block; a multiple of 16
};

/// A convolution of the network with its shape for one image (n = 1).
struct ConvLayer {
  int parameter;
  kernels::ConvShape shape;
  bool scale_invariant = false;  ///< a scale-invariant norm follows: the weights' scale is free
};

/// A norm layer of the network.
struct NormInfo {
  std::string name;
  int gain = -1;  ///< number of its parameter "weight"; -1: none
};

/// One row of `describe`: what a layer does to one image.
struct LayerInfo {
  std::string name, type;
  Shape out;  ///< [H,W,C] or [C]
  Index parameters = 0;
  Index macs = 0;  ///< multiply-accumulates of one image's forward pass
};

/// What a norm layer did in one pass.
struct NormPass {
  int norm = -1;         ///< its number in Model::norms()
  bool relu = false;     ///< a ReLU follows
  Var input{};           ///< the layer's input
  Var x{};               ///< the same as rows, [rows, positions, C]
  Var normalised{};      ///< norm(x), in the same shape
  Var out{};             ///< of the layer, after the sum with a shortcut and the ReLU
  Var statistic{};       ///< what the norm divides by; undefined where it declares none
  Var zero_statistic{};  ///< that of a row of zeros
};

/// Sees what the norm layers of a composed pass do, for diagnostics.
class NormProbe {
 public:
  virtual ~NormProbe() = default;
  virtual void on_norm(const NormPass& pass) = 0;
};

/// One pass over a tape whose first leaves are the model's parameters, in order, and then its
/// buffers.
struct ForwardContext {
  Tape& tape;
  bool training = true;
  /// Ignore hand-written norm kernels and use the composed definitions.
  bool composed = false;
  NormProbe* probe = nullptr;  ///< needs `composed`
  int parameters = 0;          ///< their number, where the model has buffers
  BufferSink* sink = nullptr;  ///< takes updates of buffers, by their number in the model
  Var parameter(int number) const { return tape.var(number); }
  Var buffer(int number) const { return tape.var(parameters + number); }
};

class Model {
 public:
  virtual ~Model() = default;

  /// images [N,32,32,3] to logits [N,classes].
  virtual Var forward(const ForwardContext& context, const Var& images) const = 0;

  const std::vector<Parameter>& parameters() const { return parameters_; }
  /// Numbers that training keeps and does not learn (running statistics), with offsets in a block
  /// of their own.
  const std::vector<Parameter>& buffers() const { return buffers_; }
  const std::vector<ConvLayer>& convolutions() const { return convolutions_; }
  const std::vector<NormInfo>& norms() const { return norms_; }
  const std::vector<LayerInfo>& layers() const { return layers_; }
  /// Elements of the flat block, with its padding, and of the block of buffers.
  Index block_size() const { return block_size_; }
  Index buffer_size() const { return buffer_size_; }
  /// Elements of all parameters.
  Index parameter_count() const;
  Index parameter_count(ParameterRole role) const;
  /// Floating point operations of training on one image: 2 for a multiply-accumulate, three passes
  /// (two for the stem, which has no input gradient), convolutions and head, counted as if direct.
  double training_flops() const { return training_flops_; }
  /// How the norms pair channels (pairing.h); empty where they pair none.
  const std::string& pairing() const { return pairing_; }
  /// The norms mix samples, so that a step must be one micro-batch.
  bool batch_statistics() const { return batch_statistics_; }

 protected:
  friend class ModelBuilder;
  std::vector<Parameter> parameters_, buffers_;
  std::vector<ConvLayer> convolutions_;
  std::vector<NormInfo> norms_;
  std::vector<LayerInfo> layers_;
  Index block_size_ = 0, buffer_size_ = 0;
  double training_flops_ = 0;
  bool batch_statistics_ = false;
  std::string pairing_;
};

/// The layer that a parameter belongs to: "layer1.0.conv1" of "layer1.0.conv1.weight".
std::string layer_of(const Parameter& parameter);

/// Initial values of a parameter, a pure function of (seed, name): networks that differ in their
/// norm start with the same convolutions.
void initialise(const Parameter& parameter, std::uint64_t seed, Tensor& values);

/// A parameter's values in the layout of checkpoints (PyTorch's), and back.
Tensor to_checkpoint_layout(const Parameter& parameter, const Tensor& values);
Tensor from_checkpoint_layout(const Parameter& parameter, const Tensor& stored);
Shape checkpoint_shape(const Parameter& parameter);

}  // namespace phasor
