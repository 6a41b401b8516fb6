#include "sweep/claim.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "core/file.h"
#include "phasor/error.h"

namespace phasor {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kFileName = "claim.json";
constexpr const char* kProbeSuffix = ".probe";
constexpr std::chrono::seconds kTouchInterval{20};

std::string cause(int error) { return std::generic_category().message(error); }

/// Content of a small file; empty where it cannot be read.
std::string slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string first_line(const fs::path& path) {
  const std::string text = slurp(path);
  return text.substr(0, text.find('\n'));
}

/// Start time of a process in ticks since boot, as text; empty where it is gone or a zombie.
std::string start_time(long pid) {
  const std::string stat = slurp(fs::path("/proc") / std::to_string(pid) / "stat");
  // The name, field 2, stands in parentheses and may hold anything; state is field 3, start 22.
  std::size_t at = stat.rfind(')');
  if (at == std::string::npos || at + 2 >= stat.size()) return {};
  const char state = stat[at + 2];
  if (state == 'Z' || state == 'X') return {};
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  if (at == std::string::npos) return {};
  return stat.substr(at + 1, stat.find(' ', at + 1) - at - 1);
}

/// What makes process numbers comparable: host, boot and process namespace.
json this_machine() {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  char space[64] = {};
  const ssize_t length = ::readlink("/proc/self/ns/pid", space, sizeof space - 1);
  return {{"host", host},
          {"boot", first_line("/proc/sys/kernel/random/boot_id")},
          {"namespace", length > 0 ? space : ""}};
}

/// Tells the claims and temporary files of this process apart.
int next_number() {
  static std::atomic<int> number{0};
  return ++number;
}

std::string claim_text() {
  json claim = this_machine();
  claim["number"] = next_number();
  claim["pid"] = ::getpid();
  claim["start"] = start_time(::getpid());
  return claim.dump() + '\n';
}

/// Seconds since `file` was touched, by the file system's own clock: hosts' clocks differ.
std::optional<double> age_of(const fs::path& file) {
  struct stat claimed {};
  if (::stat(file.c_str(), &claimed) != 0) return std::nullopt;
  fs::path probe = file;
  probe += concat(".", ::getpid(), ".", next_number(), kProbeSuffix);
  const int descriptor = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  struct stat now {};
  const bool known = descriptor >= 0 && ::fstat(descriptor, &now) == 0;
  if (descriptor >= 0) ::close(descriptor);
  ::unlink(probe.c_str());
  if (!known) return std::nullopt;
  return static_cast<double>(now.st_mtim.tv_sec - claimed.st_mtim.tv_sec) +
         1e-9 * static_cast<double>(now.st_mtim.tv_nsec - claimed.st_mtim.tv_nsec);
}

/// Whether the owner that `text` names may still work on the cell.
bool may_live(const fs::path& file, const std::string& text) {
  const std::optional<double> age = age_of(file);
  if (age && *age > static_cast<double>(claim_timeout().count())) return false;
  const json claim = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!claim.is_object()) return age && *age < 1;  // torn: its writer died, or is just at it
  const json here = this_machine();
  if (claim.value("host", "") != here["host"]) return true;
  if (claim.value("boot", "") != here["boot"]) return false;
  if (claim.value("namespace", "") != here["namespace"]) return true;
  const std::string start = start_time(claim.value("pid", 0L));
  return !start.empty() && start == claim.value("start", "");
}

/// Creates `file` with `text` unless it exists: whole (by a link) where the file system has links.
bool create_exclusive(const fs::path& file, const std::string& text) {
  fs::path temporary = file;
  temporary += concat(".", ::getpid(), ".", next_number(), ".tmp");
  const auto write_new = [&](const fs::path& path) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) return errno;
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    const int error = written < 0 ? errno : written == std::ssize(text) ? 0 : ENOSPC;
    const int closed = ::close(descriptor) == 0 ? 0 : errno;
    if (error != 0 || closed != 0) ::unlink(path.c_str());
    return error != 0 ? error : closed;
  };
  ::unlink(temporary.c_str());  // of an earlier process with our number
  int error = write_new(temporary);
  if (error == 0) {
    error = ::link(temporary.c_str(), file.c_str()) == 0 ? 0 : errno;
    ::unlink(temporary.c_str());
    if (error == EPERM || error == EOPNOTSUPP || error == ENOSYS) error = write_new(file);
    // Another process took the cell just now and removed our temporary.
    if (error == ENOENT && fs::is_directory(file.parent_path())) return false;
  }
  if (error == 0) return true;
  if (error == EEXIST) return false;
  fail(ErrorKind::io, "[claim] cannot create ", file.string(), "; got ", cause(error));
}

