// Helpers of the fuzz targets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "phasor/error.h"

namespace phasor::fuzz {

/// Ends the program, for the fuzzer to keep the input.
[[noreturn]] inline void broken(const std::string& what) {
  std::cerr << "broken: " << what << std::endl;
  std::abort();
}

/// The bytes before the first zero, and those after it.
inline std::pair<std::string, std::string> split(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t at = bytes.find('\0');
  if (at == std::string::npos) return {bytes, ""};
  return {bytes.substr(0, at), bytes.substr(at + 1)};
}

/// Whether `work` succeeds; an error must be one of the documented kinds.
template <class Work>
bool accepts(const Work& work, std::initializer_list<ErrorKind> documented) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    for (const ErrorKind kind : documented) {
      if (error.kind() == kind) return false;
    }
    broken(std::string("an error of another kind: ") + error.what());
  }
}

}  // namespace phasor::fuzz
