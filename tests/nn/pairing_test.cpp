#include "nn/pairing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nn/layers.h"
#include "norms/contract/registry.h"
#include "phasor/error.h"
#include "phasor/ops.h"
#include "phasor/rng.h"

using namespace phasor;

namespace {

/// A network of one norm layer over [1,1,1,C].
class OneNorm final : public Model {
 public:
  OneNorm(const NormFactory& factory, Index channels)
      : builder_(*this), layer_(builder_, "norm1", factory, {1, 1, channels}) {}
  Var forward(const ForwardContext& context, const Var& x) const override {
    return layer_.forward(context, x, {}, /*relu=*/false);
  }
  Var with_skip(const ForwardContext& context, const Var& x, const Var& skip) const {
    return layer_.forward(context, x, skip, /*relu=*/true);
  }

 private:
  ModelBuilder builder_;
  NormLayer layer_;
};

NormFactory factory_of(const char* norm, const std::string& pairing) {
  NormFactory factory;
  factory.spec = &find_norm(norm);
  factory.eps = 0;
  factory.pairing = pairing;
  return factory;
}

}  // namespace

TEST_CASE("pairings: orders by hand, and one permutation for each width and seed") {
  CHECK(pairing_order("adjacent", 6).empty());
  CHECK(pairing_order("half", 6) == std::vector<Index>{0, 3, 1, 4, 2, 5});
  CHECK(inverse_order({0, 3, 1, 4, 2, 5}) == std::vector<Index>{0, 2, 4, 1, 3, 5});
  const std::vector<Index> order = pairing_order("random:7", 16);
  std::vector<Index> sorted = order, all(16);
  std::iota(all.begin(), all.end(), Index{0});
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == all);
  CHECK(order == pairing_order("random:7", 16));
  CHECK(order != pairing_order("random:8", 16));
  // Golden: a checkpoint of today must be read alike for ever.
  CHECK(order == std::vector<Index>{11, 2, 14, 7, 10, 6, 12, 5, 3, 8, 0, 9, 1, 4, 13, 15});
  for (const char* wrong :
       {"", "halves", "random", "random:", "random:x", "random:-1", "random:1 "})
    CHECK_THROWS_WITH_AS(pairing_order(wrong, 4),
                         doctest::Contains("expected adjacent, half or random:<seed>"), Error);
}

TEST_CASE("mrsnorm under `half`: gain i is of the phasor (x_i, x_{i+C/2}), fused and composed") {
  // The check values of mrsnorm, its phasors (3,4) and (6,8) laid out by halves.
  const OneNorm net(factory_of("mrsnorm", "half"), 4);
  CHECK(net.pairing() == "half");
  for (const bool composed : {false, true}) {
    CAPTURE(composed);
    Tape tape(DType::float32);
    const float gamma[2] = {1, 2};
    tape.leaf(Shape{2}, gamma, nullptr);
    const float x[4] = {3, 6, 4, 8}, skip[4] = {-1, 1, 0, 0};
    ForwardContext context{.tape = tape};
    context.composed = composed;
    const Var input = tape.leaf(Shape{1, 1, 1, 4}, x, nullptr);
    const std::vector<double> out = net.forward(context, input).value().values();
    const double expected[4] = {0.4, 2 * 0.8, 4 / 7.5, 2 * 8 / 7.5};
    for (std::size_t i = 0; i < 4; ++i) CHECK(out[i] == doctest::Approx(expected[i]).epsilon(1e-6));
    const Var other = tape.leaf(Shape{1, 1, 1, 4}, skip, nullptr);
    const std::vector<double> sum = net.with_skip(context, input, other).value().values();
    const double rectified[4] = {0, 2.6, 4 / 7.5, 2 * 8 / 7.5};
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(sum[i] == doctest::Approx(rectified[i]).epsilon(1e-6));
  }
}

TEST_CASE("a pairing is the norm of permuted channels, gradients included") {
  constexpr Index kChannels = 18;
  for (const char* norm : {"mrsnorm", "rms_pair", "mrs_channel", "unit_phasor", "squash"})
    for (const char* pairing : {"half", "random:3"}) {
      INFO(norm, " ", pairing);
      const std::vector<Index> order = pairing_order(pairing, kChannels);
      const OneNorm paired(factory_of(norm, pairing), kChannels);
      const OneNorm plain(factory_of(norm, "adjacent"), kChannels);
      Tensor x({2, 1, 1, kChannels}, DType::float64), y(x.shape(), DType::float64), dy = x;
      for (Index i = 0; i < x.size(); ++i) {
        x.set(i, normal_quantile(
                     uniform(draw(5, Purpose::check, 0, static_cast<std::uint64_t>(i))[0])));
        dy.set(i, normal_quantile(
                      uniform(draw(5, Purpose::check, 1, static_cast<std::uint64_t>(i))[0])));
      }
      const auto permuted = [&](const Tensor& from) {
        Tensor to(from.shape(), DType::float64);
        for (Index i = 0; i < from.size(); ++i)
          to.set(i, from.at(i / kChannels * kChannels +
                            order[static_cast<std::size_t>(i % kChannels)]));
        return to;
      };
      const auto run = [&](const OneNorm& net, const Tensor& input, const Tensor& gradient) {
        Tape tape(DType::float64);
        const Parameter& gain = net.parameters()[0];
        Tensor gamma(gain.shape, DType::float64);
        for (Index i = 0; i < gamma.size(); ++i) gamma.set(i, 1 + 0.1 * static_cast<double>(i));
        const Var weight = tape.leaf(gamma);
        const Var in = tape.leaf(input);
        const Var out = net.forward({.tape = tape}, in);
        tape.backward(sum(out * tape.leaf(gradient, false)));
        return std::vector<Tensor>{out.value(), in.grad(), weight.grad()};
      };
      const std::vector<Tensor> got = run(paired, x, dy);
      const std::vector<Tensor> expected = run(plain, permuted(x), permuted(dy));
      CHECK(permuted(got[0]).values() == expected[0].values());
      CHECK(permuted(got[1]).values() == expected[1].values());
      CHECK(got[2].values() == expected[2].values());
    }
}

TEST_CASE("a norm that pairs nothing refuses a pairing, by layer") {
  CHECK_THROWS_WITH_AS(OneNorm(factory_of("rmsnorm", "half"), 4),
                       doctest::Contains("[norm1] rmsnorm pairs no channels"), Error);
}

TEST_CASE("permute_channels refuses what is no permutation") {
  Tape tape(DType::float32);
  const float x[3] = {1, 2, 3};
  const Var input = tape.leaf(Shape{1, 3}, x, nullptr);
  CHECK(permute_channels(input, std::vector<Index>{2, 0, 1}).value().values() ==
        std::vector<double>{3, 1, 2});
  for (const std::vector<Index>& wrong :
       {std::vector<Index>{0, 1}, {0, 1, 1}, {0, 1, 3}, {-1, 0, 1}})
    CHECK_THROWS_AS(permute_channels(input, wrong), Error);
}
