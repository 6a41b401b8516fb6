#include "train/verdict.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

using namespace phasor;

namespace {

Course healthy() {
  Course course;
  course.test_accuracy = 0.3;
  course.classes = 100;
  course.test_samples = 10000;
  return course;
}

}  // namespace

TEST_CASE("verdicts are tried in their written order") {
  const VerdictConfig rules;
  Course course = healthy();
  CHECK(judge(rules, course).kind == VerdictKind::trained);
  course.diverged_step = 7;
  CHECK(judge(rules, course).kind == VerdictKind::diverged);
  CHECK(judge(rules, course).step == 7);
  course.nonfinite_step = 9;
  course.nonfinite = NonFinite{"layer1.0.norm1", "sqrt", "forward", "nan"};
  const Verdict verdict = judge(rules, course);
  CHECK(verdict.kind == VerdictKind::nonfinite);
  CHECK(verdict.step == 9);
  REQUIRE(verdict.nonfinite);
  CHECK(verdict.nonfinite->layer == "layer1.0.norm1");
}

TEST_CASE("trained means more than chance by trained_sigma deviations") {
  const VerdictConfig rules;
  CHECK(trained_threshold(rules, 100, 10000) ==
        doctest::Approx(0.01 + 3 * std::sqrt(0.01 * 0.99 / 10000)));
  Course course = healthy();
  course.test_accuracy = trained_threshold(rules, 100, 10000);
  CHECK(judge(rules, course).kind == VerdictKind::stalled);
  course.test_accuracy = std::nextafter(*course.test_accuracy, 1);
  CHECK(judge(rules, course).kind == VerdictKind::trained);
  course.test_accuracy.reset();
  CHECK(judge(rules, course).kind == VerdictKind::stalled);
}

TEST_CASE("divergence needs consecutive high losses after the grace") {
  VerdictConfig rules;
  rules.diverged_loss = 10;
  rules.diverged_steps = 3;
  DivergenceWatch watch(rules, 4);
  for (Index step = 1; step <= 6; ++step) watch.see(step, 11);  // 5 and 6 count
  CHECK_FALSE(watch.began());
  watch.see(7, 10);  // not above
  watch.see(8, 11);
  watch.see(9, std::numeric_limits<double>::quiet_NaN());
  CHECK(watch.run() == 2);
  DivergenceWatch resumed(rules, 4);
  resumed.restore(watch.run(), watch.began());
  resumed.see(10, std::numeric_limits<double>::infinity());
  CHECK(resumed.began() == 8);
  resumed.see(11, 0);
  for (Index step = 12; step < 20; ++step) resumed.see(step, 11);
  CHECK(resumed.began() == 8);  // the first time counts
}

TEST_CASE("verdicts have names") {
  CHECK(std::string(name_of(VerdictKind::nonfinite)) == "nonfinite");
  CHECK(std::string(name_of(VerdictKind::diverged)) == "diverged");
  CHECK(std::string(name_of(VerdictKind::trained)) == "trained");
  CHECK(std::string(name_of(VerdictKind::stalled)) == "stalled");
}
