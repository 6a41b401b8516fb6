// SIGINT and SIGTERM: the first asks for an orderly stop, the second ends the process at once.
#pragma once

#include "train/cell.h"

namespace phasor {

/// Directs both signals to `request` while in scope; one at a time in a process.
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
