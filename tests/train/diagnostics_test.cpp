// The numbers of train.diagnostics against values worked out by hand, and what they must not
// change.
#include "train/diagnostics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "nn/layers.h"
#include "norms/contract/registry.h"
#include "phasor/ops.h"
#include "phasor/rng.h"
#include "train/norm_observer.h"
#include "train/trainer.h"

using namespace phasor;
using doctest::Approx;

namespace {

/// A 1x1 convolution, a norm over its channels, and a ReLU.
class OneNorm final : public Model {
 public:
  OneNorm(const std::string& norm, Index channels, double eps, bool relu,
          const std::string& pairing)
      : relu_(relu) {
    ModelBuilder builder(*this);
    const Extent extent{1, 1, channels};
    conv_ = std::make_unique<Conv2d>(builder, "conv", extent, channels, 1, 1, false);
    NormFactory factory;
    factory.spec = &find_norm(norm);
    factory.eps = eps;
    factory.pairing = pairing;
    norm_ = std::make_unique<NormLayer>(builder, "norm", factory, extent);
  }
  Var forward(const ForwardContext& context, const Var& images) const override {
    return norm_->forward(context, conv_->forward(context, images), {}, relu_);
  }

 private:
  bool relu_;
  std::unique_ptr<Conv2d> conv_;
  std::unique_ptr<NormLayer> norm_;
};

/// The diagnostics of the norm on rows of `channels` numbers, with the given gains; the convolution
/// is the identity and the loss the sum of what the layer gives.
NormDiagnostics observe(const std::string& norm, Index channels, double eps,
                        const std::vector<double>& rows, const std::vector<double>& gains,
                        bool relu = true, const std::string& pairing = "adjacent") {
  const OneNorm model(norm, channels, eps, relu, pairing);
  Tape tape(DType::float64);
  Tensor identity({1, 1, channels, channels}, DType::float64);
  for (Index c = 0; c < channels; ++c) identity.set(c * channels + c, 1);
  tape.leaf(identity);
  std::vector<double> values(static_cast<std::size_t>(model.block_size()));
  if (!gains.empty()) {
    const Parameter& gain = model.parameters()[1];
    tape.leaf(Tensor(gain.shape, gains));
    std::copy(gains.begin(), gains.end(), values.begin() + gain.offset);
  }
  NormObserver<double> observer(model);
  tape.set_observer(&observer);
  const Index count = static_cast<Index>(rows.size()) / channels;
  const Var out = model.forward({tape, true, true, &observer},
                                tape.leaf(Tensor({count, 1, 1, channels}, rows), false));
  tape.backward(sum(out));
  return observer.result(values.data()).at(0);
}

double modulus(double x, double y) { return std::sqrt(x * x + y * y); }

constexpr double kPi = 3.141592653589793;

std::shared_ptr<const Model> resnet8(const std::string& norm) {
  ResNetOptions options;
  options.arch = "resnet8";
  NormFactory factory;
  factory.spec = &find_norm(norm);
  for (const NormKey& key : factory.spec->keys) factory.values.emplace_back(key.name, key.standard);
  return make_resnet(options, factory);
}

BatchSource batch_of(Index size) {
  BatchSource batch;
  batch.size = size;
  batch.image = [](Index i, DType dtype, void* image) {
    dispatch(dtype, [&](auto zero) {
      using T = decltype(zero);
      for (Index k = 0; k < 32 * 32 * 3; ++k)
        static_cast<T*>(image)[k] =
            static_cast<T>(4 * uniform(draw(1, Purpose::check, static_cast<std::uint32_t>(i),
                                            static_cast<std::uint64_t>(k))[0]) -
                           2);
    });
  };
  batch.label = [](Index i) { return static_cast<std::int32_t>((i * 37) % 100); };
  return batch;
}

std::unique_ptr<Trainer> trainer_of(const std::string& norm, int threads) {
  TrainerOptions options;
  options.kernels = kernels::default_set();
  options.threads = threads;
  options.lanes = 4;
  const auto model = resnet8(norm);
  options.micro_batch = model->batch_statistics() ? 32 : 3;
  auto trainer = make_trainer(model, options);
  trainer->initialise(3);
  return trainer;
}

std::string text_of(const Diagnostics& diagnostics) {
  std::string text;
  append_diagnostics(text, diagnostics);
  return text;
}

}  // namespace

