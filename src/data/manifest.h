// manifest.json: what a folder of records holds when it is not the full CIFAR-100.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "data/records.h"

namespace phasor {

/// Content of manifest.json. The digests, where given, must match the files.
struct Manifest {
  std::string kind;  ///< "synthetic" or "cifar100"
  Index train_records = 0;
  Index test_records = 0;
  std::optional<std::uint64_t> seed;  ///< of the synthetic set
  std::string train_sha256;           ///< empty: not checked
  std::string test_sha256;
};

/// Reads `folder`/manifest.json; nothing when there is no such file. Throws (data) when it is not
/// valid: wrong JSON, missing, mistyped or unknown keys, counts below 1.
std::optional<Manifest> read_manifest(const std::filesystem::path& folder);

/// The text of a manifest.json.
std::string manifest_text(const Manifest& manifest);

}  // namespace phasor
