// One cell of a sweep from its first step to its verdict: the training loop, its curve, its
// checkpoints and its end. Everything it writes lies in one folder and is byte-equal however often
// it was interrupted.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "config/config.h"
#include "data/dataset.h"
#include "train/trainer.h"

namespace phasor {

/// Why a cell stopped before its end, if it did. Set from a signal handler or a clock.
struct StopRequest {
  std::atomic<int> signal{0};        ///< SIGINT or SIGTERM, or 0
  std::atomic<bool> time_up{false};  ///< --stop-after
  bool any() const { return signal.load() != 0 || time_up.load(); }
};

/// What progress displays need, after each step.
struct Progress {
  Index step = 0, steps = 0;  ///< done and in all
  Index epoch = 0, epochs = 0;
  double loss = 0, accuracy = 0;  ///< of the last step
  double images_per_second = 0;
  bool epoch_ended = false;
  std::optional<Metrics> test;  ///< where an evaluation just ended
};

enum class VerdictKind { nonfinite, diverged, trained, stalled };
const char* name_of(VerdictKind kind);

/// The end of a cell, by the written rules of DESIGN section 7.
struct Verdict {
  VerdictKind kind = VerdictKind::stalled;
  std::optional<Index> step;  ///< where it went non-finite, or where divergence began
  std::optional<NonFinite> nonfinite;
};

/// Summary numbers of a finished cell.
struct CellResult {
  Verdict verdict;
  Index steps = 0, epochs = 0;  ///< done; a non-finite step is not counted
  /// Sample-weighted means of the last whole epoch, or of the part of one where there is none.
  std::optional<double> train_accuracy, train_loss;
  std::optional<double> test_accuracy, test_loss;  ///< last evaluation
  std::optional<double> best_test_accuracy;
  std::optional<double> best_train_accuracy;  ///< of the same epochs as train_accuracy
};

struct CellJob {
  Config config;  ///< one resolved cell
  std::shared_ptr<const Model> model;
  TrainerOptions trainer;
  std::string id;  ///< recorded in checkpoints; another id is refused
  std::filesystem::path folder;
  const Dataset* dataset = nullptr;
  StopRequest* stop = nullptr;
  std::function<void(const Progress&)> progress;  ///< may be empty
  std::function<void()> before_publish;           ///< throws where the claim on the cell was lost
  /// Gets warnings, one line each (a damaged checkpoint was passed over); standard error if empty.
  std::function<void(const std::string&)> say;
};

/// Runs, or continues from the newest sound checkpoint, until the end (a result) or until `stop`
/// asks (nullopt: a checkpoint is saved). Writes curve.jsonl and timing.jsonl as it goes,
/// curve.json and last.safetensors at the end; cell.json belongs to the sweep.
std::optional<CellResult> run_cell(const CellJob& job);

}  // namespace phasor
