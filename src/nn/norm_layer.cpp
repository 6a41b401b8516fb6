// A norm layer on the tape: one node for a fused pair, or the composed definition.
#include <algorithm>

#include "kernels/kernels.h"
#include "nn/layers.h"
#include "nn/pairing.h"
#include "phasor/ops.h"

namespace phasor {
namespace {

constexpr int kMaxParameters = Node::kMaxInputs - 2;

/// What the node of a fused norm keeps. Inputs: x, the skip input where there is one, parameters.
struct FusedNode {
  const FusedPair* pair;
  FusedShape shape;
  const float* statistics;
  bool has_skip;
  int n_parameters;
};

void fused_backward(Tape& tape, const Node& node);
const Op kFusedNorm{"norm", fused_backward};

void fused_backward(Tape& tape, const Node& node) {
  const auto& saved = *static_cast<const FusedNode*>(node.saved);
  const int first_parameter = saved.has_skip ? 2 : 1;
  const float* parameters[kMaxParameters] = {};
  float* dparameters[kMaxParameters] = {};
  for (int i = 0; i < saved.n_parameters; ++i) {
    const Node& leaf = tape.node(node.inputs[first_parameter + i]);
    parameters[i] = static_cast<const float*>(leaf.data);
    const auto target = tape.grad_target<float>(node, first_parameter + i, leaf.shape);
    if (target && !target.accumulate) std::fill_n(target.data, leaf.shape.size(), 0.0f);
    dparameters[i] = target.data;
  }
  // norm(x) + x has one gradient for both: then dskip is kept apart and added.
  const bool shared = saved.has_skip && node.inputs[0] == node.inputs[1];
  GradTarget<float> dskip;
  if (saved.has_skip && !shared) dskip = tape.grad_target_in_place<float>(node, 1, node.shape);
  const auto dx = saved.has_skip ? tape.grad_target<float>(node, 0, node.shape)
                                 : tape.grad_target_in_place<float>(node, 0, node.shape);
  if (shared && dx) dskip = {dx.data, true};
  const ArenaScope scope(tape.arena());
  const auto count = static_cast<std::size_t>(node.shape.size());
  // The pair always computes dx and overwrites dskip; what is not wanted, or must be added to what
  // another consumer left, goes to scratch memory.
  float* dx_out = dx ? dx.data : tape.arena().allocate_array<float>(count);
  float* dskip_out = dskip && !dskip.accumulate ? dskip.data
                     : dskip                    ? tape.arena().allocate_array<float>(count)
                                                : nullptr;
  saved.pair->backward(saved.shape, {.x = tape.data<float>(node.inputs[0]),
                                     .out = static_cast<const float*>(node.data),
                                     .saved = saved.statistics,
                                     .parameters = parameters,
                                     .dy = static_cast<const float*>(node.grad),
                                     .dx = dx_out,
                                     .dskip = dskip_out,
                                     .dparameters = dparameters,
                                     .accumulate = dx.accumulate});
  if (dskip && dskip.accumulate)
    tape.kernels<float>().add_scaled(node.shape.size(), 1.0f, dskip_out, dskip.data);
}

/// Numbers a layer's buffers as the model does.
class LayerSink final : public BufferSink {
 public:
  LayerSink(BufferSink* sink, const std::vector<int>& buffers) : sink_(sink), buffers_(buffers) {}
  void update(int number, const Var& value, double weight) override {
    if (sink_ != nullptr) sink_->update(buffers_[static_cast<std::size_t>(number)], value, weight);
  }

