// Shared objects whose entry is not that of this program. Their spec must never be called.
#include <cstdlib>

#include "phasor/plugin.h"

namespace {

phasor::NormSpec never() { std::abort(); }

}  // namespace

#ifndef PHASOR_ENTRY_absent
extern "C" PHASOR_API const phasor::PluginEntry phasor_norm_plugin;
const phasor::PluginEntry phasor_norm_plugin = {
#ifdef PHASOR_ENTRY_magic
    phasor::kPluginMagic + 1,
#else
    phasor::kPluginMagic,
#endif
#ifdef PHASOR_ENTRY_interface
    phasor::kPluginInterface + 1,
#else
    phasor::kPluginInterface,
#endif
#ifdef PHASOR_ENTRY_build
    "headers of last year",
#else
    phasor::kBuildFingerprint,
#endif
    "entry", never};
#else
extern "C" PHASOR_API phasor::NormSpec (*const unused)();
phasor::NormSpec (*const unused)() = never;
#endif
