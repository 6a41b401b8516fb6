#include "sweep/environment.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "commit.h"
#include "version.h"

namespace phasor {
namespace {

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

/// Cores by the quota of the control group (cgroup v2), or 0 where there is none.
int quota_cores() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota, period;
  if (!(file >> quota >> period)) return 0;
  long time = 0, interval = 0;
  std::from_chars(quota.data(), quota.data() + quota.size(), time);  // stays 0 for "max"
  std::from_chars(period.data(), period.data() + period.size(), interval);
  return time > 0 && interval > 0 ? static_cast<int>((time + interval - 1) / interval) : 0;
}

}  // namespace

std::string version_text() {
  std::string text = PHASOR_VERSION " (";
  if (PHASOR_COMMIT[0] != '\0') text += PHASOR_COMMIT ", ";
  return text + PHASOR_COMPILER ", " PHASOR_BUILD_TYPE ")";
}

nlohmann::json environment_json(kernels::KernelSet set) {
  nlohmann::json out = {{"version", PHASOR_VERSION},       {"compiler", PHASOR_COMPILER},
                        {"build_type", PHASOR_BUILD_TYPE}, {"host", host_name()},
                        {"processor", processor_name()},   {"cores", usable_cores()},
                        {"kernels", kernels::name_of(set)}};
  out["commit"] = PHASOR_COMMIT[0] != '\0' ? nlohmann::json(PHASOR_COMMIT) : nlohmann::json();
  return out;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

int usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  const bool known = ::sched_getaffinity(0, sizeof mask, &mask) == 0;
  const int cores =
      known ? CPU_COUNT(&mask) : static_cast<int>(std::thread::hardware_concurrency());
  const int quota = quota_cores();
  return std::max(1, quota > 0 ? std::min(cores, quota) : cores);
}

}  // namespace phasor
