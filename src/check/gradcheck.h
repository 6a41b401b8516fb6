// Gradients against central differences in double.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "phasor/autograd.h"

namespace phasor::check {

/// Builds a result of any shape from its arguments, on their tape. Called many times.
using Function = std::function<Var(Tape& tape, std::span<const Var> arguments)>;

struct GradcheckOptions {
  double step = 1e-3;  ///< largest change of an argument, where it is larger than 1 relative to it
  std::uint64_t seed = 1;
  double floor = 1e-6;  ///< gradients much smaller than this count as zero
};

/// The worst disagreement, and where it was.
struct GradcheckResult {
  double worst = 0;  ///< |analytic - numeric| / max(|analytic|, |numeric|, rms of analytic, floor)
  int argument = 0;
  Index element = 0;
  double analytic = 0, numeric = 0;
  Index kinks =
      0;  ///< places without a derivative, where any value between the one-sided ones is right

  /// `2.1e-11 at argument 1, element 3: analytic .25, numeric .25`.
  std::string str() const;
};

/// Compares the gradient of sum(w * f(arguments)), w fixed pseudo-random numbers, with fourth-order
/// central differences for every element of every argument, all in double. The step shrinks until
/// two estimates agree; where they never do, the function has a kink, and the analytic value must
/// lie between the one-sided differences.
GradcheckResult gradcheck(const Function& function, const std::vector<Tensor>& arguments,
                          const GradcheckOptions& options = {});

}  // namespace phasor::check