TEST_CASE("the numbers of mrsnorm at eps 0 are those of the formulas") {
  // Row 1: m = 5, 10, S = 7.5. Row 2: m = 0, 5, S = 2.5. The second gain has changed its sign, so
  // that out = (.4, .533, -1.6, -2.133) and (0, 0, 2.4, -3.2); the ReLU leaves channels 0, 1 and 2.
  const NormDiagnostics d = observe("mrsnorm", 4, 0, {3, 4, 6, 8, 0, 0, -3, 4}, {1, -2});
  CHECK(d.statistic_min == Approx(2.5));
  CHECK(d.statistic_mean == Approx(5));
  CHECK(d.statistic_max == Approx(7.5));
  CHECK(d.eps_share == 0);
  CHECK(d.outlier_in == Approx((8 / std::sqrt(31.25) + 4 / 2.5) / 2));
  const double out_rms =
      std::sqrt((0.16 + 0.64 * 0.64 / 1.44 + 2.56 + 6.4 * 6.4 / 9) / 4);  // .5333 is .64/1.2
  CHECK(d.outlier_out == Approx((6.4 / 3 / out_rms + 3.2 / 2) / 2));
  CHECK(d.gain_min == -2);
  CHECK(d.gain_max == 1);
  CHECK(d.gain_flips == 1);
  CHECK(d.phase_norm == Approx((0 + kPi + kPi) / 3));
  // (2.4, 0) against (-3, 4); the second phasor of row 1 is zero after the ReLU.
  CHECK(d.phase_relu == Approx((0 + std::acos(-0.6)) / 2));
  CHECK(d.dead_relu == 0.25);

  // Row 1: g = (1, 1, 0, 0), A = 7, A/S = 14/15. Row 2: g = (0, 0, 1, 0), A = 6, A/S = 2.4.
  const double pull = 14.0 / 15 / 15;  // (A/S) / (P S)
  const double a = modulus(1 / 7.5 - 0.6 * pull, 1 / 7.5 - 0.8 * pull), b = pull;
  const double c = 0, e = modulus(-2 / 2.5 + 0.6 * 2.4 / 5, -0.8 * 2.4 / 5);
  CHECK(d.phasor_grad == Approx((a + b + c + e) / 4));
  CHECK(d.phasor_grad_cov == Approx(((a - b) / (a + b) + 1) / 2));
}

TEST_CASE("phasors are those of the norm's pairing") {
  const NormDiagnostics adjacent = observe("mrsnorm", 4, 0, {3, 4, 6, 8}, {1, -2});
  const NormDiagnostics half = observe("mrsnorm", 4, 0, {3, 6, 4, 8}, {1, -2}, true, "half");
  for (const auto& quantity : kNormQuantities) {
    CAPTURE(quantity.name);
    CHECK(half.*quantity.value == adjacent.*quantity.value);
  }
}

TEST_CASE("a row dominated by eps gives less than twice what a row of zeros gives") {
  // eps 16: moduli 4 of zero, 5 of (0, 3) and (3, 0), 8.5 of (7.5, 0) and (0, 7.5).
  const std::vector<double> rows = {0, 0, 0, 0, 0, 3, 3, 0, 7.5, 0, 0, 7.5};
  const NormDiagnostics d = observe("mrsnorm", 4, 16, rows, {1, 1});
  CHECK(d.statistic_min == Approx(4));
  CHECK(d.statistic_mean == Approx(17.5 / 3));
  CHECK(d.statistic_max == Approx(8.5));
  CHECK(d.eps_share == Approx(2.0 / 3));
  CHECK(d.outlier_in == Approx(std::sqrt(2.0)));  // the row of zeros has none
  CHECK(d.phase_norm == 0);
  CHECK(d.dead_relu == 0);
}

