#include "cli/process.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace phasor::tests {
namespace {

namespace fs = std::filesystem;

fs::path program() {
  const char* folder = std::getenv("PHASOR_BINARY_DIR");
  return fs::path(folder != nullptr ? folder : ".") / "bin" / "phasor-train";
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  static std::atomic<int> count{0};
  path_ = fs::temp_directory_path() /
          ("phasor-cli-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
  fs::create_directories(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Process::Process(const std::vector<std::string>& args, const ProcessOptions& options) {
  const std::string binary = program().string();
  const std::string out =
      options.stdout_file.empty() ? (folder_ / "out").string() : options.stdout_file.string();
  const std::string err = (folder_ / "err").string();
  std::vector<char*> argv{const_cast<char*>(binary.c_str())};
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0666), STDOUT_FILENO);
  ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0666), STDERR_FILENO);
  // The test program catches signals; until exec so would this child.
  for (const int number : {SIGINT, SIGTERM}) ::signal(number, SIG_DFL);
  if (options.before_exec) options.before_exec();
  ::execv(binary.c_str(), argv.data());
  ::_exit(127);
}

Process::~Process() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Process::signal(int number) const { ::kill(pid_, number); }

ProcessResult Process::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  ProcessResult result;
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = read_text(folder_ / "out");
  result.err = read_text(folder_ / "err");
  return result;
}

ProcessResult run(const std::vector<std::string>& args, const ProcessOptions& options) {
  return Process(args, options).wait();
}

void obey_permissions() {
  if (::geteuid() != 0) return;
  for (const unsigned long capability : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH})
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) ::_exit(99);
}

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

bool wait_until(const std::function<bool()>& condition, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace phasor::tests
