#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "data/dataset.h"
#include "fuzz/support.h"
#include "fuzz/targets.h"

namespace phasor::fuzz {
namespace {

namespace fs = std::filesystem;

/// A folder of this process, in memory where the system has such a place.
struct Folder {
  Folder() {
    const fs::path parent = fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
    path = parent / ("phasor-fuzz-" + std::to_string(::getpid()));
    fs::create_directories(path);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  void write(const char* name, const std::string& bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
  }
  fs::path path;
};

}  // namespace

void data_set(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  const auto [manifest, records] = split(data, size);
  folder.write("manifest.json", manifest);
  folder.write("train.bin", records);
  folder.write("test.bin", records);
  for (const DataKind kind : {DataKind::synthetic, DataKind::cifar100}) {
    DataConfig config;
    config.kind = kind;
    config.path = folder.path.string();
    accepts(
        [&] {
          const Dataset dataset(config);
          // Every label and pixel that is promised can be read.
          const Index last = dataset.count(Split::train) - 1;
          if (dataset.label(Split::train, last) >= dataset.classes()) broken("a label too large");
          volatile int sum = 0;
          for (int i = 0; i < kImageBytes; ++i) sum = sum + dataset.image(Split::train, last)[i];
        },
        {ErrorKind::data});
  }
}

}  // namespace phasor::fuzz
