// PHASOR_API: what a norm in a shared object may use of the program that loads it.
#pragma once

/// Everything else is hidden (CMake builds with -fvisibility=hidden), so that a plugin binds to the
/// program's public classes and functions and links nothing of ours.
#define PHASOR_API __attribute__((visibility("default")))