 private:
  BufferSink* sink_;
  const std::vector<int>& buffers_;
};

}  // namespace

NormLayer::NormLayer(ModelBuilder& builder, std::string name, const NormFactory& factory,
                     Extent extent)
    : name_(std::move(name)), number_(-1), axes_(factory.axes), precision_(factory.precision) {
  const NormSpec& spec = *factory.spec;
  PHASOR_CHECK(!spec.properties.needs_even_channels || extent.channels % 2 == 0, "[", name_, "] ",
               spec.name, " pairs adjacent channels, so their number must be even; got ",
               extent.channels, " channels; change model.width or the norm");
  if (spec.properties.needs_even_channels) {
    order_ = pairing_order(factory.pairing, extent.channels);
    inverse_ = inverse_order(order_);
    builder.pairs_channels(factory.pairing);
  } else {
    PHASOR_CHECK(factory.pairing == "adjacent", "[", name_, "] ", spec.name,
                 " pairs no channels, so norm.pairing must be adjacent; got ", factory.pairing);
  }
  PHASOR_CHECK(precision_.is_standard() || spec.properties.narrow_statistic, "[", name_, "] ",
               spec.name,
               " has no emulated statistic: norm.stat_dtype must be float32 and "
               "norm.rescue true");
  NormBuilder parts(name_, extent.channels, factory.eps, factory.gamma_init, factory.affine,
                    factory.values);
  norm_ = spec.make(parts);
  PHASOR_CHECK(parts.parameters().size() <= kMaxParameters, "[", name_, "] a norm has at most ",
               kMaxParameters, " parameters; ", spec.name, " declares ", parts.parameters().size());
  Index count = 0;
  int gain = -1;
  for (const NormBuilder::Parameter& parameter : parts.parameters()) {
    parameters_.push_back(builder.parameter(name_ + "." + parameter.name, parameter.shape,
                                            ParameterRole::norm,
                                            {Initial::Kind::constant, parameter.init}));
    if (parameter.name == "weight") gain = parameters_.back();
    count += parameter.shape.size();
  }
  for (const NormBuilder::Parameter& buffer : parts.buffers())
    buffers_.push_back(builder.buffer(name_ + "." + buffer.name, buffer.shape, buffer.init));
  PHASOR_CHECK(
      buffers_.empty() || (spec.properties.batch_statistics && buffers_.size() <= kMaxParameters),
      "[", name_, "] a norm with buffers has batch statistics, and at most ", kMaxParameters,
      " of them; ", spec.name, " declares ", buffers_.size(),
      spec.properties.batch_statistics ? "" : " and no batch statistics");
  number_ = builder.norm({name_, gain}, spec.properties.scale_invariant);
  if (spec.properties.batch_statistics) builder.mixes_samples();
  builder.describe({name_, spec.name, {extent.h, extent.w, extent.channels}, count, 0});
}

Var NormLayer::forward(const ForwardContext& context, const Var& x, const Var& skip,
                       bool relu) const {
  Tape& tape = context.tape;
  const char* old_scope = tape.set_scope(name_.c_str());
  Var result;
  if (order_.empty()) {
    result = apply(context, x, skip, relu);
  } else {
    const Var paired = permute_channels(x, order_);
    const Var paired_skip = skip.defined() ? permute_channels(skip, order_) : skip;
    result = permute_channels(apply(context, paired, paired_skip, relu), inverse_);
  }
  tape.set_scope(old_scope);
  return result;
}

Var NormLayer::apply(const ForwardContext& context, const Var& x, const Var& skip,
                     bool relu) const {
  Tape& tape = context.tape;
  const FusedPair* pair = context.composed || tape.dtype() != DType::float32 || !buffers_.empty()
                              ? nullptr
                              : norm_->fused();
  PHASOR_CHECK(pair != nullptr || precision_.is_standard(), "[", name_,
               "] norm.stat_dtype and norm.rescue are of the fused float32 norms; use float32");
  if (pair == nullptr) return compose(context, x, skip, relu);
  const Shape shape = x.shape();
  const Index pixels = shape[1] * shape[2];
  const bool by_channel = axes_ == RowAxes::channel;
  const FusedShape fused{by_channel ? shape[0] * pixels : shape[0],
                         by_channel ? 1 : pixels,
                         shape[3],
                         relu,
                         tape.kernel_set(),
                         precision_};
  auto* statistics =
      tape.arena().allocate_array<float>(static_cast<std::size_t>(pair->saved_size(fused)));
  Var inputs[Node::kMaxInputs];
  const float* parameters[kMaxParameters] = {};
  int n_inputs = 0;
  inputs[n_inputs++] = x;
  if (skip.defined()) inputs[n_inputs++] = skip;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    inputs[n_inputs] = context.parameter(parameters_[i]);
    parameters[i] = tape.data<float>(inputs[n_inputs++]);
  }
  const FusedNode* saved = tape.save(
      FusedNode{pair, fused, statistics, skip.defined(), static_cast<int>(parameters_.size())});
  const Var result =
      tape.append(kFusedNorm, shape, std::span<const Var>(inputs, n_inputs), saved, nullptr);
  pair->forward(fused, {.x = tape.data<float>(x),
                        .skip = skip.defined() ? tape.data<float>(skip) : nullptr,
                        .parameters = parameters,
                        .out = tape.data<float>(result),
                        .saved = statistics});
  tape.finish(result);
  return result;
}

Var NormLayer::compose(const ForwardContext& context, const Var& x, const Var& skip,
                       bool relu) const {
  const Shape shape = x.shape();
  const Index pixels = shape[1] * shape[2];
  const Shape rows = axes_ == RowAxes::channel ? Shape{shape[0] * pixels, 1, shape[3]}
                                               : Shape{shape[0], pixels, shape[3]};
  Var parameters[kMaxParameters];
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    parameters[i] = context.parameter(parameters_[i]);
  Var buffers[kMaxParameters];
  for (std::size_t i = 0; i < buffers_.size(); ++i) buffers[i] = context.buffer(buffers_[i]);
  LayerSink sink(context.sink, buffers_);
  NormPass pass{.norm = number_, .relu = relu, .input = x};
  const auto normalise = [&](const Var& row, Var* statistic) {
    return norm_->forward({{parameters, parameters_.size()},
                           context.training,
                           statistic,
                           {buffers, buffers_.size()},
                           &sink},
                          row);
  };
  if (context.probe != nullptr) {
    // Two rows, for a norm that takes statistics over them.
    const Tensor zeros({2, rows[1], rows[2]}, context.tape.dtype());
    normalise(context.tape.leaf(zeros, false), &pass.zero_statistic);
  }
  pass.x = reshape(x, rows);
  pass.normalised = normalise(pass.x, &pass.statistic);
  pass.out = reshape(pass.normalised, shape);
  if (skip.defined()) pass.out = pass.out + skip;
  if (relu) pass.out = phasor::relu(pass.out);
  if (context.probe != nullptr) context.probe->on_norm(pass);
  return pass.out;
}

}  // namespace phasor
