// The checks that a CIFAR file passes before anything is trained on it. Every complaint is one line
// of kind data: path, what is expected, what was found, what to do.
#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>

#include "data/records.h"

namespace phasor {

/// A layout of records: where the label lies, and how many classes there are.
struct RecordLayout {
  int record_bytes;
  int label_offset;   ///< of the label that is the target
  int coarse_offset;  ///< -1 where there is no coarse label
  int classes;

  int image_offset() const { return record_bytes - kImageBytes; }
};

inline constexpr RecordLayout kCifar100Layout = {kCifar100RecordBytes, 1, 0, kFineClasses};
inline constexpr RecordLayout kCifar10Layout = {kCifar10RecordBytes, 0, -1, 10};

/// What to do about a CIFAR-100 file that is missing or damaged.
std::string fetch_hint();

/// The folder must exist and be a folder.
void check_folder(const std::filesystem::path& folder, const std::string& hint);

/// The file must exist, be a regular file and hold `records` whole records. `manifest` says whether
/// a manifest gave that number. Told apart: empty, gzip, cut off, other split, CIFAR-10, short.
void check_file_size(const std::filesystem::path& path, Index records, const RecordLayout& layout,
                     bool manifest, const std::string& hint);

/// Coarse label of every fine label; -1 where a file does not show it.
using CoarseMap = std::array<int, kFineClasses>;

/// Labels in range, coarse and fine not swapped, every fine class under one coarse class (added to
/// and compared with `map`), and, where `per_class` > 0, that many records of every class.
void check_labels(const std::filesystem::path& path, std::span<const std::uint8_t> bytes,
                  const RecordLayout& layout, Index per_class, CoarseMap& map);

/// At most five fine classes under each coarse class, exactly five when all are seen.
void check_coarse_map(const std::filesystem::path& path, const CoarseMap& map);

}  // namespace phasor
