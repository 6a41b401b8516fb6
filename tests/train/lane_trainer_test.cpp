#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "nn/resnet.h"
#include "norms/contract/registry.h"
#include "phasor/ops.h"
#include "phasor/rng.h"
#include "train/trainer.h"

using namespace phasor;

namespace {

constexpr Index kImage = 32 * 32 * 3;

std::shared_ptr<const Model> resnet8(const std::string& norm,
                                     const StatisticPrecision& precision = {},
                                     RowAxes axes = RowAxes::channel) {
  ResNetOptions options;
  options.arch = "resnet8";
  NormFactory factory;
  factory.spec = &find_norm(norm);
  for (const NormKey& key : factory.spec->keys) factory.values.emplace_back(key.name, key.standard);
  factory.precision = precision;
  factory.axes = axes;
  return make_resnet(options, factory);
}

template <class T>
void fill(Index sample, T* image) {
  for (Index i = 0; i < kImage; ++i)
    image[i] =
        static_cast<T>(4 * uniform(draw(1, Purpose::check, static_cast<std::uint32_t>(sample),
                                        static_cast<std::uint64_t>(i))[0]) -
                       2);
}

BatchSource batch_of(Index size) {
  BatchSource batch;
  batch.size = size;
  batch.image = [](Index i, DType dtype, void* image) {
    dispatch(dtype, [&](auto zero) { fill(i, static_cast<decltype(zero)*>(image)); });
  };
  batch.label = [](Index i) { return static_cast<std::int32_t>((i * 37) % 100); };
  return batch;
}

TrainerOptions options_with(int threads, kernels::KernelSet set = kernels::default_set()) {
  TrainerOptions options;
  options.kernels = set;
  options.threads = threads;
  options.lanes = 4;
  options.micro_batch = 2;
  return options;
}

std::vector<unsigned char> bytes_of(const Trainer& trainer) {
  std::vector<unsigned char> bytes;
  for (const NamedTensor& tensor : trainer.state()) {
    const auto* data = static_cast<const unsigned char*>(tensor.value.raw());
    bytes.insert(bytes.end(), data,
                 data + tensor.value.size() * static_cast<Index>(size_of(tensor.value.dtype())));
  }
  return bytes;
}

/// State after three steps on batches of different sizes, and the metrics on the way.
std::vector<unsigned char> train(const std::string& norm, const TrainerOptions& options) {
  const auto trainer = make_trainer(resnet8(norm), options);
  trainer->initialise(3);
  std::vector<unsigned char> bytes;
  for (const Index size : {16, 7, 1, 3}) {
    const StepMetrics metrics = trainer->step(batch_of(size), 0.05);
    for (const double value : {metrics.loss, metrics.accuracy, metrics.grad_norm}) {
      unsigned char image[sizeof value];
      std::memcpy(image, &value, sizeof value);
      bytes.insert(bytes.end(), image, image + sizeof value);
    }
  }
  const auto state = bytes_of(*trainer);
  bytes.insert(bytes.end(), state.begin(), state.end());
  return bytes;
}

}  // namespace

TEST_CASE("B38: any number of threads gives the same bytes") {
  for (const char* norm : {"layernorm", "rmsnorm", "mrsnorm"}) {
    CAPTURE(norm);
    const auto one = train(norm, options_with(1));
    for (const int threads : {2, 3, 7}) {
      CAPTURE(threads);
      CHECK(train(norm, options_with(threads)) == one);
    }
  }
}

TEST_CASE("B38: AVX2+FMA and AVX-512 give the same bytes, direct and by Winograd") {
  if (!kernels::available(kernels::KernelSet::avx512)) {
    MESSAGE("skipped: this processor has no AVX-512");
    return;
  }
  for (const auto conv : {kernels::ConvChoice::automatic, kernels::ConvChoice::direct}) {
    for (const char* norm : {"layernorm", "rmsnorm", "mrsnorm"}) {
      CAPTURE(norm);
      TrainerOptions narrow = options_with(2, kernels::KernelSet::avx2);
      TrainerOptions wide = options_with(1, kernels::KernelSet::avx512);
      narrow.conv = wide.conv = conv;
      CHECK(train(norm, narrow) == train(norm, wide));
    }
  }
}

