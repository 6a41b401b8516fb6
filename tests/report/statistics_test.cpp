#include "report/statistics.h"

#include <doctest/doctest.h>

#include <vector>

using namespace phasor;
using doctest::Approx;

TEST_CASE("incomplete beta: closed forms and symmetry") {
  CHECK(incomplete_beta(0.3, 1, 1) == Approx(0.3).epsilon(1e-13));
  CHECK(incomplete_beta(0.3, 2, 1) == Approx(0.09).epsilon(1e-13));
  CHECK(incomplete_beta(0.3, 1, 4) == Approx(1 - 0.2401).epsilon(1e-13));  // 1 - 0.7^4
  // 10 tosses, 4 heads or more at p = 0.3: sum of binomials.
  CHECK(incomplete_beta(0.3, 4, 7) == Approx(0.3503892816).epsilon(1e-12));
  CHECK(incomplete_beta(0.5, 0.5, 0.5) == Approx(0.5).epsilon(1e-13));
  CHECK(incomplete_beta(0.25, 0.5, 0.5) == Approx(1.0 / 3).epsilon(1e-12));  // arcsine law
  for (const double x : {0.01, 0.4, 0.77}) {
    CHECK(incomplete_beta(x, 3.5, 12) ==
          Approx(1 - incomplete_beta(1 - x, 12, 3.5)).epsilon(1e-12));
  }
  CHECK(incomplete_beta(0, 2, 3) == 0);
  CHECK(incomplete_beta(1, 2, 3) == 1);
  CHECK(beta_quantile(incomplete_beta(0.123, 7, 2), 7, 2) == Approx(0.123).epsilon(1e-11));
}

TEST_CASE("Clopper-Pearson: closed forms at the edges, tabled values between") {
  const auto check = [](int k, int n, double low, double high) {
    CAPTURE(k);
    CAPTURE(n);
    const Interval interval = clopper_pearson(k, n);
    CHECK(interval.low == Approx(low).epsilon(2e-5));
    CHECK(interval.high == Approx(high).epsilon(2e-5));
  };
  check(1, 1, 0.025, 1);
  check(0, 1, 0, 0.975);
  check(3, 3, 0.292402, 1);   // 0.025^(1/3)
  check(0, 10, 0, 0.308497);  // 1 - 0.025^(1/10)
  check(5, 10, 0.187086, 0.812914);
  check(8, 10, 0.443905, 0.974789);
  check(1, 20, 0.0012651, 0.248733);
  const Interval nothing = clopper_pearson(0, 0);
  CHECK(nothing.low == 0);
  CHECK(nothing.high == 1);
}

TEST_CASE("Student's t: closed forms for one and two degrees, tabled values") {
  CHECK(student_quantile(0.975, 1) == Approx(12.7062047).epsilon(1e-8));
  CHECK(student_quantile(0.975, 2) == Approx(4.30265273).epsilon(1e-8));
  CHECK(student_quantile(0.975, 4) == Approx(2.77644511).epsilon(1e-8));
  CHECK(student_quantile(0.975, 30) == Approx(2.04227246).epsilon(1e-8));
  CHECK(student_quantile(0.025, 4) == Approx(-2.77644511).epsilon(1e-8));
  CHECK(student_quantile(0.5, 4) == 0);
}

TEST_CASE("differences: mean, deviation and interval; one alone has no interval") {
  const std::vector<double> three{1, 2, 6};
  const Differences out = summarise(three);
  CHECK(out.n == 3);
  CHECK(out.mean == Approx(3));
  CHECK(*out.deviation == Approx(2.6457513));                            // sqrt(14 / 2)
  CHECK(*out.half_width == Approx(4.30265273 * 2.6457513 / 1.7320508));  // t(2) s / sqrt(3)
  const Differences one = summarise(std::vector<double>{-2.5});
  CHECK(one.mean == -2.5);
  CHECK_FALSE(one.deviation);
  CHECK_FALSE(one.half_width);
  CHECK(summarise({}).n == 0);
}
