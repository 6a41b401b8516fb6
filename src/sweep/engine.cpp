#include "sweep/engine.h"

#include <utility>
#include <variant>

#include "config/json_text.h"
#include "nn/resnet.h"
#include "norms/contract/registry.h"

namespace phasor {
namespace {

ParamType param_type(const NormValue& value) {
  switch (value.index()) {
    case 0:
      return ParamType::number;
    case 1:
      return ParamType::integer;
    case 2:
      return ParamType::boolean;
    default:
      return ParamType::string;
  }
}

Scalar to_scalar(const NormValue& value) {
  return std::visit([](const auto& v) { return Scalar(v); }, value);
}

constexpr double kUnbounded = 1e300;  // NormKey's default limits

NormParam to_param(const NormKey& key) {
  NormParam param{key.name, param_type(key.standard), to_scalar(key.standard), {}, key.help};
  if (param.type != ParamType::number && param.type != ParamType::integer) return param;
  const bool below = key.minimum > -kUnbounded;
  const bool above = key.maximum < kUnbounded;
  if (below) param.minimum = key.minimum;
  if (above) param.maximum = key.maximum;
  if (below && above) {
    param.range = "from " + number_text(key.minimum) + " to " + number_text(key.maximum);
  } else if (below) {
    param.range = "at least " + number_text(key.minimum);
  } else if (above) {
    param.range = "at most " + number_text(key.maximum);
  }
  return param;
}

/// A parameter in the type that the norm declared: a number key may hold an integer in JSON.
NormValue to_norm_value(const Scalar& value, const NormKey& key) {
  if (std::holds_alternative<double>(key.standard) && std::holds_alternative<std::int64_t>(value)) {
    return static_cast<double>(std::get<std::int64_t>(value));
  }
  if (std::holds_alternative<std::int64_t>(key.standard) && std::holds_alternative<double>(value)) {
    return static_cast<std::int64_t>(std::get<double>(value));
  }
  return std::visit([](const auto& v) { return NormValue(v); }, value);
}

StatisticType to_statistic_type(StatDType type) {
  switch (type) {
    case StatDType::float16:
      return StatisticType::float16;
    case StatDType::bfloat16:
      return StatisticType::bfloat16;
    case StatDType::float32:
      break;
  }
  return StatisticType::float32;
}

kernels::ConvChoice to_conv(ConvChoice choice) {
  switch (choice) {
    case ConvChoice::direct:
      return kernels::ConvChoice::direct;
    case ConvChoice::winograd:
      return kernels::ConvChoice::winograd;
    case ConvChoice::automatic:
      break;
  }
  return kernels::ConvChoice::automatic;
}

kernels::KernelSet to_set(KernelChoice choice) {
  switch (choice) {
    case KernelChoice::reference:
      return kernels::KernelSet::reference;
    case KernelChoice::baseline:
      return kernels::KernelSet::baseline;
    case KernelChoice::avx2:
      return kernels::KernelSet::avx2;
    case KernelChoice::avx512:
      return kernels::KernelSet::avx512;
    case KernelChoice::automatic:
      break;
  }
  return kernels::default_set();
}

}  // namespace

NormCatalog norm_catalog() {
  NormCatalog catalog;
  for (const NormSpec& spec : norm_specs()) {
    NormEntry entry{spec.name, {}, spec.properties.narrow_statistic};
    for (const NormKey& key : spec.keys) entry.params.push_back(to_param(key));
    catalog.norms.push_back(std::move(entry));
  }
  return catalog;
}

Index class_count(DataKind kind) { return kind == DataKind::cifar10 ? 10 : 100; }

std::shared_ptr<const Model> make_cell_model(const Config& cell) {
  const NormSpec& spec = find_norm(cell.norm.name);
  NormFactory factory;
  factory.spec = &spec;
  factory.axes = cell.norm.axes == NormAxes::channel ? RowAxes::channel : RowAxes::sample;
  factory.eps = cell.norm.eps;
  factory.gamma_init = cell.norm.gamma_init;
  factory.affine = cell.norm.affine;
  factory.pairing = cell.norm.pairing;
  factory.precision = {to_statistic_type(cell.norm.stat_dtype), cell.norm.rescue};
  for (const NormKey& key : spec.keys) {
    const auto found = cell.norm.params.find(key.name);
    factory.values.emplace_back(key.name, found == cell.norm.params.end()
                                              ? key.standard
                                              : to_norm_value(found->second, key));
  }
  ResNetOptions options;
  options.arch = cell.model.arch;
  options.width = cell.model.width;
  options.projection = cell.model.shortcut == ShortcutKind::projection;
  options.pytorch_init = cell.model.init == InitKind::pytorch;
  options.classes = class_count(cell.data.kind);
  return make_resnet(options, factory);
}

void resolve_lanes(Config& cell, const Model& model) {
  // Statistics over the batch need it in one piece.
  const LaneTable table =
      model.batch_statistics() ? LaneTable{1, cell.train.batch_size} : lane_table(model);
  PHASOR_CHECK(!model.batch_statistics() || cell.train.micro_batch.is_auto() ||
                   cell.train.micro_batch.value >= cell.train.batch_size,
               "[config] /train/micro_batch: ", cell.norm.name,
               " takes its statistics over the whole batch, so it must be at least "
               "train.batch_size (",
               cell.train.batch_size, ") or auto; got ", cell.train.micro_batch.value);
  if (cell.train.lanes.is_auto()) cell.train.lanes.value = table.lanes;
  if (cell.train.micro_batch.is_auto()) cell.train.micro_batch.value = table.micro_batch;
}

kernels::KernelSet choose_kernels(KernelChoice choice) {
  const kernels::KernelSet set = to_set(choice);
  PHASOR_CHECK(kernels::available(set), "[kernels] this processor lacks the set ",
               kernels::name_of(set), "; use auto");
  return set;
}

std::string kernel_class(kernels::KernelSet set, FloatType dtype) {
  if (dtype == FloatType::float64 || set == kernels::KernelSet::reference) return "reference";
  return set == kernels::KernelSet::baseline ? "baseline" : "fma";
}

TrainerOptions trainer_options(const Config& cell, kernels::KernelSet set, int threads) {
  const TrainConfig& train = cell.train;
  TrainerOptions options;
  options.dtype = train.dtype == FloatType::float64 ? DType::float64 : DType::float32;
  options.kernels = set;
  options.conv = to_conv(train.conv);
  options.lanes = train.lanes.value;
  options.micro_batch = train.micro_batch.value;
  options.threads = threads;
  options.momentum = train.momentum;
  options.dampening = train.dampening;
  options.weight_decay = train.weight_decay;
  options.wd_on_norm = train.wd_on_norm;
  options.nesterov = train.nesterov;
  options.clip_norm = train.clip_norm;
  return options;
}

}  // namespace phasor
