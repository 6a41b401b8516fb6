#include "data/dataset.h"

#include <future>
#include <optional>
#include <sstream>
#include <utility>

#include "core/sha256.h"
#include "data/checks.h"
#include "data/manifest.h"
#include "data/synthetic.h"

namespace phasor {
namespace {

namespace fs = std::filesystem;

constexpr Index kFullTrain = 50000;
constexpr Index kFullTest = 10000;
constexpr const char* kOfficialTrain =
    "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29";
constexpr const char* kOfficialTest =
    "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a";

// How to get the files of a kind.
std::string hint_for(DataKind kind) {
  switch (kind) {
    case DataKind::cifar100:
      return fetch_hint();
    case DataKind::cifar10:
      return "unpack cifar-10-binary.tar.gz there";
    case DataKind::synthetic:
      break;
  }
  return "make it with phasor-train make-data";
}

const char* name_of(Split split) { return split == Split::train ? "train" : "test"; }

// The names, one a line; a file with another number of lines is left out.
std::vector<std::string> read_names(const fs::path& path, int classes) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  std::vector<std::string> names;
  std::istringstream text(read_file(path, ErrorKind::data));
  for (std::string line; std::getline(text, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
  if (names.size() != static_cast<std::size_t>(classes)) names.clear();
  return names;
}

// Does both splits at once: reading and hashing them is most of the time to the first step.
template <class Work>
void for_both_splits(const Work& work) {
  auto test = std::async(std::launch::async, [&] { work(Split::test); });
  work(Split::train);
  test.get();
}

Index limited(std::optional<std::int64_t> limit, Index total, Split split) {
  if (!limit) return total;
  PHASOR_CHECK(*limit >= 1 && *limit <= total, "[data] data.", name_of(split),
               "_limit must be from 1 to ", total, "; got ", *limit);
  return *limit;
}

}  // namespace

Dataset::Dataset(const DataConfig& config) : kind_(config.kind) {
  const fs::path folder = data_path(config);
  if (folder.empty()) {
    make_synthetic();
  } else {
    check_folder(folder, concat(hint_for(kind_), "; another folder: --data DIR"));
    kind_ == DataKind::cifar10 ? open_cifar10(folder) : open_records(folder);
  }
  part(Split::train).count = limited(config.train_limit, part(Split::train).total, Split::train);
  part(Split::test).count = limited(config.test_limit, part(Split::test).total, Split::test);
  describe();
}

void Dataset::make_synthetic() {
  for_both_splits([&](Split split) {
    Part& p = part(split);
    p.total = p.chunk_records = split == Split::train ? kSyntheticTrain : kSyntheticTest;
    p.memory = make_synthetic_split(kSyntheticSeed, split, p.total);
    p.chunks = {p.memory.data()};
    p.digest = sha256_hex(p.memory.data(), p.memory.size());
  });
  class_names_ = synthetic_fine_names();
}

void Dataset::open_records(const fs::path& folder) {
  const std::optional<Manifest> manifest = read_manifest(folder);
  const std::string found = manifest ? manifest->kind : "cifar100";
  const std::string wanted = synthetic() ? "synthetic" : "cifar100";
  if (found != wanted)
    fail(ErrorKind::data, "[data] ", folder.string(), " must hold ", wanted, " data; got ", found,
         manifest ? " by its manifest.json" : " (no manifest.json)", "; set data.kind to ", found,
         " or name another folder");

  const std::string hint = hint_for(kind_);
  const bool full = !manifest;
  part(Split::train).total = full ? kFullTrain : manifest->train_records;
  part(Split::test).total = full ? kFullTest : manifest->test_records;
  const auto path_of = [&](Split split) { return folder / concat(name_of(split), ".bin"); };
  for (const Split split : {Split::train, Split::test})
    check_file_size(path_of(split), part(split).total, kCifar100Layout, !full, hint);

  for_both_splits([&](Split split) {
    Part& p = part(split);
    p.files.emplace_back(path_of(split), ErrorKind::data);
    if (static_cast<Index>(p.files[0].size()) != p.total * kCifar100RecordBytes)
      fail(ErrorKind::data, "[data] ", path_of(split).string(), " must keep its size; got ",
           p.files[0].size(), " bytes: it changed while it was opened");
    p.chunks = {p.files[0].data()};
    p.chunk_records = p.total;
    p.digest = sha256_hex(p.files[0].data(), p.files[0].size());
  });

  CoarseMap map;
  map.fill(-1);
  for (const Split split : {Split::train, Split::test}) {
    const Part& p = part(split);
    check_labels(path_of(split), p.files[0].bytes(), kCifar100Layout,
                 full ? p.total / kFineClasses : 0, map);
    check_coarse_map(path_of(split), map);
    const std::string listed = !manifest               ? ""
                               : split == Split::train ? manifest->train_sha256
                                                       : manifest->test_sha256;
    if (!listed.empty() && listed != p.digest)
      fail(ErrorKind::data, "[data] ", path_of(split).string(), " must have the SHA-256 ", listed,
           " of its manifest.json; got ", p.digest, "; ", hint);
  }
  official_ = full && part(Split::train).digest == kOfficialTrain &&
              part(Split::test).digest == kOfficialTest;
  class_names_ = read_names(folder / "fine_label_names.txt", kFineClasses);
}

void Dataset::open_cifar10(const fs::path& folder) {
  const std::string hint = hint_for(kind_);
  constexpr Index kRecords = 10000;
  classes_ = kCifar10Layout.classes;
  record_bytes_ = kCifar10Layout.record_bytes;
  label_offset_ = kCifar10Layout.label_offset;
  image_offset_ = kCifar10Layout.image_offset();
  for_both_splits([&](Split split) {
    Part& p = part(split);
    std::vector<std::uint8_t> labels;
    Sha256 digest;
    CoarseMap unused{};
    for (int number = 1; number <= (split == Split::train ? 5 : 1); ++number) {
      const fs::path path = folder / (split == Split::train ? concat("data_batch_", number, ".bin")
                                                            : std::string("test_batch.bin"));
      check_file_size(path, kRecords, kCifar10Layout, false, hint);
      const MappedFile& file = p.files.emplace_back(path, ErrorKind::data);
      // Only the test batch is balanced by itself; the training set is balanced as a whole.
      check_labels(path, file.bytes(), kCifar10Layout,
                   split == Split::test ? kRecords / classes_ : 0, unused);
      digest.update(file.data(), file.size());
      p.chunks.push_back(file.data());
      p.total += kRecords;
    }
    p.chunk_records = kRecords;
    p.digest = digest.hex();
  });
  std::vector<Index> members(static_cast<std::size_t>(classes_));
  for (Index i = 0; i < part(Split::train).total; ++i)
    ++members[static_cast<std::size_t>(label(Split::train, i))];
  for (std::size_t c = 0; c < members.size(); ++c)
    if (members[c] != 5000)
      fail(ErrorKind::data, "[data] ", (folder / "data_batch_*.bin").string(),
           " must hold 5000 records of every class; got ", members[c], " of class ", c, "; ", hint);
  class_names_ = read_names(folder / "batches.meta.txt", classes_);
}

void Dataset::describe() {
  const char* name = synthetic()                  ? "synthetic data"
                     : kind_ == DataKind::cifar10 ? "CIFAR-10"
                                                  : "CIFAR-100";
  description_.push_back(concat(name, ", ", count(Split::train), " training and ",
                                count(Split::test), " test images, ", classes_, " classes",
                                kind_ == DataKind::cifar10 ? "" : " (fine)"));
  if (synthetic())
    description_.push_back("made by a formula, not photographs: results say nothing about CIFAR");
  for (const Split split : {Split::train, Split::test})
    if (count(split) < part(split).total)
      description_.push_back(concat("limited to the first ", count(split), " of ",
                                    part(split).total, " ", name_of(split), " records"));
  if (kind_ == DataKind::cifar100 && !official_)
    description_.push_back(
        "size and content are right, but the digests are not those of the "
        "official files (another order?): recorded as \"official\": false");
}

}  // namespace phasor
