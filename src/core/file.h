// Files: read-only maps, and writes that either happen whole or leave the old file as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "phasor/error.h"

namespace phasor {

/// A whole regular file mapped read-only, its pages loaded at once (MAP_POPULATE), so that using it
/// later costs no page fault. Move-only; safe to read from any number of threads. The file must not
/// be shortened by others while it is mapped.
class MappedFile {
 public:
  MappedFile() = default;

  /// Throws an error of `kind` with path and cause when the file cannot be opened, is no regular
  /// file or cannot be mapped. An empty file gives an empty map.
  explicit MappedFile(const std::filesystem::path& path, ErrorKind kind = ErrorKind::io);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  const std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<const std::uint8_t> bytes() const { return {data_, size_}; }

 private:
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A file in the making beside its destination. `commit` syncs it and renames it into place; until
/// then, and after any error, the destination is untouched, and the destructor removes the
/// temporary. Errors are of kind io, with path and cause. A process under a file size limit must
/// ignore SIGXFSZ to see that limit as an error.
///
/// Where several processes may write one file in turn, its rightful writer of the moment removes
/// the others' temporaries (`is_temporary`), and `before_rename` asks who that is: a process that
/// was paused anywhere in between then finds its temporary gone and replaces nothing.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(const void* data, std::size_t size);
  /// `before_rename` is called with everything on the disk; what it throws ends the commit.
  void commit(const std::function<void()>& before_rename = {});

  /// A descriptor of the file for writing after its present end, also once it is in place.
  int duplicate_descriptor() const;

 private:
  [[noreturn]] void fail_with(const char* action, int error);
  void discard() noexcept;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// Replaces the file at `path` by `bytes`, atomically and durably (see AtomicFile).
void write_file_atomic(const std::filesystem::path& path, std::string_view bytes,
                       const std::function<void()>& before_rename = {});

/// Whether a file has the name of an AtomicFile's temporary.
bool is_temporary(const std::filesystem::path& path);

/// The content of a regular file; throws an error of `kind` with path and cause.
std::string read_file(const std::filesystem::path& path, ErrorKind kind = ErrorKind::io);

}  // namespace phasor
