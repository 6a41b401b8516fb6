// Norms from shared objects: the plugins of phasor_add_norm_plugin().
#pragma once

#include <filesystem>
#include <string>

#include "phasor/norm.h"

namespace phasor {

/// Loads a plugin and adds its norm to those of norm_specs(); returns the norm's name. The same
/// file again is loaded once.
///
/// Everything is tried in a forked child first: the file is loaded, its entry read (magic,
/// interface version, build fingerprint, before any of its functions is called), its spec taken, a
/// layer made and applied once. So a plugin that is missing, no shared object, unreadable, of
/// another interface or build, that throws, crashes, hangs, writes to its input, returns a wrong
/// shape or non-finite numbers, or whose norm's name is taken, is an error of kind plugin with path
/// and reason.
///
/// To be called before any thread exists and before a reference into norm_specs() is kept.
std::string load_norm_plugin(const std::filesystem::path& path);

/// SHA-256 of the plugin file that brought the norm `name`; empty for a built-in norm.
std::string plugin_digest(const std::string& name);

}  // namespace phasor
