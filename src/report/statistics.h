// Exact intervals for small samples.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace phasor {

/// Regularised incomplete beta function I_x(a, b) for a, b > 0 and x in [0, 1]: Lentz's continued
/// fraction (Press et al., Numerical Recipes, 6.4). Relative error near 1e-14 for a, b below 1000.
double incomplete_beta(double x, double a, double b);

/// The x with I_x(a, b) = p, by bisection down to neighbouring numbers.
double beta_quantile(double p, double a, double b);

/// Quantile p of Student's t distribution, degrees of freedom > 0.
double student_quantile(double p, double degrees);

struct Interval {
  double low = 0, high = 0;
};

/// Clopper-Pearson interval for the probability behind `successes` of `trials`: its coverage is at
/// least `level` for every probability. (0, 1) without trials.
Interval clopper_pearson(std::int64_t successes, std::int64_t trials, double level = 0.95);

/// Mean of paired differences; with two or more also the deviation of the sample and half the width
/// of the 95% interval of the mean by Student's t.
struct Differences {
  int n = 0;
  double mean = 0;
  std::optional<double> deviation, half_width;
};

Differences summarise(std::span<const double> values);

}  // namespace phasor
