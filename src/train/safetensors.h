// The safetensors format: a length (8 bytes, little-endian), a JSON header, then raw tensor data.
//
// Files written here carry a checksum in `__metadata__`: "phasor.sha256" is the SHA-256 of the
// whole file with the 64 digits of the checksum itself read as zeros, so that it covers header and
// data. Floats are stored in the machine's order, which must be little-endian.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "train/trainer.h"

namespace phasor {

struct TensorFile {
  std::vector<NamedTensor> tensors;             ///< in the order of their data
  std::map<std::string, std::string> metadata;  ///< without the checksum
};

/// Files of other programs need no checksum; where there is one it must be right.
enum class Checksum { optional, required };

/// Writes tensors in the given order, atomically and durably: the same content gives the same
/// bytes. Throws an io error with path and cause; names must be unique and not "__metadata__".
/// `before_rename` as in AtomicFile::commit.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata,
                       const std::function<void()>& before_rename = {});

/// Reads a file of F32 and F64 tensors. Anything that does not fit exactly (lengths, offsets with
/// holes or overlaps, duplicate or malformed entries, another type, a wrong checksum) is an io
/// error that names `path` and what is wrong.
TensorFile read_safetensors(const std::filesystem::path& path,
                            Checksum checksum = Checksum::optional);

/// The same for a file in memory; `origin` stands for its path in messages.
TensorFile parse_safetensors(std::span<const std::uint8_t> bytes, const std::string& origin,
                             Checksum checksum = Checksum::optional);

}  // namespace phasor
