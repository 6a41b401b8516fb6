#include "nn/model.h"

#include "phasor/rng.h"

namespace phasor {
namespace {

std::uint32_t fnv1a(const std::string& text) {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

/// Calls body(index here, index in the checkpoint) for every element.
template <class Body>
void each_element(const Parameter& parameter, Body body) {
  const Shape& shape = parameter.shape;
  if (parameter.role == ParameterRole::linear_weight) {
    for (Index in = 0; in < shape[0]; ++in)
      for (Index out = 0; out < shape[1]; ++out) body(in * shape[1] + out, out * shape[0] + in);
  } else if (parameter.role == ParameterRole::conv_weight) {
    const Index taps = shape[0] * shape[1], c_in = shape[2], c_out = shape[3];
    for (Index tap = 0; tap < taps; ++tap)
      for (Index in = 0; in < c_in; ++in)
        for (Index out = 0; out < c_out; ++out)
          body((tap * c_in + in) * c_out + out, (out * c_in + in) * taps + tap);
  } else {
    for (Index i = 0; i < shape.size(); ++i) body(i, i);
  }
}

}  // namespace

Index Model::parameter_count() const {
  Index count = 0;
  for (const Parameter& parameter : parameters_) count += parameter.shape.size();
  return count;
}

Index Model::parameter_count(ParameterRole role) const {
  Index count = 0;
  for (const Parameter& parameter : parameters_)
    if (parameter.role == role) count += parameter.shape.size();
  return count;
}

std::string layer_of(const Parameter& parameter) {
  return parameter.name.substr(0, parameter.name.rfind('.'));
}

void initialise(const Parameter& parameter, std::uint64_t seed, Tensor& values) {
  const Initial& initial = parameter.initial;
  const std::uint32_t name = fnv1a(parameter.name);
  for (Index i = 0; i < values.size(); ++i) {
    double value = initial.scale;
    if (initial.kind != Initial::Kind::constant) {
      const auto words = draw(seed, Purpose::init, name, static_cast<std::uint64_t>(i / 4));
      const double u = uniform(words[static_cast<std::size_t>(i % 4)]);
      value *= initial.kind == Initial::Kind::normal ? normal_quantile(u) : 2 * u - 1;
    }
    values.set(i, value);
  }
}

Shape checkpoint_shape(const Parameter& parameter) {
  const Shape& shape = parameter.shape;
  if (parameter.role == ParameterRole::linear_weight) return {shape[1], shape[0]};
  if (parameter.role == ParameterRole::conv_weight) return {shape[3], shape[2], shape[0], shape[1]};
  return shape;
}

Tensor to_checkpoint_layout(const Parameter& parameter, const Tensor& values) {
  Tensor stored(checkpoint_shape(parameter), values.dtype());
  each_element(parameter, [&](Index here, Index there) { stored.set(there, values.at(here)); });
  return stored;
}

Tensor from_checkpoint_layout(const Parameter& parameter, const Tensor& stored) {
  PHASOR_CHECK(stored.shape() == checkpoint_shape(parameter), "[checkpoint] ", parameter.name,
               " must have shape ", checkpoint_shape(parameter).str(), "; got ",
               stored.shape().str());
  Tensor values(parameter.shape, stored.dtype());
  each_element(parameter, [&](Index here, Index there) { values.set(here, stored.at(there)); });
  return values;
}

}  // namespace phasor
