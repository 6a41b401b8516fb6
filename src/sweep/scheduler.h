// Runs the cells of a plan: several side by side, longest first, sharing the folder with other
// processes, and never the same cell twice.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sweep/cell_record.h"
#include "sweep/plan.h"
#include "sweep/results_folder.h"
#include "train/cell.h"

namespace phasor {

/// Sees a sweep at work: displays. Called from several threads at once, but for on_begin.
class SweepObserver {
 public:
  virtual ~SweepObserver() = default;
  /// `cells` are to be run; `finished` others of the selection have a result already.
  virtual void on_begin(const std::vector<const PlannedCell*>& cells, std::size_t finished) = 0;
  virtual void on_progress(const PlannedCell& cell, const Progress& progress) = 0;
  /// `document` is the content of cell.json.
  virtual void on_end(const PlannedCell& cell, CellState state, const nlohmann::json& document) = 0;
  /// Something the user should read.
  virtual void on_notice(const std::string& text) = 0;
};

struct SweepOptions {
  ResultsFolder folder;
  std::vector<std::size_t> cells;  ///< numbers of the plan's cells (select_cells)
  int jobs = 0;                    ///< cells side by side; 0: one per core
  int threads = 0;                 ///< of each cell; 0: the cores shared among the jobs
  std::optional<std::chrono::steady_clock::time_point> deadline;  ///< of --stop-after
  /// What runs a cell; tests put faults here.
  std::function<std::optional<CellResult>(const CellJob&)> run = run_cell;
};

struct SweepOutcome {
  std::size_t finished = 0;  ///< cells of the selection with a result
  std::size_t failed = 0;
  std::size_t unfinished = 0;  ///< stopped before their end or never begun
  bool io_failed = false;      ///< some failure was one of reading or writing
};

/// Runs until every selected cell has a result or failed, or `stop` asks. A cell that throws is
/// recorded as failed, with its message, and the others go on. Waits for cells that other processes
/// hold. The folder is open (open_results).
SweepOutcome run_sweep(const Plan& plan, const SweepOptions& options, StopRequest& stop,
                       SweepObserver& observer);

/// Threads for the cell that starts as number `started` (from 0) of `count`, `jobs` side by side on
/// `cores`: an even share, and the last cells share the cores among themselves.
int threads_for(std::size_t started, std::size_t count, int jobs, int cores);

}  // namespace phasor
