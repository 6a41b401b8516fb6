#include "core/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace phasor {
namespace {

constexpr const char* kTemporarySuffix = ".tmp";

std::string cause(int error) { return std::generic_category().message(error); }

// An open descriptor that closes itself; for reading, where close cannot lose anything.
// O_NONBLOCK has no effect on regular files; it keeps a pipe from blocking before it is refused.
class Reader {
 public:
  Reader(const std::filesystem::path& path, ErrorKind kind)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (descriptor_ < 0)
      fail(kind, "[read] cannot open ", path.string(), "; got ", cause(errno),
           "; check the path and its permissions");
    struct stat status {};
    const bool known = ::fstat(descriptor_, &status) == 0;
    if (!known || !S_ISREG(status.st_mode)) {
      const std::string found = !known                    ? cause(errno)
                                : S_ISDIR(status.st_mode) ? "a folder"
                                                          : "a device, pipe or socket";
      ::close(descriptor_);
      fail(kind, "[read] ", path.string(), " must be a regular file; got ", found);
    }
    size_ = static_cast<std::size_t>(status.st_size);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { ::close(descriptor_); }

  int descriptor() const { return descriptor_; }
  std::size_t size() const { return size_; }

 private:
  int descriptor_;
  std::size_t size_ = 0;
};

// Without this a power cut may undo the rename. Some file systems cannot sync a folder (EINVAL);
// there is nothing more to do there.
int sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int error = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
  ::close(descriptor);
  return error;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path, ErrorKind kind) {
  const Reader reader(path, kind);
  if (reader.size() == 0) return;
  void* map =
      ::mmap(nullptr, reader.size(), PROT_READ, MAP_PRIVATE | MAP_POPULATE, reader.descriptor(), 0);
  if (map == MAP_FAILED) fail(kind, "[read] cannot map ", path.string(), "; got ", cause(errno));
  data_ = static_cast<const std::uint8_t*>(map);
  size_ = reader.size();
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::uint8_t*>(data_), size_);
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  // The process id keeps live writers of one host apart, O_EXCL those of several hosts.
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    temporary_ = path_;
    temporary_ += concat(".", ::getpid(), ".", attempt, kTemporarySuffix);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && (errno != EEXIST || attempt == 1000)) {
      const int error = errno;
      temporary_.clear();
      fail_with("create", error);
    }
  }
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void AtomicFile::fail_with(const char* action, int error) {
  discard();
  fail(ErrorKind::io, "[write] cannot ", action, " ", path_.string(), "; got ", cause(error),
       "; what was there before is unchanged");
}

void AtomicFile::write(const void* data, std::size_t size) {
  const char* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with("write", errno);
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

int AtomicFile::duplicate_descriptor() const {
  const int copy = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  if (copy < 0)
    fail(ErrorKind::io, "[write] cannot keep ", path_.string(), " open; got ", cause(errno));
  return copy;
}

void AtomicFile::commit(const std::function<void()>& before_rename) {
  if (::fsync(descriptor_) != 0) fail_with("sync", errno);
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_with("close", errno);
  if (before_rename) before_rename();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_with("rename to", errno);
  temporary_.clear();
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  if (const int error = sync_folder(folder))
    fail(ErrorKind::io, "[write] cannot sync the folder of ", path_.string(), "; got ",
         cause(error));
}

void write_file_atomic(const std::filesystem::path& path, std::string_view bytes,
                       const std::function<void()>& before_rename) {
  AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit(before_rename);
}

bool is_temporary(const std::filesystem::path& path) {
  return path.extension() == kTemporarySuffix;
}

std::string read_file(const std::filesystem::path& path, ErrorKind kind) {
  const Reader reader(path, kind);
  std::string text(reader.size(), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = ::read(reader.descriptor(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(kind, "[read] cannot read ", path.string(), "; got ", cause(errno));
    if (got == 0) break;  // shortened while we read
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

}  // namespace phasor
