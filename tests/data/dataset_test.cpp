#include "data/dataset.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "core/sha256.h"
#include "data/folder.h"
#include "data/synthetic.h"

using namespace phasor;
using test::error_of;
using test::Folder;

namespace {

using Bytes = std::vector<std::uint8_t>;

// Records in CIFAR-100's layout: record i is of fine class i % 100; every image byte holds the low
// byte of its position in the record.
Bytes records(Index count) {
  Bytes bytes(static_cast<std::size_t>(count) * kCifar100RecordBytes);
  for (Index i = 0; i < count; ++i) {
    std::uint8_t* record = bytes.data() + i * kCifar100RecordBytes;
    record[0] = static_cast<std::uint8_t>(i % 100 / 5);
    record[1] = static_cast<std::uint8_t>(i % 100);
    for (int byte = 2; byte < kCifar100RecordBytes; ++byte)
      record[byte] = static_cast<std::uint8_t>(byte);
  }
  return bytes;
}

std::string manifest(int train, int test, const char* kind = "cifar100") {
  return concat(R"({"format": "phasor-data", "version": 1, "kind": ")", kind,
                R"(", "train": {"records": )", train, R"(}, "test": {"records": )", test, "}}");
}

DataConfig config_of(const Folder& folder, DataKind kind = DataKind::cifar100) {
  DataConfig config;
  config.kind = kind;
  config.path = folder.path().string();
  return config;
}

// The error of opening `folder`, its path shortened to `DIR`.
std::string opening(const Folder& folder, DataKind kind = DataKind::cifar100) {
  std::string text = error_of([&] { Dataset data(config_of(folder, kind)); });
  const std::string path = folder.path().string();
  for (std::size_t at; (at = text.find(path)) != std::string::npos;)
    text.replace(at, path.size(), "DIR");
  CHECK(text.find('\n') == std::string::npos);
  return text;
}

bool holds(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE("not in: ", text);
  return found;
}

// A small legal set; `change` may spoil the training records.
template <class Change>
std::string opening_after(const Change& change, Index count = 1000) {
  const Folder folder;
  Bytes train = records(count);
  change(train);
  folder.write("train.bin", train);
  folder.write("test.bin", records(100));
  folder.write("manifest.json", manifest(static_cast<int>(count), 100));
  return opening(folder);
}

// Sparse files of zeros: sizes without the bytes.
void truncate_file(const Folder& folder, const char* name, Index size) {
  folder.write(name, std::string());
  REQUIRE(::truncate((folder.path() / name).c_str(), size) == 0);
}

constexpr const char* kFetch = "fetch CIFAR-100 with: scripts/fetch_cifar100.sh data";

}  // namespace

TEST_CASE("B39: image starts at byte 2") {
  const Folder folder;
  folder.write("train.bin", records(200));
  folder.write("test.bin", records(100));
  folder.write("manifest.json", manifest(200, 100));
  const Dataset data(config_of(folder));
  REQUIRE(data.count(Split::train) == 200);
  for (const Index i : {0, 1, 199}) {
    const std::uint8_t* image = data.image(Split::train, i);
    CHECK(image[0] == 2);                                              // R[0][0]
    CHECK(image[kPlane] == static_cast<std::uint8_t>(2 + 1024));       // G[0][0]
    CHECK(image[kImageBytes - 1] == static_cast<std::uint8_t>(3073));  // B[31][31]
    CHECK(data.label(Split::train, i) == i % 100);
  }
  const Bytes bytes = records(200);
  CHECK(data.digest(Split::train) == sha256_hex(bytes.data(), bytes.size()));
  CHECK_FALSE(data.official());
}

TEST_CASE("B40: fine labels by default, swapped or coarse labels are told") {
  const Folder folder;
  folder.write("train.bin", records(1000));
  folder.write("test.bin", records(100));
  folder.write("manifest.json", manifest(1000, 100));
  const Dataset data(config_of(folder));
  CHECK(data.classes() == 100);
  CHECK(data.description().at(0) ==
        "CIFAR-100, 1000 training and 100 test images, 100 classes (fine)");

  CHECK(
      holds(opening_after([](Bytes& bytes) {
              for (std::size_t i = 0; i < bytes.size(); i += kCifar100RecordBytes)
                std::swap(bytes[i], bytes[i + 1]);
            }),
            "3: [data] DIR/train.bin must hold the coarse label (0 to 19), then the fine one (0 to "
            "99); got them swapped: the second byte looks like coarse labels, record 20 starts "
            "with 20; swap the two bytes"));
  CHECK(holds(opening_after([](Bytes& bytes) {
                for (std::size_t i = 0; i < bytes.size(); i += kCifar100RecordBytes)
                  bytes[i + 1] = bytes[i];
              }),
              "got none above 19, which looks like coarse labels"));
  CHECK(holds(opening_after([](Bytes& bytes) { bytes[5 * kCifar100RecordBytes] = 77; }),
              "must hold coarse labels from 0 to 19; got 77 in record 5"));
  CHECK(holds(opening_after([](Bytes& bytes) { bytes[7 * kCifar100RecordBytes + 1] = 100; }),
              "must hold labels from 0 to 99; got 100 in record 7"));
}

