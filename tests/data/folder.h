// A folder of its own for a test, removed at the end, and small writers for it.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "phasor/error.h"

namespace phasor::test {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "phasor-data-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) fail(ErrorKind::io, "cannot make ", name);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

  void write(const char* name, const std::vector<std::uint8_t>& bytes) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  void write(const char* name, const std::string& text) const {
    write(name, std::vector<std::uint8_t>(text.begin(), text.end()));
  }

 private:
  std::filesystem::path path_;
};

/// Runs `work`; its error's text, with the exit code in front: `3: [data] ...`. Empty without one.
template <class Work>
std::string error_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return concat(error.exit_code(), ": ", error.what());
  }
  return "";
}

}  // namespace phasor::test
