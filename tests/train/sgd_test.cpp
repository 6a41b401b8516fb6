#include <doctest/doctest.h>

#include <vector>

#include "kernels/kernels.h"

using namespace phasor;

namespace {

/// Weights after each of three steps on w = 1 with gradient 1, lr .1, momentum .9 unless said.
std::vector<double> trace(kernels::SgdRule rule) {
  const auto& table = kernels::table<double>(kernels::KernelSet::reference);
  double weight = 1, momentum = 0;
  const double gradient = 1;
  std::vector<double> out;
  for (int step = 0; step < 3; ++step) {
    rule.first_step = step == 0;
    table.sgd(1, rule, &gradient, &weight, &momentum);
    out.push_back(weight);
  }
  return out;
}

void check(const std::vector<double>& got, const std::vector<double>& right) {
  REQUIRE(got.size() == right.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(got[i] == doctest::Approx(right[i]).epsilon(1e-12));
}

}  // namespace

TEST_CASE("B25: SGD follows PyTorch's rule") {
  const kernels::SgdRule plain{.lr = 0.1,
                               .momentum = 0.9,
                               .dampening = 0,
                               .weight_decay = 0,
                               .gradient_scale = 1,
                               .nesterov = false,
                               .first_step = true};
  SUBCASE("plain") { check(trace(plain), {0.9, 0.71, 0.439}); }
  SUBCASE("Nesterov") {
    kernels::SgdRule rule = plain;
    rule.nesterov = true;
    check(trace(rule), {0.81, 0.539, 0.1951});
  }
  SUBCASE("dampening spares the first step") {
    kernels::SgdRule rule = plain;
    rule.dampening = 0.5;
    check(trace(rule), {0.9, 0.76, 0.584});
  }
  SUBCASE("weight decay") {
    kernels::SgdRule rule = plain;
    rule.weight_decay = 0.1;
    check(trace(rule), {0.89, 0.6821, 0.388169});
  }
  SUBCASE("weight decay acts without momentum") {
    kernels::SgdRule rule = plain;
    rule.momentum = 0;
    rule.weight_decay = 0.1;
    check(trace(rule), {0.89, 0.7811, 0.673289});
  }
}