TEST_CASE("B41: fine to coarse is a function with five fine classes per coarse class") {
  CHECK(holds(opening_after([](Bytes& bytes) { bytes[300 * kCifar100RecordBytes] = 9; }),
              "got fine class 0 under coarse 0 and, in record 300, 9"));
  CHECK(holds(opening_after([](Bytes& bytes) {
                for (std::size_t i = 0; i < bytes.size(); i += kCifar100RecordBytes)
                  if (bytes[i + 1] == 99) bytes[i] = 0;
              }),
              "must hold 5 fine classes under each coarse class; got 6 under coarse 0"));
  // The test file is held against the map of the training file.
  const Folder folder;
  Bytes test = records(100);
  test[0] = 1;
  folder.write("train.bin", records(100));
  folder.write("test.bin", test);
  folder.write("manifest.json", manifest(100, 100));
  CHECK(holds(opening(folder), "DIR/test.bin must hold every fine class under one coarse class"));
}

TEST_CASE("B42: a file of the wrong size or kind is one line with expected and found") {
  const Folder folder;
  CHECK(opening(folder) == concat("3: [data] DIR/train.bin must have 153700000 bytes; got no such "
                                  "file; ",
                                  kFetch));
  const std::string prefix =
      "3: [data] DIR/train.bin must have 153700000 bytes (50000 records); got ";
  const auto size_error = [&](Index size) {
    truncate_file(folder, "train.bin", size);
    return opening(folder);
  };
  CHECK(size_error(153699999) ==
        prefix + "153699999: the file is cut off or damaged, records have 3074 bytes; " + kFetch);
  CHECK(size_error(30740) == prefix + "30740: the file holds only 10 records; " + kFetch);
  CHECK(size_error(0) == prefix + "0: the file is empty; " + kFetch);
  CHECK(size_error(30730000) ==
        prefix + "30730000: this looks like CIFAR-10 (records of 3073 bytes); " + kFetch);
  CHECK(size_error(30740000) == prefix + "30740000: this looks like the test split; " + kFetch);
  folder.write("train.bin", Bytes{0x1f, 0x8b, 8, 0});
  CHECK(opening(folder) == prefix + "4: this is a gzip archive, unpack it first; " + kFetch);

  std::filesystem::remove(folder.path() / "train.bin");
  std::filesystem::create_directory(folder.path() / "train.bin");
  CHECK(holds(opening(folder), "must be a file of 153700000 bytes; got a folder"));
  std::filesystem::remove(folder.path() / "train.bin");
  truncate_file(folder, "train.bin", 153700000);
  CHECK(holds(opening(folder), "DIR/test.bin must have 30740000 bytes; got no such file"));
  // Right sizes, but all zero: one class only.
  truncate_file(folder, "test.bin", 30740000);
  CHECK(holds(opening(folder), "got none above 19, which looks like coarse labels"));
}

TEST_CASE("B42: a folder that is none, a path that is missing, a file that cannot be read") {
  const Folder folder;
  DataConfig config = config_of(folder);
  config.path = (folder.path() / "none").string();
  CHECK(holds(error_of([&] { Dataset data(config); }), "3: [data] "));
  CHECK(holds(error_of([&] { Dataset data(config); }), "got nothing there; fetch CIFAR-100 with"));
  folder.write("archive.tar.gz", Bytes{0x1f, 0x8b});
  config.path = (folder.path() / "archive.tar.gz").string();
  CHECK(holds(error_of([&] { Dataset data(config); }), "got a file; name the folder"));

  folder.write("train.bin", records(100));
  folder.write("test.bin", records(100));
  folder.write("manifest.json", manifest(100, 100));
  ::chmod((folder.path() / "train.bin").c_str(), 0);
  if (::access((folder.path() / "train.bin").c_str(), R_OK) == 0)
    MESSAGE("skipped: this user may read every file");
  else
    CHECK(holds(opening(folder), "3: [read] cannot open DIR/train.bin; got Permission denied"));
}

TEST_CASE("B42: without a path, a set is looked for in the usual folder of its kind") {
  const Folder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  DataConfig config;
  config.kind = DataKind::cifar100;
  const std::string missing = error_of([&] { Dataset data(config); });
  std::filesystem::create_directories("data/cifar-100-binary");
  const std::string empty = error_of([&] { Dataset data(config); });
  for (const char* name : {"train.bin", "test.bin"})
    folder.write((std::string("data/cifar-100-binary/") + name).c_str(), records(100));
  folder.write("data/cifar-100-binary/manifest.json", manifest(100, 100));
  const std::string there = error_of([&] { Dataset data(config); });
  config.kind = DataKind::cifar10;
  const std::string other = error_of([&] { Dataset data(config); });
  std::filesystem::current_path(before);
  CHECK(missing ==
        "3: [data] data/cifar-100-binary must be a folder of data files; got nothing there; " +
            std::string(kFetch) + "; another folder: --data DIR");
  CHECK(holds(empty, "3: [data] data/cifar-100-binary/train.bin must have 153700000 bytes"));
  CHECK(there.empty());
  CHECK(holds(other, "3: [data] data/cifar-10-batches-bin must be a folder"));
}

