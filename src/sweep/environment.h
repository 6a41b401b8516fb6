// Where and with what results are made: recorded beside them, part of no hash.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kernels/kernels.h"

namespace phasor {

/// "0.1.0 (3dc506c0a1b2, GNU 12.2.0, Release)"; the commit has a "+" where the sources differ from
/// it, and is left out where it was not known.
std::string version_text();

/// Version, commit, compiler, host, processor, cores, kernel set.
nlohmann::json environment_json(kernels::KernelSet set);

/// The processor's name as the system gives it, or "unknown".
std::string processor_name();

/// Cores that this process may use: its affinity mask and, under Linux control groups, its share of
/// processor time, rounded up. At least 1.
int usable_cores();

}  // namespace phasor
