#include "cli/progress.h"

#include <algorithm>

#include "cli/output.h"
#include "phasor/error.h"
#include "sweep/results_folder.h"

namespace phasor {
namespace {

constexpr std::chrono::milliseconds kRefresh{200};

}  // namespace

void ProgressDisplay::on_begin(const std::vector<const PlannedCell*>& cells, std::size_t finished) {
  count_ = cells.size() + finished;
  done_ = finished;
  for (const PlannedCell* cell : cells) flops_left_ += total_flops(*cell);
  if (finished > 0) {
    console_.note(std::to_string(finished) + " of " + std::to_string(count_) +
                  " cells have a result already");
  }
}

void ProgressDisplay::on_progress(const PlannedCell& cell, const Progress& progress) {
  std::string line;
  {
    const std::lock_guard lock(mutex_);
    Running& running = running_[&cell];
    running.flops = total_flops(cell);
    running.share = static_cast<double>(progress.step) /
                    static_cast<double>(std::max<Index>(progress.steps, 1));
    if (running.first_share < 0) running.first_share = running.share;
    running.images_per_second = progress.images_per_second;
    const auto now = Clock::now();
    const bool last = progress.step >= progress.steps;  // on_end says more
    if (console_.terminal() ? now - shown_ < kRefresh : !progress.epoch_ended || last) return;
    shown_ = now;
    // The epoch that ended, or the one under way.
    const Index epoch = std::min(progress.epoch + (progress.epoch_ended ? 0 : 1), progress.epochs);
    line = totals(/*speed=*/true) + concat("  ", cell.label, "  epoch ", epoch, "/",
                                           progress.epochs, "  loss ", fixed(progress.loss, 3));
    if (progress.test) line += "  test " + fixed(100 * progress.test->accuracy, 1) + "%";
  }
  if (console_.terminal()) {
    console_.progress(line);
  } else {
    console_.line(line);
  }
}

void ProgressDisplay::on_end(const PlannedCell& cell, CellState state,
                             const nlohmann::json& document) {
  std::string line;
  {
    const std::lock_guard lock(mutex_);
    double share = 1;
    if (const auto found = running_.find(&cell); found != running_.end()) {
      const Running& ended = found->second;
      flops_worked_ += ended.flops * (ended.share - ended.first_share);
      if (state == CellState::interrupted) share = ended.share;
      running_.erase(found);
    }
    flops_left_ -= share * total_flops(cell);
    if (state == CellState::done) ++done_;
    line = totals(/*speed=*/false) + "  " + cell.label + "  " + outcome_text(document);
  }
  if (state == CellState::failed) {
    console_.error(cell.id + ' ' + outcome_text(document));
  } else {
    console_.line(line);
  }
}

void ProgressDisplay::on_notice(const std::string& text) { console_.warn(text); }

std::string ProgressDisplay::totals(bool speed) const {
  double worked = flops_worked_, left = flops_left_, rate = 0;
  for (const auto& [cell, running] : running_) {
    worked += running.flops * (running.share - running.first_share);
    left -= running.flops * running.share;
    rate += running.images_per_second;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
  std::string text = std::to_string(done_) + "/" + std::to_string(count_) + " cells";
  if (speed && rate > 0) text += "  " + grouped(rate) + " images/s";
  if (worked > 0 && left > 0) text += "  " + duration_text(seconds * left / worked) + " left";
  return text;
}

std::string outcome_text(const nlohmann::json& document) {
  const std::string state = text_member(document, "state");
  if (state == "failed") return "failed: " + text_member(document, "error");
  if (state != "done" || !document.contains("result")) return state;
  const nlohmann::json& result = document["result"];
  std::string text = text_member(result["verdict"], "kind");
  if (result["verdict"]["step"].is_number()) text += " at step " + result["verdict"]["step"].dump();
  if (result["test_accuracy"].is_number()) {
    text += ", test " + fixed(100 * result["test_accuracy"].get<double>(), 1) + "%";
  }
  return text;
}

}  // namespace phasor