TEST_CASE("B42: a manifest makes other sizes legal and must tell the truth") {
  const Folder folder;
  folder.write("train.bin", records(110));
  folder.write("test.bin", records(100));
  folder.write("manifest.json", manifest(100, 100));
  CHECK(holds(opening(folder),
              "must have 307400 bytes (100 records, by its manifest.json); got 338140"));
  folder.write("manifest.json", manifest(110, 100));
  CHECK(opening(folder) == "");
  CHECK(holds(opening(folder, DataKind::synthetic),
              "DIR must hold synthetic data; got cifar100 by its manifest.json; set data.kind to "
              "cifar100"));
  for (const char* text : {"", "[]", "{\"format\": 1", "{}", R"({"format": "phasor-data"})",
                           R"({"format": "phasor-data", "version": 1, "kind": "other"})",
                           R"({"format": "phasor-data", "version": 1, "kind": "cifar100"})"}) {
    folder.write("manifest.json", std::string(text));
    CHECK(holds(opening(folder), "3: [data] DIR/manifest.json "));
  }
  folder.write("manifest.json", manifest(0, 100));
  CHECK(holds(opening(folder), "needs \"train\": {\"records\": n}"));
}

TEST_CASE("a set that make-data wrote opens as synthetic only, and damage is seen") {
  const Folder folder;
  write_dataset(folder.path(), 7, 200, 100);
  const Dataset data(config_of(folder, DataKind::synthetic));
  CHECK(data.count(Split::train) == 200);
  CHECK(data.class_names().at(42) == "wave4-tint2");
  CHECK(holds(data.description().at(1), "made by a formula"));
  CHECK(holds(opening(folder), "DIR must hold cifar100 data; got synthetic by its manifest.json"));

  DataConfig limited = config_of(folder, DataKind::synthetic);
  limited.train_limit = 50;
  const Dataset part(limited);
  CHECK(part.count(Split::train) == 50);
  CHECK(part.count(Split::test) == 100);
  CHECK(part.digest(Split::train) == data.digest(Split::train));
  limited.train_limit = 201;
  CHECK(error_of([&] { Dataset d(limited); }) ==
        "2: [data] data.train_limit must be from 1 to 200; got 201");

  Bytes spoilt = make_synthetic_split(7, Split::train, 200);
  spoilt[1000] ^= 1;
  folder.write("train.bin", spoilt);
  CHECK(holds(opening(folder, DataKind::synthetic), "must have the SHA-256"));
}

TEST_CASE("make-data leaves a foreign data set alone") {
  for (const char* name : {"train.bin", "test.bin"}) {
    const Folder folder;
    folder.write(name, std::string("precious"));
    CHECK(holds(error_of([&] { write_dataset(folder.path(), 0, 100, 100); }),
                std::string("holds a ") + name + " that make-data did not write"));
    CHECK(read_file(folder.path() / name) == "precious");
  }
  const Folder folder;
  folder.write("file", std::string());
  CHECK(holds(error_of([&] { write_dataset(folder.path() / "file", 0, 100, 100); }),
              "5: [make-data]"));
}

TEST_CASE("the embedded set is what make-data writes") {
  const Dataset data(DataConfig{});
  const Bytes train = make_synthetic_split(kSyntheticSeed, Split::train, kSyntheticTrain);
  CHECK(data.synthetic());
  CHECK(data.count(Split::train) == 5000);
  CHECK(data.count(Split::test) == 1000);
  CHECK(data.digest(Split::train) == sha256_hex(train.data(), train.size()));
  CHECK(std::memcmp(data.image(Split::train, 4999), train.data() + 4999 * kCifar100RecordBytes + 2,
                    kImageBytes) == 0);
}

TEST_CASE("CIFAR-10 reads its five files as one split") {
  const Folder folder;
  Bytes batch(static_cast<std::size_t>(10000 * kCifar10RecordBytes));
  for (Index i = 0; i < 10000; ++i) {
    batch[static_cast<std::size_t>(i * kCifar10RecordBytes)] = static_cast<std::uint8_t>(i % 10);
    batch[static_cast<std::size_t>(i * kCifar10RecordBytes + 1)] =
        static_cast<std::uint8_t>(i % 251);
  }
  for (int number = 1; number <= 5; ++number)
    folder.write(concat("data_batch_", number, ".bin").c_str(), batch);
  CHECK(holds(opening(folder, DataKind::cifar10), "DIR/test_batch.bin must have 30730000 bytes"));
  folder.write("test_batch.bin", batch);
  const Dataset data(config_of(folder, DataKind::cifar10));
  CHECK(data.count(Split::train) == 50000);
  CHECK(data.classes() == 10);
  CHECK(data.label(Split::train, 49999) == 9);
  CHECK(data.image(Split::train, 20003)[0] == 3);
  batch[0] = 1;
  folder.write("data_batch_3.bin", batch);
  CHECK(
      holds(opening(folder, DataKind::cifar10), "must hold 5000 records of every class; got 4999"));
}