TEST_CASE("a step is SGD on the mean loss of the whole batch") {
  const auto model = resnet8("mrsnorm");
  TrainerOptions options = options_with(2);
  options.dtype = DType::float64;
  options.micro_batch = 3;
  const auto trainer = make_trainer(model, options);
  trainer->initialise(5);
  const BatchSource batch = batch_of(11);

  Tape tape(DType::float64);
  std::vector<Var> leaves;
  for (const Parameter& parameter : model->parameters()) {
    Tensor values(parameter.shape, DType::float64);
    initialise(parameter, 5, values);
    leaves.push_back(tape.leaf(values));
  }
  Tensor images({batch.size, 32, 32, 3}, DType::float64);
  std::vector<std::int32_t> labels;
  for (Index i = 0; i < batch.size; ++i) {
    batch.image(i, DType::float64, images.data<double>() + i * kImage);
    labels.push_back(batch.label(i));
  }
  const Var logits = model->forward({tape}, tape.leaf(images, false));
  const Var loss = mean(softmax_cross_entropy(logits, labels));
  tape.backward(loss);

  const double lr = 0.1;
  const StepMetrics metrics = trainer->step(batch, lr);
  CHECK(metrics.loss == doctest::Approx(loss.value().at(0)).epsilon(1e-12));
  double squares = 0;
  for (const Var& leaf : leaves)
    for (const double g : leaf.grad().values()) squares += g * g;
  CHECK(metrics.grad_norm == doctest::Approx(std::sqrt(squares)).epsilon(1e-10));

  const auto state = trainer->state();
  for (std::size_t p = 0; p < leaves.size(); ++p) {
    const Parameter& parameter = model->parameters()[p];
    CAPTURE(parameter.name);
    const Tensor before = leaves[p].value(), gradient = leaves[p].grad();
    Tensor expected(parameter.shape, DType::float64);
    for (Index i = 0; i < before.size(); ++i)
      expected.set(i, before.at(i) - lr * (gradient.at(i) + options.weight_decay * before.at(i)));
    const auto right = to_checkpoint_layout(parameter, expected).values();
    const auto got = state[p].value.values();
    CHECK(state[p].name == parameter.name);
    double worst = 0;
    for (std::size_t i = 0; i < right.size(); ++i)
      worst = std::max(worst, std::abs(right[i] - got[i]));
    CHECK(worst < 1e-10);
  }
}

TEST_CASE("B32: weight decay reaches norms only when asked") {
  for (const bool decay : {true, false}) {
    TrainerOptions options = options_with(1);
    options.wd_on_norm = decay;
    options.weight_decay = 0.5;
    options.momentum = 0;
    options.dtype = DType::float64;
    const auto trainer = make_trainer(resnet8("rmsnorm"), options);
    trainer->initialise(0);
    // With the head's weights at zero, no gradient reaches the norms.
    std::vector<NamedTensor> tensors = trainer->state();
    for (NamedTensor& tensor : tensors)
      if (tensor.name == "fc.weight") tensor.value = Tensor(tensor.value.shape(), DType::float64);
    trainer->load(tensors);
    trainer->step(batch_of(4), 0.1);
    for (const NamedTensor& tensor : trainer->state())
      if (tensor.name == "norm1.weight")
        CHECK(tensor.value.at(0) == doctest::Approx(decay ? 1 - 0.1 * 0.5 : 1.0).epsilon(1e-14));
  }
}

TEST_CASE("clipping scales the whole gradient to the given norm") {
  const auto model = resnet8("rmsnorm");
  TrainerOptions options = options_with(1);
  options.dtype = DType::float64;
  options.weight_decay = 0;
  options.momentum = 0;
  const auto change = [&](std::optional<double> clip) {
    options.clip_norm = clip;
    const auto trainer = make_trainer(model, options);
    trainer->initialise(1);
    const auto before = trainer->state();
    const StepMetrics metrics = trainer->step(batch_of(5), 1.0);
    const auto after = trainer->state();
    double squares = 0;
    for (std::size_t p = 0; p < after.size(); ++p)
      for (Index i = 0; i < after[p].value.size(); ++i)
        squares += std::pow(after[p].value.at(i) - before[p].value.at(i), 2);
    return std::pair{std::sqrt(squares), metrics.grad_norm};
  };
  const auto [free, norm] = change(std::nullopt);
  CHECK(free == doctest::Approx(norm).epsilon(1e-9));
  const auto [clipped, reported] = change(0.25);
  CHECK(clipped == doctest::Approx(0.25).epsilon(1e-5));
  CHECK(reported == doctest::Approx(norm).epsilon(1e-12));
  CHECK(change(1e6).first == doctest::Approx(norm).epsilon(1e-9));
}

