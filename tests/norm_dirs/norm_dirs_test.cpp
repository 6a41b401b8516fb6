#include <doctest/doctest.h>

#include "check/conformance.h"

namespace phasor {
namespace {

TEST_CASE("a norm in a further folder is listed beside the built-in ones") {
  CHECK(find_norm("softsign").formula == "gamma x / (1 + |sharpness x|)");
  CHECK(find_norm("mrsnorm").name == "mrsnorm");
}

TEST_CASE("a norm in a further folder passes the conformance kit as it is") {
  const check::ConformanceReport report = check::check_norm(find_norm("softsign"));
  INFO(report.str());
  CHECK(report.passed());
}

TEST_CASE("its keys are checked by its spec") {
  const NormSpec& spec = find_norm("softsign");
  CHECK(std::get<double>(resolve_values(spec, {}).front().second) == 1.0);
  CHECK(std::get<double>(resolve_values(spec, {{"sharpness", std::int64_t{2}}}).front().second) ==
        2.0);
  CHECK_THROWS_WITH_AS(resolve_values(spec, {{"sharpnes", 1.0}}),
                       "[softsign] unknown parameter; got sharpnes; did you mean sharpness?; "
                       "known: sharpness",
                       Error);
  CHECK_THROWS_WITH_AS(resolve_values(spec, {{"sharpness", true}}),
                       "[softsign] sharpness must be a number; got true or false", Error);
  CHECK_THROWS_WITH_AS(resolve_values(spec, {{"sharpness", -1.0}}),
                       "[softsign] sharpness must lie in [0, 1e+300]; got -1", Error);
  CHECK_THROWS_WITH_AS(resolve_values(spec, {{"sharpness", 1.0}, {"sharpness", 2.0}}),
                       "[softsign] a parameter is given once; got sharpness again", Error);
}

}  // namespace
}  // namespace phasor
