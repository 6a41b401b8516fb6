#include "bench/usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

namespace phasor::bench {
namespace {
std::atomic<std::uint64_t> counter{0};
}

std::uint64_t allocations() { return counter.load(std::memory_order_relaxed); }
void count_allocation() { counter.fetch_add(1, std::memory_order_relaxed); }

std::uint64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_minflt + usage.ru_majflt);
}

std::uint64_t resident_bytes() {
  std::uint64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace phasor::bench