TEST_CASE("state goes out and comes back, momentum included") {
  const auto model = resnet8("layernorm");
  const auto a = make_trainer(model, options_with(2)), b = make_trainer(model, options_with(1));
  a->initialise(1);
  b->initialise(2);
  a->step(batch_of(8), 0.1);
  CHECK(b->load(a->state()).empty());
  CHECK(bytes_of(*a) == bytes_of(*b));
  a->step(batch_of(9), 0.1);
  b->step(batch_of(9), 0.1);
  CHECK(bytes_of(*a) == bytes_of(*b));
  auto part = a->state();
  part.erase(part.begin());
  part.resize(model->parameters().size() - 1);  // no momentum
  CHECK(b->load(part) == std::vector<std::string>{"conv1.weight"});
  part[0].name = "nonsense";
  CHECK_THROWS_WITH_AS(b->load(part), doctest::Contains("'nonsense'"), Error);
}

TEST_CASE("buffers are updated once a step, saved, loaded, and used by evaluation alone") {
  const auto model = resnet8("batchnorm");
  CHECK(model->batch_statistics());
  REQUIRE(model->buffers().size() == 18);  // mean and variance of nine norms
  TrainerOptions options = options_with(1);
  options.lanes = 1;
  options.micro_batch = 8;
  const auto a = make_trainer(model, options), b = make_trainer(model, options);
  a->initialise(1);
  const auto tensor = [](const Trainer& trainer, const std::string& name) {
    for (const NamedTensor& entry : trainer.state())
      if (entry.name == name) return entry.value.to(DType::float64).values();
    FAIL("no tensor " << name);
    return std::vector<double>{};
  };
  const std::vector<double> start = tensor(*a, "norm1.running_mean");
  CHECK(start == std::vector<double>(16, 0.0));
  const Metrics untrained = a->evaluate(batch_of(8));
  CHECK(a->evaluate(batch_of(8)).loss == untrained.loss);
  CHECK(tensor(*a, "norm1.running_mean") == start);

  a->step(batch_of(8), 0.0);  // the weights stay: the statistics of the batch do too
  const std::vector<double> once = tensor(*a, "norm1.running_mean");
  a->step(batch_of(8), 0.0);
  const std::vector<double> twice = tensor(*a, "norm1.running_mean");
  for (std::size_t i = 0; i < once.size(); ++i) {
    CHECK(once[i] != 0);
    CHECK(twice[i] == doctest::Approx(1.9 * once[i]).epsilon(1e-6));  // 0.9 once + 0.1 mean
  }
  CHECK(a->evaluate(batch_of(8)).loss != untrained.loss);

  CHECK(b->load(a->state()).empty());
  CHECK(bytes_of(*a) == bytes_of(*b));
  CHECK(a->evaluate(batch_of(5)).loss == b->evaluate(batch_of(5)).loss);
  a->step(batch_of(8), 0.1);
  b->step(batch_of(8), 0.1);
  CHECK(bytes_of(*a) == bytes_of(*b));

  auto part = b->state();
  std::erase_if(part, [](const NamedTensor& t) { return t.name == "norm1.running_var"; });
  CHECK(b->load(part) == std::vector<std::string>{"norm1.running_var"});
  CHECK_THROWS_WITH_AS(a->step(batch_of(9), 0.1), doctest::Contains("in one micro-batch"), Error);
}

TEST_CASE("a step that is not finite leaves the buffers as they were") {
  TrainerOptions options = options_with(1);
  options.micro_batch = 8;
  const auto trainer = make_trainer(resnet8("batchnorm"), options);
  trainer->initialise(1);
  BatchSource poisoned = batch_of(8);
  poisoned.image = [](Index i, DType dtype, void* image) {
    dispatch(dtype, [&](auto zero) {
      using T = decltype(zero);
      fill(i, static_cast<T*>(image));
      static_cast<T*>(image)[5] = std::numeric_limits<T>::infinity();
    });
  };
  const auto before = bytes_of(*trainer);
  CHECK_FALSE(trainer->step(poisoned, 0.1).finite);
  CHECK(bytes_of(*trainer) == before);
}

TEST_CASE("an error inside a lane reaches the caller and names the sample") {
  const auto trainer = make_trainer(resnet8("rmsnorm"), options_with(2));
  trainer->initialise(0);
  BatchSource batch = batch_of(8);
  batch.label = [](Index i) { return i == 5 ? 100 : 0; };
  CHECK_THROWS_AS(trainer->step(batch, 0.1), Error);
  CHECK_NOTHROW(trainer->step(batch_of(8), 0.1));
}

