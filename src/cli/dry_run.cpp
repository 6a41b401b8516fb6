#include "cli/dry_run.h"

#include <algorithm>
#include <map>

#include "cli/output.h"
#include "phasor/error.h"
#include "sweep/environment.h"
#include "sweep/estimate.h"

namespace phasor {

std::string dry_run_text(const Plan& plan, const std::vector<std::size_t>& cells,
                         const std::vector<bool>& finished, int jobs, int threads) {
  const int cores = usable_cores();
  const int side = std::min<int>(jobs > 0 ? jobs : std::max(1, cores / std::max(1, threads)),
                                 static_cast<int>(std::max<std::size_t>(cells.size(), 1)));
  const int each = threads > 0 ? threads : std::max(1, cores / side);
  std::map<const Model*, double> speeds;  // FLOP/s on one thread
  std::vector<std::vector<std::string>> rows{
      {"cell", "parameters", "steps", "TFLOP", "memory MB", "on one core", "state"}};
  double seconds = 0, largest = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const PlannedCell& cell = plan.cells[cells[i]];
    const auto [speed, fresh] = speeds.emplace(cell.model.get(), 0);
    if (fresh) speed->second = measured_speed(cell, plan.kernels);
    const double cost = total_flops(cell) / speed->second;
    const double memory = memory_estimate(cell, each);
    if (!finished[i]) seconds += cost;
    largest = std::max(largest, memory);
    rows.push_back({cell.id, std::to_string(cell.model->parameter_count()),
                    std::to_string(total_steps(cell)), fixed(total_flops(cell) / 1e12, 2),
                    fixed(memory / 1e6, 0), duration_text(cost), finished[i] ? "done" : "to run"});
  }
  std::string out = align_columns(rows);
  const int used = std::min(cores, side * each);
  out += concat('\n', side, side == 1 ? " cell at a time, " : " cells side by side, ", each,
                each == 1 ? " thread" : " threads", " each, on ", used, " of ", cores,
                " cores: about ", duration_text(seconds / used), " and ",
                fixed(side * largest / 1e6, 0), " MB beyond the data set.\n");
  out +=
      "Times are extrapolated from a second of training steps per network on one thread; cores "
      "that "
      "work\nside by side may be slower. Memory is an estimate from the layers.\n";
  return out;
}

}  // namespace phasor
