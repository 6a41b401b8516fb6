#include "train/schedule.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

using namespace phasor;

namespace {

TrainConfig with(ScheduleKind kind) {
  TrainConfig train;
  train.lr = 0.4;
  train.schedule.kind = kind;
  return train;
}

}  // namespace

TEST_CASE("a constant schedule is the learning rate itself") {
  const Schedule schedule(with(ScheduleKind::constant), 10, 100);
  for (const Index step : {0, 1, 57, 99}) CHECK(schedule.lr(step) == 0.4);
}

TEST_CASE("B33: milestones count epochs and take effect on their first step") {
  TrainConfig train = with(ScheduleKind::multistep);
  train.schedule.milestones = {4};
  const Index per_epoch = 391;
  const Schedule schedule(train, per_epoch, 6 * per_epoch);
  for (Index epoch = 0; epoch < 6; ++epoch)
    for (const Index step : {Index{0}, per_epoch - 1})
      CHECK(schedule.lr(epoch * per_epoch + step) == (epoch < 4 ? 0.4 : 0.4 * 0.1));
}

TEST_CASE("B34: a schedule is a function of the step alone, in any order of calls") {
  TrainConfig train = with(ScheduleKind::multistep);
  train.schedule.milestones = {10, 20, 30};
  train.schedule.gamma = 0.5;
  const Schedule schedule(train, 1, 40);
  CHECK(schedule.lr(35) == 0.05);
  CHECK(schedule.lr(1) == 0.4);
  CHECK(schedule.lr(9) == 0.4);
  CHECK(schedule.lr(10) == 0.2);
  CHECK(schedule.lr(29) == 0.1);
  CHECK(schedule.lr(30) == 0.05);
}

TEST_CASE("milestones may be fractions of an epoch") {
  TrainConfig train = with(ScheduleKind::multistep);
  train.schedule.milestones = {0.5, 1.25};
  const Schedule schedule(train, 4, 8);
  CHECK(schedule.lr(1) == 0.4);
  CHECK(schedule.lr(2) == 0.4 * 0.1);
  CHECK(schedule.lr(4) == 0.4 * 0.1);
  CHECK(schedule.lr(5) == 0.4 * 0.1 * 0.1);
}

TEST_CASE("B35: warm-up counts epochs and rises linearly to the full rate") {
  TrainConfig train = with(ScheduleKind::constant);
  train.warmup_epochs = 1;
  const Schedule schedule(train, 8, 24);
  for (Index step = 0; step < 8; ++step)
    CHECK(schedule.lr(step) == doctest::Approx(0.4 * static_cast<double>(step + 1) / 8));
  for (Index step = 7; step < 24; ++step) CHECK(schedule.lr(step) == 0.4);
  // A resumed run asks another object for the rest of the same sequence.
  const Schedule resumed(train, 8, 24);
  for (Index step = 4; step < 24; ++step) CHECK(resumed.lr(step) == schedule.lr(step));
}

TEST_CASE("cosine falls from the full rate, after the warm-up, to nothing at the end") {
  TrainConfig train = with(ScheduleKind::cosine);
  const Schedule plain(train, 10, 100);
  CHECK(plain.lr(0) == 0.4);
  CHECK(plain.lr(50) == doctest::Approx(0.2).epsilon(1e-15));
  CHECK(plain.lr(99) == doctest::Approx(0.2 * (1 + std::cos(0.99 * std::numbers::pi))));
  train.warmup_epochs = 2;
  const Schedule warm(train, 10, 100);
  CHECK(warm.lr(9) == doctest::Approx(0.2));
  CHECK(warm.lr(19) == 0.4);
  CHECK(warm.lr(20) == 0.4);
  CHECK(warm.lr(60) == doctest::Approx(0.2).epsilon(1e-15));
  train.warmup_epochs = 20;  // longer than the cell
  CHECK(Schedule(train, 10, 100).lr(99) == doctest::Approx(0.2));
}

TEST_CASE("the own cosine is that of the C library") {
  for (int i = 0; i <= 1000; ++i) {
    const double x = i / 1000.0;
    CHECK(std::abs(cos_pi(x) - std::cos(std::numbers::pi * x)) < 5e-16);
  }
  CHECK(cos_pi(0) == 1);
  CHECK(cos_pi(0.5) == 0);
  CHECK(cos_pi(1) == -1);
}
