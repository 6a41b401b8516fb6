#include "check/norm_runs.h"

#include <cstring>

#include "check/inputs.h"

namespace phasor::check {
namespace {

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
  result.buffers = builder.buffers();
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

FusedPass::Guarded::Guarded(const Tensor& value)
    : tensor_(value.empty() ? Tensor() : value.to(DType::float32)),
      copy_(tensor_.empty() ? Tensor() : tensor_.clone()) {}

float* FusedPass::Guarded::data() { return tensor_.empty() ? nullptr : tensor_.data<float>(); }

bool FusedPass::Guarded::untouched() const { return tensor_.empty() || same_bytes(tensor_, copy_); }

FusedPass::FusedPass(const Norm& norm, const NormCase& norm_case, kernels::KernelSet set,
                     bool accumulate, Sharing sharing)
    : pair_(*norm.fused()),
      tensor_shape_(norm_case.x.shape()),
      has_skip_(!norm_case.skip.empty()),
      accumulate_(accumulate),
      in_place_(sharing == Sharing::in_place),
      x_(norm_case.x),
      skip_(norm_case.skip),
      dy_(norm_case.dy),
      out_(tensor_shape_, DType::float32) {
  shape_ = {tensor_shape_[0],   tensor_shape_[1], tensor_shape_[2], norm_case.relu, set,
            norm_case.precision};
  statistics_ = Tensor({pair_.saved_size(shape_)}, DType::float32);
  for (const Tensor& parameter : norm_case.parameters) {
    parameters_.emplace_back(parameter);
    dparameters_.emplace_back(parameter.shape(), DType::float32);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parameter_data_.push_back(parameters_[i].data());
    dparameter_data_.push_back(dparameters_[i].data<float>());
  }
}

void FusedPass::forward() {
  float* out = in_place_ && has_skip_ ? skip_.data() : out_.data<float>();
  pair_.forward(shape_, {.x = x_.data(),
                         .skip = skip_.data(),
                         .parameters = parameter_data_.data(),
                         .out = out,
                         .saved = statistics_.data<float>()});
}

NormResult FusedPass::backward() {
  const float* out = in_place_ && has_skip_ ? skip_.data() : out_.data<float>();
  Tensor dx_memory = accumulate_ ? ones(tensor_shape_) : Tensor(tensor_shape_, DType::float32);
  Tensor dskip_memory(tensor_shape_, DType::float32);
  float* dskip = !has_skip_ ? nullptr : in_place_ ? dy_.data() : dskip_memory.data<float>();
  float* dx = in_place_ && !has_skip_ && !accumulate_ ? dy_.data() : dx_memory.data<float>();
  pair_.backward(shape_, {.x = x_.data(),
                          .out = out,
                          .saved = statistics_.data<float>(),
                          .parameters = parameter_data_.data(),
                          .dy = dy_.data(),
                          .dx = dx,
                          .dskip = dskip,
                          .dparameters = dparameter_data_.data(),
                          .accumulate = accumulate_});

  NormResult result;
  const auto n = static_cast<std::size_t>(tensor_shape_.size());
  result.out.assign(out, out + n);
  result.dx.assign(dx, dx + n);
  if (has_skip_) result.dskip.assign(dskip, dskip + n);
  for (const Tensor& gradient : dparameters_) result.dparameters.push_back(gradient.values());
  result.inputs_untouched = x_.untouched();
  for (const Guarded& parameter : parameters_)
    result.inputs_untouched = result.inputs_untouched && parameter.untouched();
  if (!in_place_)
    result.inputs_untouched = result.inputs_untouched && skip_.untouched() && dy_.untouched();
  return result;
}

NormResult run_fused(const Norm& norm, const NormCase& norm_case, kernels::KernelSet set,
                     bool accumulate, Sharing sharing) {
  FusedPass pass(norm, norm_case, set, accumulate, sharing);
  pass.forward();
  return pass.backward();
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
