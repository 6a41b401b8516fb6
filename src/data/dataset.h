// A data set: two splits of labelled 32 x 32 images, read-only, checked, with their digests.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "config/config.h"
#include "core/file.h"
#include "data/batches.h"
#include "data/records.h"

namespace phasor {

/// Opened once and shared by all cells and threads. Files are mapped, not copied.
class Dataset {
 public:
  /// Opens what `config` names (kind, path, train_limit, test_limit) and checks all of it: sizes,
  /// label ranges, class counts, fine to coarse being a function, a manifest's digests. Throws
  /// (data) one line that names path, expected and found; (usage) for limits beyond the file.
  /// Without a path, CIFAR is looked for in its usual folder (data_path()), and `synthetic` is the
  /// embedded set.
  explicit Dataset(const DataConfig& config);
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  DataKind kind() const { return kind_; }
  bool synthetic() const { return kind_ == DataKind::synthetic; }
  int classes() const { return classes_; }

  /// Samples in use: the first `limit` records of the split, all without a limit.
  Index count(Split split) const { return part(split).count; }

  /// Image `i`: kImageBytes bytes, 32 x 32 red, then green, then blue.
  const std::uint8_t* image(Split split, Index i) const { return record(split, i) + image_offset_; }
  /// Label `i`; of CIFAR-100 the fine one.
  int label(Split split, Index i) const { return record(split, i)[label_offset_]; }

  /// One name per class; empty where the folder has no file of names.
  const std::vector<std::string>& class_names() const { return class_names_; }

  /// SHA-256 of the whole split's file (of the five files together for CIFAR-10).
  const std::string& digest(Split split) const { return part(split).digest; }

  /// Whether both digests are those of the official CIFAR-100.
  bool official() const { return official_; }

  const Normalisation& normalisation() const {
    return kind_ == DataKind::cifar10 ? kCifar10Normalisation : kCifar100Normalisation;
  }

  /// `CIFAR-100, 50000 training and 10000 test images, 100 classes (fine)` and, where it matters,
  /// one line more per peculiarity (synthetic data, another order than the official files').
  const std::vector<std::string>& description() const { return description_; }

 private:
  struct Part {
    std::vector<MappedFile> files;
    std::vector<std::uint8_t> memory;         // of the embedded set
    std::vector<const std::uint8_t*> chunks;  // start of each file
    Index chunk_records = 0;                  // records in each file
    Index total = 0;
    Index count = 0;
    std::string digest;
  };

  const Part& part(Split split) const { return parts_[static_cast<std::size_t>(split)]; }
  Part& part(Split split) { return parts_[static_cast<std::size_t>(split)]; }
  const std::uint8_t* record(Split split, Index i) const {
    const Part& p = part(split);
    return p.chunks[static_cast<std::size_t>(i / p.chunk_records)] +
           i % p.chunk_records * record_bytes_;
  }

  void make_synthetic();
  void open_records(const std::filesystem::path& folder);
  void open_cifar10(const std::filesystem::path& folder);
  void describe();

  DataKind kind_;
  int classes_ = kFineClasses;
  int record_bytes_ = kCifar100RecordBytes;
  int label_offset_ = 1;
  int image_offset_ = 2;
  bool official_ = false;
  std::array<Part, 2> parts_;
  std::vector<std::string> class_names_;
  std::vector<std::string> description_;
};

}  // namespace phasor
