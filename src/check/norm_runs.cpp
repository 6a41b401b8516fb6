#include "check/norm_runs.h"

#include <cstring>

#include "check/inputs.h"

namespace phasor::check {
namespace {

/// A float32 copy, and whether somebody wrote to it.
class Guarded {
 public:
  explicit Guarded(const Tensor& value)
      : tensor_(value.empty() ? Tensor() : value.to(DType::float32)),
        copy_(tensor_.empty() ? Tensor() : tensor_.clone()) {}
  float* data() { return tensor_.empty() ? nullptr : tensor_.data<float>(); }
  bool untouched() const {
    return tensor_.empty() ||
           std::memcmp(tensor_.raw(), copy_.raw(),
                       static_cast<std::size_t>(tensor_.size()) * sizeof(float)) == 0;
  }

 private:
  Tensor tensor_, copy_;
};

bool same_bytes(const Tensor& a, const Tensor& b) {
  return std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.size()) * size_of(a.dtype())) ==
         0;
}

Tensor ones(const Shape& shape) {
  Tensor tensor(shape, DType::float32);
  for (Index i = 0; i < shape.size(); ++i) tensor.set(i, 1);
  return tensor;
}

}  // namespace

NormUnderTest make_norm(const NormSpec& spec, const LayerKeys& keys, const NormValues& values) {
  NormBuilder builder("check", keys.channels, keys.eps, keys.gamma_init, keys.affine,
                      resolve_values(spec, values));
  NormUnderTest result;
  result.norm = spec.make(builder);
  result.parameters = builder.parameters();
  return result;
}

NormResult run_composed(const Norm& norm, const NormCase& norm_case, DType dtype,
                        kernels::KernelSet set) {
  Tape tape(dtype, true, set);
  const Tensor input = norm_case.x.to(dtype);
  const Var x = tape.leaf(input);
  std::vector<Var> parameters;
  for (const Tensor& parameter : norm_case.parameters) parameters.push_back(tape.leaf(parameter));
  Var out = norm.forward(NormContext(parameters, true), x);
  PHASOR_CHECK(out.shape() == x.shape(), "[norm] the result has the shape of x; got ",
               out.shape().str(), " for ", x.shape().str());
  Var skip;
  if (!norm_case.skip.empty()) {
    skip = tape.leaf(norm_case.skip);
    out = out + skip;
  }
  if (norm_case.relu) out = relu(out);
  const Tensor value = out.value();
  tape.backward(sum(out * tape.leaf(norm_case.dy, false)));

  NormResult result;
  result.out = value.values();
  result.dx = x.grad().values();
  if (skip.defined()) result.dskip = skip.grad().values();
  result.inputs_untouched = same_bytes(x.value(), input);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    result.dparameters.push_back(parameters[i].grad().values());
    result.inputs_untouched = result.inputs_untouched &&
                              same_bytes(parameters[i].value(), norm_case.parameters[i].to(dtype));
  }
  return result;
}

NormResult run_fused(const Norm& norm, const NormCase& norm_case, kernels::KernelSet set,
                     bool accumulate, Sharing sharing) {
  const FusedPair& pair = *norm.fused();
  const Shape& shape = norm_case.x.shape();
  const FusedShape fused{shape[0], shape[1], shape[2], norm_case.relu, set};
  const bool has_skip = !norm_case.skip.empty();
  const bool in_place = sharing == Sharing::in_place;

  Guarded x(norm_case.x), skip(norm_case.skip), dy(norm_case.dy);
  std::vector<Guarded> parameters;
  std::vector<const float*> parameter_data;
  std::vector<Tensor> dparameters;
  std::vector<float*> dparameter_data;
  for (const Tensor& parameter : norm_case.parameters) {
    parameters.emplace_back(parameter);
    dparameters.emplace_back(parameter.shape(), DType::float32);
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameter_data.push_back(parameters[i].data());
    dparameter_data.push_back(dparameters[i].data<float>());
  }
  Tensor out_memory(shape, DType::float32);
  float* out = in_place && has_skip ? skip.data() : out_memory.data<float>();
  const Tensor statistics({pair.saved_size(fused)}, DType::float32);
  float* saved = const_cast<float*>(statistics.data<float>());
  pair.forward(fused, {.x = x.data(),
                       .skip = skip.data(),
                       .parameters = parameter_data.data(),
                       .out = out,
                       .saved = saved});

  Tensor dx_memory = accumulate ? ones(shape) : Tensor(shape, DType::float32);
  Tensor dskip_memory(shape, DType::float32);
  float* dskip = !has_skip ? nullptr : in_place ? dy.data() : dskip_memory.data<float>();
  float* dx = in_place && !has_skip && !accumulate ? dy.data() : dx_memory.data<float>();
  pair.backward(fused, {.x = x.data(),
                        .out = out,
                        .saved = saved,
                        .parameters = parameter_data.data(),
                        .dy = dy.data(),
                        .dx = dx,
                        .dskip = dskip,
                        .dparameters = dparameter_data.data(),
                        .accumulate = accumulate});

  NormResult result;
  const auto n = static_cast<std::size_t>(shape.size());
  result.out.assign(out, out + n);
  result.dx.assign(dx, dx + n);
  if (has_skip) result.dskip.assign(dskip, dskip + n);
  for (const Tensor& gradient : dparameters) result.dparameters.push_back(gradient.values());
  result.inputs_untouched = x.untouched();
  for (const Guarded& parameter : parameters)
    result.inputs_untouched = result.inputs_untouched && parameter.untouched();
  if (!in_place)
    result.inputs_untouched = result.inputs_untouched && skip.untouched() && dy.untouched();
  return result;
}

NormResult run_float(const Norm& norm, const NormCase& norm_case, kernels::KernelSet set) {
  return norm.fused() != nullptr ? run_fused(norm, norm_case, set)
                                 : run_composed(norm, norm_case, DType::float32, set);
}

double dx_error(const NormCase& norm_case, const NormResult& got, const NormResult& exact) {
  const double x = length(norm_case.x.values());
  const double terms = x > 0 ? length(norm_case.dy.values()) * length(exact.out) / x : 0;
  return relative_error(got.dx, exact.dx, terms);
}

std::vector<kernels::KernelSet> available_sets() {
  using kernels::KernelSet;
  std::vector<KernelSet> sets;
  for (const KernelSet set :
       {KernelSet::reference, KernelSet::baseline, KernelSet::avx2, KernelSet::avx512})
    if (kernels::available(set)) sets.push_back(set);
  return sets;
}

}  // namespace phasor::check
