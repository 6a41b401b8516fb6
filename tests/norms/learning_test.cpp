#include <doctest/doctest.h>

#include "check/overfit.h"

namespace phasor {
namespace {

TEST_CASE("a network learns 32 images with every norm, by any number of threads") {
  std::vector<std::string> exempt;
  for (const NormSpec& spec : norm_specs()) {
    INFO(spec.name);
    const check::OverfitResult result = check::overfit(spec);
    CHECK(result.same_bits);
    if (spec.need_not_learn.empty()) {
      CHECK(result.loss < check::kOverfitLoss);
    } else {
      CHECK(result.loss > check::kOverfitLoss);  // else the exemption is idle
      exempt.push_back(spec.name);
    }
  }
  CHECK(exempt == std::vector<std::string>{"none", "squash"});
}

}  // namespace
}  // namespace phasor
