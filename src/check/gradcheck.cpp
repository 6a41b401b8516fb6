#include "check/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "check/inputs.h"
#include "phasor/ops.h"

namespace phasor::check {
namespace {

/// The scalar sum(w * f(arguments)) as a function of its arguments.
class Loss {
 public:
  Loss(const Function& function, const std::vector<Tensor>& arguments, std::uint64_t seed)
      : function_(function), seed_(seed) {
    for (const Tensor& argument : arguments) arguments_.push_back(argument.to(DType::float64));
  }

  double& element(std::size_t argument, Index i) { return arguments_[argument].data<double>()[i]; }
  std::size_t count() const { return arguments_.size(); }
  Index size(std::size_t argument) const { return arguments_[argument].size(); }

  double value() {
    values_.clear();
    const Var out = apply(values_, false);
    const auto* data = static_cast<const double*>(out.node().data);
    const double* w = weights(out.shape()).data<double>();
    double sum = 0;
    terms_ = 0;
    for (Index i = 0; i < out.shape().size(); ++i) {
      sum += w[i] * data[i];
      terms_ += std::fabs(w[i] * data[i]);
    }
    return sum;
  }

  /// How far rounding may move a difference of two values of the last call's size.
  double noise() const { return 1e-15 * terms_; }

  std::vector<Tensor> gradients() {
    Tape tape(DType::float64);
    const Var out = apply(tape, true);
    tape.backward(sum(out * tape.leaf(weights(out.shape()), false)));
    std::vector<Tensor> result;
    for (const Var& leaf : leaves_) result.push_back(leaf.grad());
    return result;
  }

 private:
  Var apply(Tape& tape, bool needs_grad) {
    leaves_.clear();
    for (const Tensor& argument : arguments_) leaves_.push_back(tape.leaf(argument, needs_grad));
    return function_(tape, leaves_);
  }

  const Tensor& weights(const Shape& shape) {
    if (weights_.empty()) weights_ = random_tensor(shape, seed_ ^ 0x9E3779B97F4A7C15u);
    return weights_;
  }

  const Function& function_;
  std::uint64_t seed_;
  std::vector<Tensor> arguments_;
  std::vector<Var> leaves_;
  Tensor weights_;
  double terms_ = 0;
  Tape values_{DType::float64, false};
};

struct Interval {
  double low, high;
  double noise;  // of either, by rounding
  bool kink;
};

/// The derivative by one argument, or what lies between the one-sided ones at a kink.
Interval derivative(Loss& loss, std::size_t argument, Index i, double step, double scale) {
  double& x = loss.element(argument, i);
  const double center = x;
  const auto at = [&](double offset) {
    x = center + offset;
    const double value = loss.value();
    x = center;
    return value;
  };
  double h = step * std::max(1.0, std::fabs(center));
  double last_h = h;
  constexpr int kTries = 6;
  const double here = at(0);
  bool kink = true;
  for (int attempt = 0; attempt < kTries; ++attempt, last_h = h, h /= 8) {
    const double up_half = at(h / 2), down_half = at(-h / 2), up = at(h), down = at(-h);
    const double two = at(2 * h) - at(-2 * h);
    const double coarse = (8 * (up - down) - two) / (12 * h);  // error O(h^4)
    const double fine = (8 * (up_half - down_half) - (up - down)) / (6 * h);
    const double noise = loss.noise() / h;
    if (std::fabs(coarse - fine) > 1e-7 * std::max(std::fabs(fine), scale) + noise) continue;
    // Right less left slope: proportional to h where the function is smooth, constant at a kink.
    const double bend = std::fabs(up - 2 * here + down) / h;
    const double half_bend = std::fabs(up_half - 2 * here + down_half) / (h / 2);
    kink = half_bend > 0.75 * bend && bend > 1e-5 * scale + 10 * noise;
    if (!kink) return {fine, fine, noise, false};
    last_h = h;
    break;
  }
  // One-sided, of second order.
  const auto slope = [&](double step_to) {
    return (4 * at(step_to) - at(2 * step_to) - 3 * here) / (2 * step_to);
  };
  const double left = slope(-last_h), right = slope(last_h);
  return {std::min(left, right), std::max(left, right), loss.noise() / last_h, kink};
}

}  // namespace

std::string GradcheckResult::str() const {
  return short_number(worst) + " at argument " + std::to_string(argument) + ", element " +
         std::to_string(element) + ": analytic " + short_number(analytic) + ", numeric " +
         short_number(numeric);
}

GradcheckResult gradcheck(const Function& function, const std::vector<Tensor>& arguments,
                          const GradcheckOptions& options) {
  Loss loss(function, arguments, options.seed);
  const std::vector<Tensor> gradients = loss.gradients();
  GradcheckResult result;
  for (std::size_t k = 0; k < loss.count(); ++k) {
    double squares = 0;
    for (Index i = 0; i < loss.size(k); ++i) squares += gradients[k].at(i) * gradients[k].at(i);
    const double rms = std::sqrt(squares / static_cast<double>(std::max<Index>(1, loss.size(k))));
    const double scale = std::isfinite(rms) ? std::max(rms, options.floor) : options.floor;
    for (Index i = 0; i < loss.size(k); ++i) {
      const double analytic = gradients[k].at(i);
      const Interval numeric = derivative(loss, k, i, options.step, scale);
      result.kinks += numeric.kink;
      const double distance = std::isfinite(analytic)
                                  ? std::max({0.0, numeric.low - numeric.noise - analytic,
                                              analytic - numeric.high - numeric.noise})
                                  : analytic;
      const double nearest = std::clamp(analytic, numeric.low, numeric.high);
      const double error = distance / std::max({std::fabs(analytic), std::fabs(nearest), scale});
      // Not a number is worse than anything.
      if (error <= result.worst) continue;
      result.worst = std::isnan(error) ? HUGE_VAL : error;
      result.argument = static_cast<int>(k);
      result.element = i;
      result.analytic = analytic;
      result.numeric = numeric.low == numeric.high ? numeric.low : nearest;
    }
  }
  return result;
}

}  // namespace phasor::check
