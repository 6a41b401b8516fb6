// Errors that a user can cause, and the text that explains them.
#pragma once

#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>

#include "phasor/api.h"

namespace phasor {

/// What went wrong, as the process exit code that reports it (README, "Exit codes").
enum class ErrorKind : int {
  internal = 1,  ///< a bug of ours
  usage = 2,     ///< command line or configuration
  data = 3,      ///< a data set that is missing, damaged or of another kind
  plugin = 4,    ///< a norm plugin that cannot be used
  io = 5,        ///< reading or writing a file failed
  check = 7,     ///< a check failed (verify, check-norm, compare)
};

/// Every error that phasor throws. The message reads `[op] rule; got ...; hint`.
class PHASOR_API Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }
  int exit_code() const noexcept { return static_cast<int>(kind_); }

 private:
  ErrorKind kind_;
};

/// The arguments printed one after the other, in the classic locale whatever the process uses.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  (out << ... << parts);
  return out.str();
}

template <class... Parts>
[[noreturn]] void fail(ErrorKind kind, const Parts&... parts) {
  throw Error(kind, concat(parts...));
}

}  // namespace phasor

/// Throws a usage error unless `condition` holds. For what a caller can cause; the message parts
/// are evaluated only on failure.
#define PHASOR_CHECK(condition, ...)                                           \
  do {                                                                         \
    if (!(condition)) ::phasor::fail(::phasor::ErrorKind::usage, __VA_ARGS__); \
  } while (false)