TEST_CASE("other norms give the statistic they divide by, or none") {
  // Mean 2, deviations -1, 1, -2, 2, variance 2.5; mean square 6.5; mean |x| 2.
  const std::vector<double> row = {1, 3, 0, 4};
  CHECK(observe("layernorm", 4, 0, row, {}, false).statistic_mean == Approx(std::sqrt(2.5)));
  CHECK(observe("rmsnorm", 4, 0.5, row, {1, 1, 1, 1}).statistic_mean == Approx(std::sqrt(7.0)));
  CHECK(observe("l1norm", 4, 0.5, row, {1, 1, 1, 1}).statistic_mean == Approx(2.5));
  const NormDiagnostics none = observe("none", 4, 0.5, row, {}, false);
  for (const double absent :
       {none.statistic_min, none.statistic_mean, none.statistic_max, none.eps_share, none.gain_min,
        none.gain_flips, none.dead_relu, none.phase_relu})
    CHECK(std::isnan(absent));
  CHECK(none.phase_norm == 0);
  CHECK(none.phasor_grad == Approx(std::sqrt(2.0)));
  CHECK(none.phasor_grad_cov == Approx(0));
  // No phasors where the number of channels is odd.
  const NormDiagnostics odd = observe("rmsnorm", 3, 0, {1, 2, 2}, {1, 1, 1});
  CHECK(odd.statistic_mean == Approx(std::sqrt(3.0)));
  CHECK(odd.outlier_in == Approx(2 / std::sqrt(3.0)));
  CHECK(std::isnan(odd.phase_norm));
  CHECK(std::isnan(odd.phasor_grad));
}

TEST_CASE("every scale-invariant norm says what it divides by") {
  int count = 0;
  for (const NormSpec& spec : norm_specs()) {
    if (!spec.properties.scale_invariant) continue;
    CAPTURE(spec.name);
    ++count;
    std::vector<std::pair<std::string, NormValue>> values;
    for (const NormKey& key : spec.keys) values.emplace_back(key.name, key.standard);
    NormBuilder builder("layer", 4, /*eps=*/0, /*gamma_init=*/1, /*affine=*/false, values);
    const auto norm = spec.make(builder);
    const std::vector<double> x = {1, 3, 0, 4, -2, 5, 1, 1},
                              half = {0.5, 1.5, 0, 2, -1, 2.5, 0.5, 0.5};
    const auto statistic_of = [&](const std::vector<double>& rows) {
      Tape tape(DType::float64);
      Var statistic;
      norm->forward(NormContext({}, true, &statistic), tape.leaf(Tensor({2, 1, 4}, rows)));
      REQUIRE(statistic.defined());
      return statistic.value().values();
    };
    const std::vector<double> whole = statistic_of(x), halved = statistic_of(half);
    for (std::size_t i = 0; i < whole.size(); ++i) CHECK(halved[i] == Approx(whole[i] / 2));
  }
  CHECK(count >= 10);
}

TEST_CASE("numbers that are not finite stay visible") {
  const double nan = std::nan("");
  const NormDiagnostics d = observe("rmsnorm", 2, 0, {1, 1, nan, 1}, {1, 1});
  CHECK(std::isnan(d.statistic_mean));
  CHECK(std::isnan(d.outlier_in));
  CHECK(d.dead_relu == 0);
}

TEST_CASE("B38: diagnostics do not change a step, and no number of threads changes them") {
  for (const char* norm : {"mrsnorm", "layernorm", "scalenorm", "batchnorm"}) {
    CAPTURE(norm);
    const auto plain = trainer_of(norm, 2), one = trainer_of(norm, 1), three = trainer_of(norm, 3);
    for (const Index size : {17, 5}) {
      Diagnostics a, b;
      const StepMetrics metrics = plain->step(batch_of(size), 0.05);
      const StepMetrics same = one->step(batch_of(size), 0.05, &a);
      three->step(batch_of(size), 0.05, &b);
      CHECK(metrics.loss == same.loss);
      CHECK(metrics.grad_norm == same.grad_norm);
      CHECK(text_of(a) == text_of(b));
      CHECK_FALSE(a.empty());
    }
    const auto right = plain->state(), got = one->state();
    REQUIRE(right.size() == got.size());
    for (std::size_t i = 0; i < right.size(); ++i)
      CHECK(right[i].value.values() == got[i].value.values());
  }
}

