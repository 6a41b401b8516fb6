#include "cli/signals.h"

#include <signal.h>
#include <unistd.h>

namespace phasor {
namespace {

// A signal handler can reach nothing but globals.
std::atomic<StopRequest*> current_request{nullptr};
static_assert(std::atomic<int>::is_always_lock_free);

constexpr int kExitBase = 128;  // shells report death by signal n as 128 + n

extern "C" void on_stop_signal(int signal) {
  StopRequest* request = current_request.load();
  if (request == nullptr || request->signal.exchange(signal) != 0) ::_exit(kExitBase + signal);
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void set_handler(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

SignalGuard::SignalGuard(StopRequest& request) {
  current_request = &request;
  set_handler(SIGINT, on_stop_signal);
  set_handler(SIGTERM, on_stop_signal);
  if (!is_ignored(SIGHUP)) set_handler(SIGHUP, on_stop_signal);
}

SignalGuard::~SignalGuard() {
  set_handler(SIGINT, SIG_DFL);
  set_handler(SIGTERM, SIG_DFL);
  if (!is_ignored(SIGHUP)) set_handler(SIGHUP, SIG_DFL);
  current_request = nullptr;
}

void ignore_write_signals() {
  set_handler(SIGPIPE, SIG_IGN);
  set_handler(SIGXFSZ, SIG_IGN);
}

}  // namespace phasor
