#include "train/thread_team.h"

#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#include "phasor/error.h"

namespace phasor {
namespace {

/// Whether the system gives `count` further threads at once; they have ended when this returns, and
/// their stacks are there for the next.
void try_threads(int count) {
  std::latch all_there(1);
  std::vector<std::jthread> trial;
  int started = 0;
  try {
    trial.reserve(static_cast<std::size_t>(count));
    for (; started < count; ++started) trial.emplace_back([&] { all_there.wait(); });
  } catch (const std::system_error& error) {
    all_there.count_down();
    fail(ErrorKind::io, "[threads] cannot start ", count + 1, " threads for a cell; got ",
         started + 1, ", then: ", error.code().message(),
         "; fewer jobs or threads, or a higher limit of memory or processes, help");
  }
  all_there.count_down();
}

}  // namespace

void start_thread_team(int threads) {
  // libgomp keeps a team for each thread that opens parallel regions, as large as its last region.
  thread_local int team = 1;
  if (threads > team) try_threads(threads - team);
#pragma omp parallel num_threads(threads)
  {}
  team = threads;
}

}  // namespace phasor
