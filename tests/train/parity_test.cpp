// Ten training steps of resnet8 against PyTorch, by tests/golden/resnet8.json: made, and described,
// by scripts/make_golden.py.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/sha256.h"
#include "data/batches.h"
#include "data/synthetic.h"
#include "nn/resnet.h"
#include "norms/contract/registry.h"
#include "train/trainer.h"

using namespace phasor;
using nlohmann::json;

namespace {

const json& golden() {
  static const json document = [] {
    const char* folder = std::getenv("PHASOR_SOURCE_DIR");
    REQUIRE_MESSAGE(folder != nullptr, "run by ctest, or set PHASOR_SOURCE_DIR");
    std::ifstream file(std::string(folder) + "/tests/golden/resnet8.json");
    return json::parse(file);
  }();
  return document;
}

/// u of element `index` of the parameter `name`, in (-1, 1).
double unit(const std::string& name, std::uint64_t index) {
  std::uint64_t h = 14695981039346656037u;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::uint64_t x = h + (index + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  x ^= x >> 31;
  return static_cast<double>(2 * static_cast<std::int64_t>(x >> 11) + 1 - (std::int64_t{1} << 53)) *
         0x1p-53;
}

float initial(const std::string& name, const Shape& shape, std::uint64_t index) {
  const double u = unit(name, index);
  double value = 1 + u / 8;
  if (shape.rank() == 4)
    value = u * std::sqrt(6.0 / static_cast<double>(shape[2] * shape[3] * shape[0]));
  else if (name.starts_with("fc.") || name.ends_with(".bias"))
    value = u / 8;
  return static_cast<float>(value);
}

struct Setting {
  DType dtype = DType::float64;
  kernels::ConvChoice conv = kernels::ConvChoice::direct;
};

std::unique_ptr<Trainer> make(const json& run, const Setting& setting) {
  NormFactory norm;
  norm.spec = &find_norm(run["norm"].get<std::string>());
  norm.axes = run["axes"] == "sample" ? RowAxes::sample : RowAxes::channel;
  norm.eps = golden()["eps"];
  ResNetOptions net;
  net.arch = golden()["arch"];
  net.classes = golden()["classes"];
  TrainerOptions options;
  options.dtype = setting.dtype;
  options.kernels =
      setting.dtype == DType::float64 ? kernels::KernelSet::reference : kernels::default_set();
  options.conv = setting.conv;
  options.micro_batch = 4;
  options.threads = 2;
  options.momentum = golden()["momentum"];
  options.weight_decay = golden()["weight_decay"];
  options.wd_on_norm = golden()["wd_on_norm"];
  const std::shared_ptr<const Model> model = make_resnet(net, norm);
  CHECK(model->parameter_count() == run["parameters"]);
  auto trainer = make_trainer(model, options);
  trainer->initialise(0);
  std::vector<NamedTensor> tensors;
  for (const Parameter& parameter : model->parameters()) {
    const Shape shape = checkpoint_shape(parameter);
    Tensor values(shape, DType::float64);
    for (Index i = 0; i < shape.size(); ++i)
      values.set(i, initial(parameter.name, shape, static_cast<std::uint64_t>(i)));
    tensors.push_back({parameter.name, values});
  }
  CHECK(trainer->load(tensors).empty());
  return trainer;
}

/// Batch `step` of the leading synthetic records, in file order and as they are.
BatchSource batch_of(Index step) {
  static const Index size = golden()["batch_size"];
  static const std::vector<std::uint8_t> records =
      make_synthetic_split(kSyntheticSeed, Split::train, golden()["records"]);
  static const PixelTable<float> single(kCifar100Normalisation);
  static const PixelTable<double> precise(kCifar100Normalisation);
  const std::uint8_t* first = records.data() + step * size * kCifar100RecordBytes;
  BatchSource batch;
  batch.size = size;
  batch.image = [first](Index i, DType dtype, void* image) {
    const std::uint8_t* pixels = first + i * kCifar100RecordBytes + 2;
    if (dtype == DType::float32)
      gather(pixels, Crop{}, single, static_cast<float*>(image));
    else
      gather(pixels, Crop{}, precise, static_cast<double*>(image));
  };
  batch.label = [first](Index i) -> std::int32_t { return first[i * kCifar100RecordBytes + 1]; };
  return batch;
}

double relative(double got, double right) { return std::abs(got - right) / std::abs(right); }

}  // namespace

TEST_CASE("parity: both sides start from the same numbers") {
  for (const json& check : golden()["initial_checks"]) {
    const std::string name = check["name"];
    CAPTURE(name);
    Shape shape{100};
    if (name == "conv1.weight") shape = {16, 3, 3, 3};
    if (name == "layer2.0.shortcut.conv.weight") shape = {32, 16, 1, 1};
    CHECK(static_cast<double>(initial(name, shape, check["index"].get<std::uint64_t>())) ==
          check["value"].get<double>());
  }
  const auto records = make_synthetic_split(kSyntheticSeed, Split::train, golden()["records"]);
  CHECK(sha256_hex(records.data(), records.size()) == golden()["data_sha256"]);
}

TEST_CASE("parity: float64 follows PyTorch within 1e-9, float32 step by step and running free") {
  for (const json& run : golden()["runs"]) {
    const std::string norm = run["norm"], axes = run["axes"];
    CAPTURE(norm);
    CAPTURE(axes);
    const auto exact = make(run, {});
    const struct {
      Setting setting;
      double loss, grad_norm;  // of one step from the exact weights: absolute; relative
    } floats[] = {{{DType::float32, kernels::ConvChoice::direct}, 2e-6, 1e-3},
                  {{DType::float32, kernels::ConvChoice::winograd}, 5e-6, 2e-2}};
    std::unique_ptr<Trainer> led[2], free[2];
    for (int k = 0; k < 2; ++k) {
      led[k] = make(run, floats[k].setting);
      free[k] = make(run, floats[k].setting);
    }
    const double lr = golden()["lr"];
    for (Index step = 0; step < golden()["steps"].get<Index>(); ++step) {
      CAPTURE(step);
      const auto at = static_cast<std::size_t>(step);
      const BatchSource batch = batch_of(step);
      const double loss = run["loss"][at], grad_norm = run["grad_norm"][at];
      const std::vector<NamedTensor> before = exact->state();
      const StepMetrics metrics = exact->step(batch, lr);
      CHECK(std::abs(metrics.loss - loss) < 1e-9);
      CHECK(relative(metrics.grad_norm, grad_norm) < 1e-9);
      CHECK(std::lround(metrics.accuracy * static_cast<double>(batch.size)) ==
            run["correct"][at].get<long>());
      for (int k = 0; k < 2; ++k) {
        CAPTURE(k);
        led[k]->load(before);
        const StepMetrics one = led[k]->step(batch, lr);
        CHECK(std::abs(one.loss - loss) < floats[k].loss);
        CHECK(relative(one.grad_norm, grad_norm) < floats[k].grad_norm);
        const StepMetrics own = free[k]->step(batch, lr);
        CHECK(std::abs(own.loss - loss) < 1e-2);
        CHECK(relative(own.grad_norm, grad_norm) < 5e-2);
      }
    }
  }
}