TEST_CASE("the numbers of a layer are of the whole batch's gradient and the weights before it") {
  const auto trainer = trainer_of("mrsnorm", 2);
  std::map<std::string, double> squares;
  for (const NamedTensor& tensor : trainer->state())
    for (const double w : tensor.value.values())
      squares[tensor.name.substr(0, tensor.name.rfind('.'))] += w * w;
  Diagnostics d;
  const double lr = 0.5;
  const StepMetrics metrics = trainer->step(batch_of(20), lr, &d);
  const DiagnosedLayers names = diagnosed_layers(*resnet8("mrsnorm"), 64);
  CHECK(names.images == kDiagnosticImages);
  CHECK(diagnosed_layers(*resnet8("mrsnorm"), 3).images == 3);
  CHECK(diagnosed_layers(*resnet8("batchnorm"), 64).images == 64);
  REQUIRE(d.layers.size() == names.layers.size());
  CHECK(names.layers.size() == squares.size());
  double gradient = 0;
  for (std::size_t i = 0; i < d.layers.size(); ++i) {
    CAPTURE(names.layers[i]);
    const LayerDiagnostics& layer = d.layers[i];
    const double square = squares.at(names.layers[i]);
    gradient += layer.grad_norm * layer.grad_norm;
    CHECK(layer.weight_norm == Approx(std::sqrt(square)).epsilon(1e-6));
    CHECK(layer.relative_update == Approx(lr * layer.grad_norm / std::sqrt(square)).epsilon(1e-6));
    if (names.layers[i].find("conv") != std::string::npos)
      CHECK(layer.effective_lr == Approx(lr / square).epsilon(1e-6));
    else
      CHECK(std::isnan(layer.effective_lr));
  }
  CHECK(std::sqrt(gradient) == Approx(metrics.grad_norm).epsilon(1e-12));
  REQUIRE(d.norms.size() == names.norms.size());
  CHECK(names.norms.front() == "norm1");
  CHECK(names.norms.back() == "layer3.0.shortcut.norm");
  CHECK(std::isnan(d.norms.back().dead_relu));  // no ReLU follows a shortcut's norm
  // The weights of a convolution have no free scale where the norm is not scale invariant.
  Diagnostics none;
  trainer_of("none", 1)->step(batch_of(4), lr, &none);
  for (const LayerDiagnostics& layer : none.layers) CHECK(std::isnan(layer.effective_lr));
}

TEST_CASE("diagnostics read back from their text, and texts that do not fit are refused") {
  const DiagnosedLayers layers{8, {"norm1", "norm2"}, {"conv1"}};
  Diagnostics d;
  d.norms.resize(2);
  d.norms[0].statistic_min = 1.0 / 3;
  d.norms[1].statistic_min = 1e-20;
  d.layers.resize(1);
  d.layers[0].grad_norm = std::numeric_limits<double>::infinity();
  d.layers[0].weight_norm = 1234567;
  const std::string text = text_of(d);
  const auto object = nlohmann::json::parse(text);
  CHECK(object["norms"]["statistic_min"].dump() == "[0.333333,1e-20]");
  CHECK(object["norms"]["dead_relu"].dump() == "[null,null]");
  CHECK(object["layers"]["grad_norm"].dump() == "[null]");
  CHECK(text.find("[1.23457e+06]") != text.npos);
  CHECK(text_of(read_diagnostics(object, layers)) == text);
  CHECK_THROWS_WITH_AS(read_diagnostics(object, {8, {"norm1"}, {"conv1"}}),
                       doctest::Contains("each of 1 layers; got 2"), Error);
  std::string names;
  append_diagnosed_layers(names, layers);
  CHECK(names == R"({"images":8,"norms":["norm1","norm2"],"layers":["conv1"]})");
  CHECK(read_diagnosed_layers(nlohmann::json::parse(names)).norms == layers.norms);
}

TEST_CASE("a logged step of diagnostics takes some kilobytes") {
  ResNetOptions options;
  NormFactory factory;
  factory.spec = &find_norm("rmsnorm");
  const DiagnosedLayers layers = diagnosed_layers(*make_resnet(options, factory), 64);
  CHECK(layers.norms.size() == 21);
  CHECK(layers.layers.size() == 43);
  Diagnostics d;
  d.norms.resize(layers.norms.size());
  d.layers.resize(layers.layers.size());
  for (NormDiagnostics& norm : d.norms)
    for (const auto& quantity : kNormQuantities) norm.*quantity.value = -1.2345678901e-100;
  for (LayerDiagnostics& layer : d.layers)
    for (const auto& quantity : kLayerQuantities) layer.*quantity.value = -1.2345678901e-100;
  CHECK(text_of(d).size() < 7000);  // at the very most: 14 characters a number
}
