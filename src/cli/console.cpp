#include "cli/console.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace phasor {
namespace {

bool is_terminal() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && (kind == nullptr || std::string_view(kind) != "dumb");
}

std::size_t terminal_width() {
  winsize size{};
  constexpr std::size_t kUsual = 80;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

}  // namespace

Console::Console() : terminal_(is_terminal()) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool plain = !terminal_ || (no_color != nullptr && *no_color != '\0');
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(
      plain ? spdlog::color_mode::never : spdlog::color_mode::always);
  logger_ = std::make_shared<spdlog::logger>("phasor-train", std::move(sink));
  logger_->set_pattern("%n: %^%l%$: %v");
  logger_->set_error_handler([](const std::string&) {});
  logger_->flush_on(spdlog::level::trace);
}

Console::~Console() { end_progress(); }

void Console::note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  clear_progress();
  logger_->info("{}", text);
}

void Console::warn(const std::string& text) {
  const std::lock_guard lock(mutex_);
  clear_progress();
  logger_->warn("{}", text);
}

void Console::error(const std::string& text) {
  const std::lock_guard lock(mutex_);
  clear_progress();
  logger_->error("{}", text);
}

void Console::line(const std::string& text) {
  const std::lock_guard lock(mutex_);
  clear_progress();
  std::fprintf(stderr, "%s\n", text.c_str());
}

void Console::progress(const std::string& text) {
  if (!terminal_) return;
  const std::lock_guard lock(mutex_);
  const std::size_t width = terminal_width();
  std::fprintf(stderr, "\r%s\033[K", text.substr(0, std::max<std::size_t>(width, 2) - 1).c_str());
  std::fflush(stderr);
  shown_ = true;
}

void Console::end_progress() {
  const std::lock_guard lock(mutex_);
  clear_progress();
}

void Console::clear_progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace phasor
