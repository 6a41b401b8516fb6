#include "check/conformance.h"

#include <doctest/doctest.h>

namespace phasor {
namespace {

TEST_CASE("every norm of the build passes the conformance kit") {
  for (const NormSpec& spec : norm_specs()) {
    const check::ConformanceReport report =
        check::check_norm(spec, {.values = {}, .huge = 1e25, .training = false});
    INFO(spec.name, "\n", report.str());
    CHECK(report.passed());
    CHECK(report.lines.size() > 50);
  }
}

}  // namespace
}  // namespace phasor
