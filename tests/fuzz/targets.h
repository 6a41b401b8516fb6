// What is fuzzed: a reader of foreign bytes each. A target returns where the bytes are accepted or
// refused as documented; anything else (another error, a crash, a round trip that differs) ends the
// program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace phasor::fuzz {

using Target = void (*)(const std::uint8_t* data, std::size_t size);

/// A configuration, and after a zero byte one setting as --set has it. What is accepted must read
/// back from its resolved text with the same hash.
void config(const std::uint8_t* data, std::size_t size);

/// A manifest.json, and after a zero byte the content of train.bin and test.bin.
void data_set(const std::uint8_t* data, std::size_t size);

/// A safetensors file. What is accepted holds no more than the file.
void safetensors(const std::uint8_t* data, std::size_t size);

}  // namespace phasor::fuzz
