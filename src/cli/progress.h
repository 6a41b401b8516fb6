// What a sweep shows while it runs: one line written over on a terminal, one line per epoch
// elsewhere.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include "cli/console.h"
#include "sweep/scheduler.h"

namespace phasor {

class ProgressDisplay final : public SweepObserver {
 public:
  explicit ProgressDisplay(Console& console) : console_(console) {}

  void on_begin(const std::vector<const PlannedCell*>& cells, std::size_t finished) override;
  void on_progress(const PlannedCell& cell, const Progress& progress) override;
  void on_end(const PlannedCell& cell, CellState state, const nlohmann::json& document) override;
  void on_notice(const std::string& text) override;

 private:
  using Clock = std::chrono::steady_clock;

  struct Running {
    double flops = 0;              ///< of the whole cell
    double first_share = -1;       ///< done when we began: a cell may continue
    double share = 0;              ///< done now
    double images_per_second = 0;  ///< of training, in this epoch so far
  };

  /// "3/27 cells  8,458 images/s  22m left". Time left is for all cells of the selection, other
  /// processes' too, at the pace of this process since it began.
  std::string totals(bool speed) const;

  Console& console_;
  std::mutex mutex_;  // of all below
  std::map<const PlannedCell*, Running> running_;
  std::size_t done_ = 0, count_ = 0;
  double flops_left_ = 0;    ///< of cells that have not ended, and of what interrupted ones lack
  double flops_worked_ = 0;  ///< by this process, in cells that have ended
  Clock::time_point began_ = Clock::now(), shown_{};
};

/// "trained, test 23.4%", "nonfinite at step 12", "failed: ..." from a cell.json.
std::string outcome_text(const nlohmann::json& document);

}  // namespace phasor
