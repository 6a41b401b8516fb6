// Learning rates: a pure function of the step, so that a resumed run cannot drift.
#pragma once

#include "config/config.h"
#include "phasor/shape.h"

namespace phasor {

/// lr of every step of a cell. Steps count from 0: `lr(k)` is used by the update after k others.
///
/// With e = step / steps_per_epoch and w = warmup_epochs * steps_per_epoch:
///   constant    lr
///   multistep   lr, multiplied by gamma once for each milestone <= e
///   cosine      lr (1 + cos(pi t)) / 2, t = (step - w) / (total_steps - w), 0 during warm-up
/// and, during warm-up, times (step + 1) / w, so that the last step of the warm-up has the full
/// rate.
class Schedule {
 public:
  /// `total_steps` is the length of the cell: epochs or max_steps, whichever ends first.
  Schedule(const TrainConfig& train, Index steps_per_epoch, Index total_steps);

  double lr(Index step) const;

 private:
  double base_;
  ScheduleConfig shape_;
  Index steps_per_epoch_;
  double warmup_steps_;
  double total_steps_;
};

/// cos(pi x) for x in [0, 1], within 2e-16 of the true value. Only + - * and division by constants:
/// the C library's cos may differ between processors, and results must not.
double cos_pi(double x);

}  // namespace phasor
