#include "nn/resnet.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "norms/contract/registry.h"

using namespace phasor;

namespace {

NormFactory factory(const std::string& name) {
  NormFactory norm;
  norm.spec = &find_norm(name);
  return norm;
}

std::unique_ptr<Model> network(const std::string& arch, const std::string& norm,
                               bool projection = true, double width = 1) {
  ResNetOptions options;
  options.arch = arch;
  options.projection = projection;
  options.width = width;
  return make_resnet(options, factory(norm));
}

Index weights(const Model& model) {
  return model.parameter_count() - model.parameter_count(ParameterRole::norm);
}

}  // namespace

TEST_CASE("an emulated statistic needs a norm that has one, in float32") {
  ResNetOptions options;
  options.arch = "resnet8";
  NormFactory norm = factory("none");
  norm.precision.type = StatisticType::float16;
  CHECK_THROWS_WITH_AS(make_resnet(options, norm),
                       "[norm1] none has no emulated statistic: norm.stat_dtype must be float32 "
                       "and norm.rescue true",
                       Error);
  norm.spec = &find_norm("rmsnorm");
  const auto model = make_resnet(options, norm);
  Tape tape(DType::float64);
  std::vector<Var> parameters;
  for (const Parameter& p : model->parameters())
    parameters.push_back(tape.leaf(Tensor(p.shape, DType::float64)));
  const Var images = tape.leaf(Tensor({1, 32, 32, 3}, DType::float64));
  CHECK_THROWS_WITH_AS(model->forward({tape}, images),
                       "[norm1] norm.stat_dtype and norm.rescue are of the fused float32 norms; "
                       "use float32",
                       Error);
}

TEST_CASE("parameter counts of convolutions and head are the published ones") {
  CHECK(weights(*network("resnet20", "rmsnorm")) == 276756);
  CHECK(weights(*network("resnet20", "rmsnorm", false)) == 274196);
  CHECK(weights(*network("resnet18", "rmsnorm")) == 11210532);
}

TEST_CASE("parameter counts of norms") {
  struct Row {
    const char* norm;
    Index projection, pad;
  };
  for (const Row& row : {Row{"mrsnorm", 392, 344}, Row{"rmsnorm", 784, 688},
                         Row{"layernorm", 1568, 1376}, Row{"none", 0, 0}}) {
    CAPTURE(row.norm);
    CHECK(network("resnet20", row.norm)->parameter_count(ParameterRole::norm) == row.projection);
    CHECK(network("resnet20", row.norm, false)->parameter_count(ParameterRole::norm) == row.pad);
  }
}

TEST_CASE("floating point operations of training are those of the convolutions and the head") {
  CHECK(network("resnet20", "none")->training_flops() / 1e9 ==
        doctest::Approx(0.244).epsilon(2e-3));
  CHECK(network("resnet18", "none")->training_flops() / 1e9 == doctest::Approx(3.33).epsilon(2e-3));
}

TEST_CASE("checkpoint names are PyTorch's, in the order of the network") {
  std::vector<std::string> names;
  const auto model = network("resnet8", "layernorm");
  for (const Parameter& p : model->parameters()) names.push_back(p.name);
  const std::vector<std::string> expected{"conv1.weight",
                                          "norm1.weight",
                                          "norm1.bias",
                                          "layer1.0.conv1.weight",
                                          "layer1.0.norm1.weight",
                                          "layer1.0.norm1.bias",
                                          "layer1.0.conv2.weight",
                                          "layer1.0.norm2.weight",
                                          "layer1.0.norm2.bias",
                                          "layer2.0.conv1.weight",
                                          "layer2.0.norm1.weight",
                                          "layer2.0.norm1.bias",
                                          "layer2.0.conv2.weight",
                                          "layer2.0.norm2.weight",
                                          "layer2.0.norm2.bias",
                                          "layer2.0.shortcut.conv.weight",
                                          "layer2.0.shortcut.norm.weight",
                                          "layer2.0.shortcut.norm.bias"};
  REQUIRE(names.size() > expected.size());
  CHECK(std::vector<std::string>(names.begin(), names.begin() + 18) == expected);
  CHECK(names[names.size() - 2] == "fc.weight");
  CHECK(names.back() == "fc.bias");
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
}

TEST_CASE("networks that differ in their norm start with the same convolutions") {
  const auto a = network("resnet8", "layernorm"), b = network("resnet8", "mrsnorm");
  const auto find = [](const Model& model, const std::string& name) -> const Parameter& {
    const auto& all = model.parameters();
    return *std::find_if(all.begin(), all.end(),
                         [&](const Parameter& p) { return p.name == name; });
  };
  for (const char* name : {"conv1.weight", "layer3.0.conv2.weight", "fc.weight", "fc.bias"}) {
    CAPTURE(name);
    Tensor one(find(*a, name).shape, DType::float32), two(find(*b, name).shape, DType::float32);
    initialise(find(*a, name), 7, one);
    initialise(find(*b, name), 7, two);
    CHECK(one.values() == two.values());
    initialise(find(*b, name), 8, two);
    CHECK(one.values() != two.values());
  }
}

