#include "train/loop.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/file.h"
#include "train/safetensors.h"

namespace phasor {
namespace {

// Evaluations go by blocks of this many images, whose sums are added in order: part of the results.
// Between blocks a stop is obeyed.
constexpr Index kEvaluationBlock = 250;

// Checkpoints at the ends of epochs may take this share of the time.
constexpr double kCheckpointShare = 0.005;

constexpr const char* kMomentum = "momentum.";

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Index step_limit(const TrainConfig& train, Index per_epoch) {
  const Index steps = train.epochs * per_epoch;
  return train.max_steps ? std::min(steps, *train.max_steps) : steps;
}

std::string join(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

bool is_whole(double epoch) { return epoch == std::floor(epoch); }

}  // namespace

CellLoop::CellLoop(const CellJob& job, Trainer& trainer, CellSamples& samples)
    : job_(job),
      config_(job.config),
      trainer_(trainer),
      samples_(samples),
      per_epoch_(samples.steps_per_epoch()),
      total_steps_(step_limit(job.config.train, per_epoch_)),
      schedule_(job.config.train, per_epoch_, total_steps_),
      watch_(job.config.verdict,
             job.config.verdict.grace_epochs * static_cast<double>(per_epoch_)) {
  progress_.steps = total_steps_;
  progress_.epochs = (total_steps_ + per_epoch_ - 1) / per_epoch_;
}

std::optional<CellResult> CellLoop::run() {
  restore();
  do {
    while (epoch_is_due() || !ended()) {
      if (stop_asked()) {
        save();
        return std::nullopt;
      }
      if (epoch_is_due())
        finish_epoch();
      else
        step();
    }
  } while (!nonfinite_end_ && !save_final());
  return finish();
}

void CellLoop::restore() {
  std::optional<Checkpoint> checkpoint =
      load_checkpoint(job_.folder, job_.id, [this](const std::string& line) { say(line); });
  trainer_.initialise(static_cast<std::uint64_t>(config_.train.seed));
  if (checkpoint) {
    const std::vector<std::string> missing = trainer_.load(checkpoint->tensors);
    if (!missing.empty())
      fail(ErrorKind::io, "[checkpoint] ", last_checkpoint(job_.folder).string(),
           " lacks tensors; got none for ", join(missing));
    state_ = checkpoint->state;
  } else {
    state_ = {};
    if (config_.train.init_from) load_initial_weights();
  }
  if (!pairing().empty()) state_.pairing = pairing();
  unsaved_ = !checkpoint;
  watch_.restore(state_.diverged_run, state_.diverged_step);
  publish();
  curve_.emplace(job_.folder, state_.curve.bytes, job_.before_publish);
  if (config_.train.diagnostics && state_.curve.bytes == 0)
    curve_->diagnosed_layers(diagnosed_layers(*job_.model, config_.train.batch_size));
  if (careful_)
    finite_ = checkpoint ? std::move(checkpoint) : Checkpoint{synced_state(), trainer_.state()};
  saved_at_ = Clock::now();
  begin_part();
}

void CellLoop::load_initial_weights() {
  TensorFile file = read_safetensors(*config_.train.init_from);
  std::erase_if(file.tensors, [](const NamedTensor& t) { return t.name.starts_with(kMomentum); });
  check_pairing(file.metadata, pairing(), *config_.train.init_from);
  const std::vector<std::string> missing = trainer_.load(file.tensors);
  if (!missing.empty() && config_.train.init_missing == InitMissing::error)
    fail(ErrorKind::usage, "[train.init_from] ", *config_.train.init_from,
         " lacks tensors of the network; got none for ", join(missing),
         "; train.init_missing = default starts them as usual");
}

bool CellLoop::ended() const {
  return state_.step >= total_steps_ || nonfinite_end_ ||
         (config_.verdict.stop == StopRule::diverged && watch_.began());
}

bool CellLoop::epoch_is_due() const {
  return state_.sums.samples > 0 && (state_.step % per_epoch_ == 0 || ended());
}

void CellLoop::step() {
  const Index epoch = state_.step / per_epoch_;
  const BatchSource& batch = samples_.train_batch(epoch, state_.step % per_epoch_);
  StepRecord record;
  record.step = state_.step + 1;
  record.epoch = epoch + 1;
  record.lr = schedule_.lr(state_.step);
  const Index every = config_.train.log_every;
  const bool logged = record.step % every == 0 || record.step == 1 || record.step == total_steps_;
  const StepMetrics metrics = trainer_.step(
      batch, record.lr, config_.train.diagnostics && logged ? &record.diagnostics : nullptr);
  record.loss = metrics.loss;
  record.accuracy = metrics.accuracy;
  record.grad_norm = metrics.grad_norm;

  if (!metrics.finite && config_.verdict.stop != StopRule::never)
    return end_nonfinite(std::move(record), batch);
  if (!metrics.finite && !state_.nonfinite_step) {
    state_.nonfinite_step = record.step;
    state_.nonfinite = trainer_.locate_nonfinite(batch);
  }

  state_.step = record.step;
  state_.sums.add(record.loss, record.accuracy, batch.size);
  watch_.see(record.step, record.loss);
  unsaved_ = true;
  if (logged || ended() || !metrics.finite) curve_->step(record);

  if (careful_) {
    Checkpoint now{synced_state(), trainer_.state()};
    if (all_finite(now.tensors)) finite_ = std::move(now);
  }
  ++part_steps_;
  part_images_ += batch.size;
  progress_.loss = record.loss;
  progress_.accuracy = record.accuracy;
  report(false);
  save_where_due(false);
}

void CellLoop::end_nonfinite(StepRecord record, const BatchSource& batch) {
  // The checkpoint is that of the step before: a run that goes on from it comes to this end again.
  if (!save_final()) return;
  // A step that is not finite changes nothing: taken again, it can be looked at.
  if (config_.train.diagnostics && record.diagnostics.empty())
    trainer_.step(batch, record.lr, &record.diagnostics);
  curve_->step(record);
  state_.nonfinite_step = record.step;
  state_.nonfinite = trainer_.locate_nonfinite(batch);
  nonfinite_end_ = true;
}

void CellLoop::finish_epoch() {
  EpochRecord record;
  record.epoch = static_cast<double>(state_.step) / static_cast<double>(per_epoch_);
  const bool due =
      is_whole(record.epoch) && (state_.step / per_epoch_) % config_.train.eval_every_epochs == 0;
  const Clock::time_point start = Clock::now();
  std::optional<Metrics> test;
  if ((due || ended()) && !nonfinite_end_ && samples_.test_size() > 0) {
    test = evaluate();
    if (!test) return;
  }
  const double evaluation_seconds = seconds_since(start);
  part_pause_ += evaluation_seconds;

  record.metrics = state_.sums.mean();
  curve_->epoch(record);
  if (test) {
    record.metrics = *test;
    curve_->test(record);
    state_.test = test;
  }
  state_.sums = {};
  state_.epoch = state_.step / per_epoch_;
  unsaved_ = true;
  progress_.test = test;
  report(true);
  progress_.test.reset();
  write_timing(evaluation_seconds);
  if (!nonfinite_end_) save_where_due(true);
  begin_part();
}

std::optional<Metrics> CellLoop::evaluate() {
  MetricSums sums;
  for (Index first = 0; first < samples_.test_size(); first += kEvaluationBlock) {
    if (stop_asked()) return std::nullopt;
    const Index count = std::min(kEvaluationBlock, samples_.test_size() - first);
    sums.add(trainer_.evaluate(samples_.test_batch(first, count)));
  }
  return sums.mean();
}

void CellLoop::begin_part() {
  part_began_ = Clock::now();
  part_pause_ = 0;
  part_steps_ = part_images_ = 0;
}

double CellLoop::part_seconds() const {
  return std::max(seconds_since(part_began_) - part_pause_, 1e-9);
}

void CellLoop::write_timing(double evaluation_seconds) {
  std::string line = "{\"epoch\":";
  append_number(line, static_cast<double>(state_.step) / static_cast<double>(per_epoch_));
  line += ",\"steps\":";
  append_number(line, static_cast<double>(part_steps_));
  line += ",\"seconds\":";
  append_number(line, part_seconds());
  line += ",\"images_per_second\":";
  append_number(line, static_cast<double>(part_images_) / part_seconds());
  line += ",\"evaluation_seconds\":";
  append_number(line, evaluation_seconds);
  line += ",\"checkpoint_seconds\":";
  append_number(line, part_pause_ - evaluation_seconds);
  line += "}\n";
  LineFile::append_to(job_.folder / "timing.jsonl").write(line);
}

void CellLoop::report(bool epoch_ended) {
  if (!job_.progress) return;
  progress_.step = state_.step;
  progress_.epoch = state_.step / per_epoch_;
  progress_.images_per_second = static_cast<double>(part_images_) / part_seconds();
  progress_.epoch_ended = epoch_ended;
  job_.progress(progress_);
}

LoopState CellLoop::synced_state() {
  LoopState state = state_;
  state.diverged_run = watch_.run();
  state.diverged_step = watch_.began();
  state.curve = curve_->sync();
  return state;
}

void CellLoop::save() {
  if (!unsaved_) return;
  publish();
  const Clock::time_point start = Clock::now();
  const Checkpoint now{synced_state(), trainer_.state()};
  // Weights that an update has spoilt are never saved; a resume comes from before.
  if (all_finite(now.tensors)) {
    save_checkpoint(job_.folder, job_.id, now, job_.before_publish);
    unsaved_ = false;
  }
  saved_at_ = Clock::now();
  save_seconds_ = seconds_since(start);
  part_pause_ += save_seconds_;
}

void CellLoop::save_where_due(bool epoch_ended) {
  constexpr double kSecondsPerMinute = 60;
  const double age = seconds_since(saved_at_);
  if (age >= config_.train.checkpoint_minutes * kSecondsPerMinute ||
      (epoch_ended && age * kCheckpointShare > save_seconds_))
    save();
}

bool CellLoop::save_final() {
  publish();
  const Checkpoint now{synced_state(), trainer_.state()};
  if (all_finite(now.tensors)) {
    save_checkpoint(job_.folder, job_.id, now, job_.before_publish);
  } else if (!careful_) {
    careful_ = true;
    restore();
    return false;
  } else if (finite_) {
    save_checkpoint(job_.folder, job_.id, *finite_, job_.before_publish);
  }
  return true;
}

CellResult CellLoop::finish() {
  const Prefix written = curve_->sync();
  const std::filesystem::path lines = job_.folder / "curve.jsonl";
  const std::string text = read_file(lines);
  publish();
  if (sha256_hex(text.data(), text.size()) != written.sha256)
    fail(ErrorKind::io, "[curve] ", lines.string(), " is not what was written; got ", text.size(),
         " bytes, expected ", written.bytes,
         "; something else writes there, or the disk is faulty");
  const Curve curve = parse_curve(text, lines.string());
  write_file_atomic(job_.folder / "curve.json", curve_json(curve), job_.before_publish);
  std::error_code ignored;
  std::filesystem::remove(previous_checkpoint(job_.folder), ignored);
  return summarise(curve);
}

CellResult CellLoop::summarise(const Curve& curve) const {
  CellResult result;
  result.steps = state_.step;
  result.epochs = state_.step / per_epoch_;
  const bool whole = std::any_of(curve.epochs.begin(), curve.epochs.end(),
                                 [](const EpochRecord& r) { return is_whole(r.epoch); });
  for (const EpochRecord& record : curve.epochs) {
    if (whole && !is_whole(record.epoch)) continue;
    const double accuracy = record.metrics.accuracy;
    result.train_loss = record.metrics.loss;
    result.train_accuracy = accuracy;
    result.best_train_accuracy = std::max(result.best_train_accuracy.value_or(accuracy), accuracy);
  }
  for (const EpochRecord& record : curve.tests) {
    const double accuracy = record.metrics.accuracy;
    result.test_loss = record.metrics.loss;
    result.test_accuracy = accuracy;
    result.best_test_accuracy = std::max(result.best_test_accuracy.value_or(accuracy), accuracy);
  }
  result.verdict = judge(config_.verdict, {.nonfinite_step = state_.nonfinite_step,
                                           .nonfinite = state_.nonfinite,
                                           .diverged_step = watch_.began(),
                                           .test_accuracy = result.test_accuracy,
                                           .classes = samples_.classes(),
                                           .test_samples = samples_.test_size()});
  return result;
}

void CellLoop::publish() const {
  if (job_.before_publish) job_.before_publish();
}

void CellLoop::say(const std::string& line) const {
  if (job_.say)
    job_.say(line);
  else
    std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace phasor
