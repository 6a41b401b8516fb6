// The one C entry of a norm in a shared object. phasor_add_norm_plugin (CMake) generates its
// definition; a norm file never includes this header.
#pragma once

#include <cstdint>

#include "phasor/api.h"
#include "phasor/build.h"
#include "phasor/norm.h"

namespace phasor {

/// Starts every entry: what the symbol names is meant as one.
inline constexpr std::uint64_t kPluginMagic = 0x6d726f6e2d736870;  // "phs-norm" in memory

/// Raised when the entry itself changes. The rest of the contract is covered by the fingerprint.
inline constexpr std::uint32_t kPluginInterface = 1;

/// What both sides must share for C++ classes to pass between them: the public headers, byte for
/// byte, and the compiler. Compared as text before anything of the plugin is called.
inline constexpr const char* kBuildFingerprint =
    "headers " PHASOR_HEADERS ", compiler " __VERSION__;

/// Plain data: reading it runs no code of the plugin.
struct PluginEntry {
  std::uint64_t magic;
  std::uint32_t interface_version;
  const char* fingerprint;
  const char* file;  ///< the norm file's name without its ending
  NormSpec (*spec)();
};

/// The symbol that a plugin defines, `extern "C" const phasor::PluginEntry phasor_norm_plugin`.
inline constexpr const char* kPluginSymbol = "phasor_norm_plugin";

}  // namespace phasor
