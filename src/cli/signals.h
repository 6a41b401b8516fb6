// SIGINT, SIGTERM and SIGHUP: the first asks for an orderly stop, the second ends the process at
// once.
#pragma once

#include "train/cell.h"

namespace phasor {

/// Directs these signals to `request` while in scope; one at a time in a process. A hang-up that
/// the caller had ignored (nohup) stays ignored.
class SignalGuard {
 public:
  explicit SignalGuard(StopRequest& request);
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
};

/// Makes closed pipes and file size limits errors of the write instead of deaths of the process.
void ignore_write_signals();

}  // namespace phasor
