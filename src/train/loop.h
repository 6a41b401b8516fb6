// The training loop of one cell over any trainer.
#pragma once

#include <chrono>
#include <optional>

#include "train/cell.h"
#include "train/checkpoint.h"
#include "train/curve.h"
#include "train/samples.h"
#include "train/schedule.h"
#include "train/verdict.h"

namespace phasor {

/// Runs a cell from its newest checkpoint, or from the start. One object, one run.
///
/// A step that is not finite ends the cell (unless verdict.stop is never) with the weights before
/// it as its last checkpoint. Where an update has already spoilt those, the cell goes back to its
/// newest checkpoint and comes again, now with a look at the weights after every step, so as to
/// keep the last finite ones: they are the same wherever the newest checkpoint was.
class CellLoop {
 public:
  CellLoop(const CellJob& job, Trainer& trainer, CellSamples& samples);

  /// The result, or nothing where the stop request was obeyed and a checkpoint saved.
  std::optional<CellResult> run();

 private:
  using Clock = std::chrono::steady_clock;

  void restore();
  void load_initial_weights();
  /// Of the network's channels; empty where it pairs none.
  std::string pairing() const { return job_.model == nullptr ? "" : job_.model->pairing(); }
  bool ended() const;
  bool epoch_is_due() const;
  void step();
  void end_nonfinite(StepRecord record, const BatchSource& batch);
  void finish_epoch();
  /// Nothing where a stop was asked for meanwhile.
  std::optional<Metrics> evaluate();
  void begin_part();
  double part_seconds() const;
  void write_timing(double evaluation_seconds);
  void report(bool epoch_ended);

  /// The state as it goes into a checkpoint, everything it refers to being on the disk.
  LoopState synced_state();
  void save();
  void save_where_due(bool epoch_ended);
  /// False where the cell went back, to come again carefully.
  bool save_final();
  CellResult finish();
  CellResult summarise(const Curve& curve) const;

  void publish() const;
  void say(const std::string& line) const;
  bool stop_asked() const { return job_.stop != nullptr && job_.stop->any(); }

  const CellJob& job_;
  const Config& config_;
  Trainer& trainer_;
  CellSamples& samples_;
  const Index per_epoch_;
  const Index total_steps_;
  const Schedule schedule_;

  LoopState state_;
  DivergenceWatch watch_;
  std::optional<CurveWriter> curve_;
  bool unsaved_ = false;        ///< the newest checkpoint is older than the state
  bool nonfinite_end_ = false;  ///< a non-finite step ended the cell; its checkpoint is saved

  bool careful_ = false;              ///< look at the weights after every step
  std::optional<Checkpoint> finite_;  ///< the last finite ones seen while careful

  Clock::time_point saved_at_ = Clock::now();
  double save_seconds_ = 0;                      ///< what the last checkpoint cost
  Clock::time_point part_began_ = Clock::now();  ///< start of the epoch, or of the rest of it
  double part_pause_ = 0;                        ///< seconds of it that went into checkpoints
  Index part_steps_ = 0, part_images_ = 0;
  Progress progress_;
};

}  // namespace phasor
