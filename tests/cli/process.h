// Runs phasor-train as a user does and says what came of it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace phasor::tests {

struct ProcessResult {
  int code = -1;  ///< exit code, or 128 + signal where one ended it
  std::string out, err;
};

struct ProcessOptions {
  std::filesystem::path stdout_file = {};  ///< instead of collecting it, e.g. /dev/full
  std::function<void()> before_exec = {};  ///< in the child, e.g. a resource limit
};

/// A folder under the temporary one that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A phasor-train under way.
class Process {
 public:
  Process(const std::vector<std::string>& args, const ProcessOptions& options = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  pid_t pid() const { return pid_; }
  void signal(int number) const;
  ProcessResult wait();

 private:
  TemporaryFolder folder_;
  pid_t pid_ = -1;
};

/// Runs phasor-train to its end.
ProcessResult run(const std::vector<std::string>& args, const ProcessOptions& options = {});

/// For before_exec: makes file permissions count for root too, who otherwise passes them by two
/// capabilities. Exits 99 where it may not give them up.
void obey_permissions();

std::string read_text(const std::filesystem::path& file);
void write_text(const std::filesystem::path& file, const std::string& text);

/// Waits up to `seconds` for `condition`.
bool wait_until(const std::function<bool()>& condition, double seconds);

}  // namespace phasor::tests