TEST_CASE("initial values have the deviation of their rule") {
  const auto model = network("resnet20", "rmsnorm");
  const auto moments = [](const Parameter& p) {
    Tensor values(p.shape, DType::float64);
    initialise(p, 0, values);
    double sum = 0, squares = 0, largest = 0;
    for (const double v : values.values()) {
      sum += v;
      squares += v * v;
      largest = std::max(largest, std::abs(v));
    }
    const auto n = static_cast<double>(values.size());
    return std::array{sum / n, std::sqrt(squares / n), largest};
  };
  for (const Parameter& p : model->parameters()) {
    CAPTURE(p.name);
    const auto [mean, deviation, largest] = moments(p);
    if (p.role == ParameterRole::conv_weight && p.shape.size() > 2000) {
      const double expected =
          std::sqrt(2.0 / static_cast<double>(p.shape[0] * p.shape[1] * p.shape[3]));
      CHECK(deviation == doctest::Approx(expected).epsilon(0.05));
      CHECK(std::abs(mean) < 4 * expected / std::sqrt(static_cast<double>(p.shape.size())));
    } else if (p.role == ParameterRole::norm) {
      CHECK(mean == 1);
      CHECK(largest == 1);
    } else if (p.role == ParameterRole::linear_weight) {
      CHECK(largest <= 1 / std::sqrt(64.0));
      CHECK(deviation == doctest::Approx(1 / std::sqrt(3 * 64.0)).epsilon(0.03));
    }
  }
  ResNetOptions options;
  options.pytorch_init = true;
  const auto uniform = make_resnet(options, factory("rmsnorm"));
  const Parameter& conv = uniform->parameters()[2];
  CHECK(moments(conv)[2] <= 1 / std::sqrt(9 * 16.0));
  CHECK(moments(conv)[1] == doctest::Approx(1 / std::sqrt(3 * 9 * 16.0)).epsilon(0.03));
}

TEST_CASE("checkpoint layout is OIHW and [out,in], and comes back") {
  const auto model = network("resnet8", "rmsnorm");
  for (const Parameter& p : model->parameters()) {
    CAPTURE(p.name);
    Tensor values(p.shape, DType::float32);
    for (Index i = 0; i < values.size(); ++i) values.set(i, static_cast<double>(i));
    const Tensor stored = to_checkpoint_layout(p, values);
    CHECK(from_checkpoint_layout(p, stored).values() == values.values());
    if (p.role == ParameterRole::conv_weight && p.shape[0] == 3) {
      // Element (out 1, in 2, kh 0, kw 1) of OIHW is element (kh 0, kw 1, in 2, out 1) of HWIO.
      const Index c_in = p.shape[2], c_out = p.shape[3];
      CHECK(stored.at((1 * c_in + 2) * 9 + 1) == values.at((1 * c_in + 2) * c_out + 1));
    }
  }
}

TEST_CASE("B17: an odd number of channels is an error that names the layer") {
  ResNetOptions options;
  options.width = 15.0 / 16;
  CHECK_THROWS_WITH_AS(make_resnet(options, factory("mrsnorm")), doctest::Contains("[norm1]"),
                       Error);
  CHECK_THROWS_WITH_AS(make_resnet(options, factory("mrsnorm")),
                       doctest::Contains("got 15 channels"), Error);
  CHECK_NOTHROW(make_resnet(options, factory("rmsnorm")));
}

TEST_CASE("arch names") {
  for (const char* arch : {"resnet8", "resnet14", "resnet20", "resnet56", "resnet110", "resnet18"})
    CHECK(is_arch(arch));
  for (const char* arch :
       {"resnet", "resnet2", "resnet19", "resnet20x", "Resnet20", "resnet-4", ""})
    CHECK_FALSE(is_arch(arch));
}

TEST_CASE("B20: images of a larger batch give the logits that they give alone") {
  for (const char* norm : {"layernorm", "rmsnorm", "mrsnorm"}) {
    CAPTURE(norm);
    const auto model = network("resnet8", norm);
    const auto logits = [&](Index first, Index count) {
      Tape tape(DType::float32, false);
      for (const Parameter& p : model->parameters()) {
        Tensor values(p.shape, DType::float32);
        initialise(p, 0, values);
        tape.leaf(values);
      }
      Tensor images({count, 32, 32, 3}, DType::float32);
      for (Index i = 0; i < images.size(); ++i)
        images.set(i, std::sin(0.37 * static_cast<double>(first * 3072 + i)));
      return model->forward({tape, false}, tape.leaf(images, false)).value().values();
    };
    const auto all = logits(0, 3);
    for (Index i = 0; i < 3; ++i)
      CHECK(logits(i, 1) ==
            std::vector<double>(all.begin() + i * 100, all.begin() + (i + 1) * 100));
  }
}
