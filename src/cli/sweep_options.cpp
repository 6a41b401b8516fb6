#include "cli/sweep_options.h"

#include "phasor/error.h"

namespace phasor {

std::vector<OptionSpec> running_options() {
  return {{"out", "DIR", "results folder (default runs/<name>)"},
          {"jobs", "N", "cells side by side (default: one per core)"},
          {"threads", "N", "threads of a cell; results do not depend on it"},
          {"stop-after", "TIME", "save and leave after 90s, 150m or 2h (exit code 8)"}};
}

std::optional<std::chrono::steady_clock::time_point> sweep_deadline(const Arguments& arguments) {
  const auto limit = arguments.text("stop-after");
  if (!limit) return std::nullopt;
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
             std::chrono::duration<double>(parse_duration(*limit)));
}

SweepOptions sweep_options(const Arguments& arguments, const Config& config) {
  SweepOptions options;
  options.folder = ResultsFolder{output_path(config)};
  options.jobs = static_cast<int>(config.run.jobs);
  options.threads = static_cast<int>(config.run.threads);
  options.deadline = sweep_deadline(arguments);
  return options;
}

int sweep_exit_code(const SweepOutcome& outcome, const StopRequest& stop) {
  constexpr int kExitFailed = 6, kExitTimeUp = 8, kExitSignal = 128;
  if (stop.signal.load() != 0) return kExitSignal + stop.signal.load();
  if (outcome.io_failed) return static_cast<int>(ErrorKind::io);
  if (outcome.failed > 0) return kExitFailed;
  return outcome.unfinished > 0 ? kExitTimeUp : 0;
}

}  // namespace phasor
