// Messages and progress on stderr.
#pragma once

#include <memory>
#include <mutex>
#include <string>

namespace spdlog {
class logger;
}

namespace phasor {

/// One line for each message, and on a terminal one line of progress that is written over.
/// Safe to use from several threads. Failing to write to stderr is ignored: there is nobody to
/// tell.
class Console {
 public:
  Console();
  ~Console();

  bool terminal() const { return terminal_; }

  void note(const std::string& text);
  void warn(const std::string& text);
  void error(const std::string& text);
  /// A line of the log as it is, without a prefix.
  void line(const std::string& text);

  /// Shows `text`, cut to the terminal's width, in place of the last progress; terminals only.
  void progress(const std::string& text);
  void end_progress();

 private:
  void clear_progress();

  std::mutex mutex_;
  std::shared_ptr<spdlog::logger> logger_;
  bool terminal_;
  bool shown_ = false;  // a progress line stands on the terminal
};

}  // namespace phasor
