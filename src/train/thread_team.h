// The threads that OpenMP will use, started where a failure can still be reported.
#pragma once

namespace phasor {

/// Makes this thread's OpenMP team one of `threads`. OpenMP itself has no way to say that the
/// system gives no more threads: its library prints a line and ends the process, and every job with
/// it. Throws an io error instead.
void start_thread_team(int threads);

}  // namespace phasor
