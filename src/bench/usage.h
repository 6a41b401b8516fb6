// What a piece of work costs beside time: allocations, page faults, resident memory.
#pragma once

#include <cstdint>

namespace phasor::bench {

/// Calls of operator new since the program started (allocations.cpp counts them).
std::uint64_t allocations();
void count_allocation();

/// Minor and major page faults of this process so far.
std::uint64_t page_faults();

/// Resident memory of this process now, in bytes.
std::uint64_t resident_bytes();

}  // namespace phasor::bench