TEST_CASE("B28: a non-finite step changes nothing and is located") {
  const auto trainer = make_trainer(resnet8("rmsnorm"), options_with(2));
  trainer->initialise(0);
  std::vector<NamedTensor> tensors = trainer->state();
  for (NamedTensor& tensor : tensors)
    if (tensor.name == "layer2.0.norm2.weight")
      for (Index i = 0; i < tensor.value.size(); ++i) tensor.value.set(i, 3e38);
  trainer->load(tensors);
  const auto before = bytes_of(*trainer);
  const StepMetrics metrics = trainer->step(batch_of(8), 0.1);
  CHECK_FALSE(metrics.finite);
  CHECK(bytes_of(*trainer) == before);
  const auto where = trainer->locate_nonfinite(batch_of(8));
  REQUIRE(where);
  CHECK(where->layer == "layer2.0.norm2");
  CHECK(where->pass == "forward");
  CHECK(where->kind != "");
  for (NamedTensor& tensor : tensors)
    if (tensor.name == "conv1.weight")
      tensor.value.set(0, std::numeric_limits<double>::quiet_NaN());
  trainer->load(tensors);
  const auto weights = trainer->locate_nonfinite(batch_of(8));
  REQUIRE(weights);
  CHECK(weights->pass == "update");
  CHECK(weights->tensor == "conv1.weight");
  CHECK(weights->kind == "nan");
}

TEST_CASE(
    "B02: an overflow in a float16 statistic is located, and rescued where that is asked for") {
  const StatisticPrecision plain{StatisticType::float16, false};
  const auto large_stem = [](const std::string& norm, const StatisticPrecision& precision) {
    auto trainer = make_trainer(resnet8(norm, precision), options_with(2));
    trainer->initialise(0);
    std::vector<NamedTensor> tensors = trainer->state();
    for (NamedTensor& tensor : tensors)
      if (tensor.name == "conv1.weight")
        for (Index i = 0; i < tensor.value.size(); ++i) tensor.value.set(i, 5000);
    trainer->load(tensors);
    return trainer;
  };
  // All channels are alike: numbers up to 27 * 2 * 5000 overflow as elements (NaN), or in the sum.
  const auto trainer = large_stem("layernorm", plain);
  CHECK_FALSE(trainer->step(batch_of(8), 0.1).finite);
  const auto where = trainer->locate_nonfinite(batch_of(8));
  REQUIRE(where);
  CHECK(where->layer == "norm1");
  CHECK(where->tensor == "norm");
  CHECK(where->pass == "forward");
  CHECK(where->kind == "nan");
  for (const char* norm : {"layernorm", "rmsnorm", "mrsnorm"}) {
    CAPTURE(norm);
    CHECK(large_stem(norm, {StatisticType::float16, true})->step(batch_of(8), 0.1).finite);
    CHECK(large_stem(norm, {StatisticType::bfloat16, false})->step(batch_of(8), 0.1).finite);
  }
}

TEST_CASE("emulated statistics: any number of threads, both axes, close to the plain ones") {
  for (const RowAxes axes : {RowAxes::channel, RowAxes::sample}) {
    for (const char* norm : {"layernorm", "rmsnorm", "mrsnorm"}) {
      CAPTURE(norm);
      const StatisticPrecision half{StatisticType::float16, true};
      const StatisticPrecision single{StatisticType::float32, false};
      const auto loss = [&](const StatisticPrecision& precision, int threads) {
        const auto trainer = make_trainer(resnet8(norm, precision, axes), options_with(threads));
        trainer->initialise(3);
        trainer->step(batch_of(8), 0.05);
        return trainer->step(batch_of(8), 0.05).loss;
      };
      const double standard = loss({}, 1);
      CHECK(loss(half, 1) == loss(half, 3));
      CHECK(loss(single, 2) == doctest::Approx(standard).epsilon(1e-5));
      // A row of 16,384 numbers is summed one by one: float16 stops at some thousands.
      if (axes == RowAxes::channel)
        CHECK(loss(half, 2) == doctest::Approx(standard).epsilon(1e-2));
      else
        CHECK(std::isfinite(loss(half, 2)));
    }
  }
}

TEST_CASE("evaluation weighs every sample alike, whatever the threads") {
  const auto model = resnet8("mrsnorm");
  const auto one = make_trainer(model, options_with(1)),
             three = make_trainer(model, options_with(3));
  one->initialise(0);
  three->initialise(0);
  const Metrics all = one->evaluate(batch_of(17)), same = three->evaluate(batch_of(17));
  CHECK(all.samples == 17);
  CHECK(all.loss == same.loss);
  CHECK(all.accuracy == same.accuracy);
  const StepMetrics step = one->step(batch_of(17), 0.0);
  CHECK(step.loss == doctest::Approx(all.loss).epsilon(1e-6));
}
