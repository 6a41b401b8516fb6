#include "train/verdict.h"

#include <cmath>

namespace phasor {

const char* name_of(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::nonfinite:
      return "nonfinite";
    case VerdictKind::diverged:
      return "diverged";
    case VerdictKind::trained:
      return "trained";
    case VerdictKind::stalled:
      break;
  }
  return "stalled";
}

double trained_threshold(const VerdictConfig& rules, Index classes, Index test_samples) {
  const double p = 1 / static_cast<double>(classes);
  return p + rules.trained_sigma * std::sqrt(p * (1 - p) / static_cast<double>(test_samples));
}

Verdict judge(const VerdictConfig& rules, const Course& course) {
  if (course.nonfinite_step)
    return {VerdictKind::nonfinite, course.nonfinite_step, course.nonfinite};
  if (course.diverged_step) return {VerdictKind::diverged, course.diverged_step, std::nullopt};
  const bool trained =
      course.test_accuracy && course.test_samples > 0 &&
      *course.test_accuracy > trained_threshold(rules, course.classes, course.test_samples);
  return {trained ? VerdictKind::trained : VerdictKind::stalled, std::nullopt, std::nullopt};
}

}  // namespace phasor