/// Removes the temporaries of earlier owners: what a paused one was about to rename into place can
/// then no more replace what the new owner writes (see AtomicFile).
void remove_temporaries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (is_temporary(at->path()) || at->path().extension() == kProbeSuffix) {
      found.push_back(at->path());
    }
  }
  for (const fs::path& path : found) fs::remove(path, error);
  if (error) {
    fail(ErrorKind::io, "[claim] cannot clear ", folder.string(), " of temporary files; got ",
         error.message());
  }
}

/// A lock among this host's processes, so that two of them never replace one dead owner at once.
class TakeoverLock {
 public:
  explicit TakeoverLock(const fs::path& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX);
  }
  ~TakeoverLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  TakeoverLock(const TakeoverLock&) = delete;
  TakeoverLock& operator=(const TakeoverLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace

std::chrono::seconds claim_timeout() {
  const char* text = std::getenv("PHASOR_CLAIM_TIMEOUT");
  if (text == nullptr) return kClaimTimeout;
  long seconds = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), seconds);
  PHASOR_CHECK(error == std::errc() && *end == '\0' && seconds > 0,
               "[claim] PHASOR_CLAIM_TIMEOUT is a whole number of seconds above 0; got ", text);
  return std::chrono::seconds(seconds);
}

std::optional<Claim> Claim::take(const fs::path& folder) {
  const fs::path file = folder / kFileName;
  const std::string text = claim_text();
  std::error_code ignored;
  const bool held = fs::exists(file, ignored);
  if (!held && create_exclusive(file, text)) return owned(file, text);
  if (may_live(file, slurp(file))) return std::nullopt;
  const TakeoverLock lock(folder);
  // The owner may have been replaced while we waited for the lock.
  if (may_live(file, slurp(file))) return std::nullopt;
  ::unlink(file.c_str());
  if (!create_exclusive(file, text)) return std::nullopt;
  return owned(file, text);
}

Claim Claim::owned(const fs::path& file, const std::string& text) {
  Claim claim(file, text);
  remove_temporaries(file.parent_path());
  return claim;
}

Claim::Claim(fs::path file, std::string text)
    : file_(std::move(file)), text_(std::move(text)), touched_(std::chrono::steady_clock::now()) {}

Claim::Claim(Claim&& other) noexcept
    : file_(std::move(other.file_)), text_(std::move(other.text_)), touched_(other.touched_) {
  other.file_.clear();
}

Claim::~Claim() {
  if (!file_.empty() && slurp(file_) == text_) ::unlink(file_.c_str());
}

void Claim::check() const {
  if (slurp(file_) == text_) return;
  const fs::path folder = file_.parent_path();
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    fail(ErrorKind::io, "[claim] the folder of the cell is gone; got ", folder.string(),
         "; what had been written there is lost");
  }
  throw ClaimLost(concat("[claim] another process took the cell over; got ", folder.string()));
}

void Claim::touch() {
  const auto now = std::chrono::steady_clock::now();
  if (now - touched_ < kTouchInterval && now - touched_ < claim_timeout() / 4) return;
  touched_ = now;
  ::utimensat(AT_FDCWD, file_.c_str(), nullptr, 0);
}

std::optional<std::string> live_holder(const fs::path& folder) {
  const fs::path file = folder / kFileName;
  const std::string text = slurp(file);
  std::error_code ignored;
  if (!fs::exists(file, ignored) || !may_live(file, text)) return std::nullopt;
  const json claim = json::parse(text, nullptr, false);
  if (!claim.is_object()) return "another process";
  return concat("process ", claim.value("pid", 0L), " on ", claim.value("host", "another host"));
}

}  // namespace phasor
