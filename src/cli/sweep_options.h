// What the commands that train have in common: where, how much at once, how long, and how it ended.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "cli/arguments.h"
#include "sweep/scheduler.h"

namespace phasor {

/// --out, --jobs, --threads and --stop-after.
std::vector<OptionSpec> running_options();

/// When --stop-after is over, counted from now; a usage error where it is no duration.
std::optional<std::chrono::steady_clock::time_point> sweep_deadline(const Arguments& arguments);

/// The options of a sweep by configuration and command line, without its cells.
SweepOptions sweep_options(const Arguments& arguments, const Config& config);

/// 128 + signal, 5, 6, 8 or 0, the gravest first.
int sweep_exit_code(const SweepOutcome& outcome, const StopRequest& stop);

}  // namespace phasor
