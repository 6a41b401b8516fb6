// The written rules that turn a cell's course into a verdict.
#pragma once

#include <optional>

#include "config/config.h"
#include "train/cell.h"

namespace phasor {

/// Watches the loss of every step. Small enough to be saved in each checkpoint.
class DivergenceWatch {
 public:
  /// Steps up to `grace_steps` never count.
  DivergenceWatch(const VerdictConfig& rules, double grace_steps)
      : limit_(rules.diverged_loss), needed_(rules.diverged_steps), grace_steps_(grace_steps) {}

  /// `step` counts from 1. A loss that is not a number counts as high.
  void see(Index step, double loss) {
    const bool high = !(loss <= limit_) && static_cast<double>(step) > grace_steps_;
    run_ = high ? run_ + 1 : 0;
    if (run_ == needed_ && !began_) began_ = step - run_ + 1;
  }

  /// First of the first `diverged_steps` consecutive steps above the limit.
  std::optional<Index> began() const { return began_; }

  Index run() const { return run_; }
  void restore(Index run, std::optional<Index> began) {
    run_ = run;
    began_ = began;
  }

 private:
  double limit_;
  Index needed_;
  double grace_steps_;
  Index run_ = 0;
  std::optional<Index> began_;
};

/// Test accuracy that a cell must exceed to count as trained: p + sigma sqrt(p (1 - p) / n),
/// p = 1 / classes, n the number of test images.
double trained_threshold(const VerdictConfig& rules, Index classes, Index test_samples);

/// What the end of a cell is judged by.
struct Course {
  std::optional<Index> nonfinite_step;  ///< counts from 1
  std::optional<NonFinite> nonfinite;   ///< where, if it could be located
  std::optional<Index> diverged_step;
  std::optional<double> test_accuracy;  ///< of the last evaluation
  Index classes = 0, test_samples = 0;
};

/// nonfinite before diverged before trained; else stalled.
Verdict judge(const VerdictConfig& rules, const Course& course);

}  // namespace phasor
