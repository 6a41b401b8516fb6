#include "train/schedule.h"

#include <algorithm>

namespace phasor {

double cos_pi(double x) {
  constexpr double kPi = 3.141592653589793;
  if (x > 0.5) return -cos_pi(1 - x);
  // Taylor series of cos y, or of sin(pi/2 - y), for an argument of at most pi/4: what is left out
  // is below 1e-20.
  constexpr int kLast = 20;
  const bool sine = x > 0.25;
  const double y = kPi * (sine ? 0.5 - x : x);
  double sum = 1;
  for (int n = sine ? kLast + 1 : kLast; n > 1; n -= 2) sum = 1 - sum * (y * y) / (n * (n - 1));
  return sine ? y * sum : sum;
}

Schedule::Schedule(const TrainConfig& train, Index steps_per_epoch, Index total_steps)
    : base_(train.lr),
      shape_(train.schedule),
      steps_per_epoch_(steps_per_epoch),
      warmup_steps_(train.warmup_epochs * static_cast<double>(steps_per_epoch)),
      total_steps_(static_cast<double>(total_steps)) {}

double Schedule::lr(Index step) const {
  const double position = static_cast<double>(step);
  double lr = base_;
  switch (shape_.kind) {
    case ScheduleKind::constant:
      break;
    case ScheduleKind::multistep:
      for (const double milestone : shape_.milestones)
        if (position >= milestone * static_cast<double>(steps_per_epoch_)) lr *= shape_.gamma;
      break;
    case ScheduleKind::cosine:
      if (position > warmup_steps_ && total_steps_ > warmup_steps_) {
        const double t = (position - warmup_steps_) / (total_steps_ - warmup_steps_);
        lr *= (1 + cos_pi(std::min(t, 1.0))) / 2;
      }
      break;
  }
  if (position + 1 < warmup_steps_) lr *= (position + 1) / warmup_steps_;
  return lr;
}

}  // namespace phasor
