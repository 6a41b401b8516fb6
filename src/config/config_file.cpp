#include "config/config_file.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "core/nearest_name.h"
#include "phasor/error.h"

namespace phasor {
namespace {

constexpr std::size_t kLargest = std::size_t{16} << 20;  // bytes; no honest configuration has more

std::string reason(int code) { return std::generic_category().message(code); }

std::string read_text(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) fail(ErrorKind::io, "[config] cannot open ", path, ": ", reason(errno));
  std::string text;
  char buffer[65536];
  for (;;) {
    const std::size_t count = std::fread(buffer, 1, sizeof buffer, file.get());
    text.append(buffer, count);
    if (text.size() > kLargest) {
      fail(ErrorKind::usage, "[config] ", path, ": larger than 16 MiB; not a configuration");
    }
    if (count == sizeof buffer) continue;
    if (std::ferror(file.get())) {
      fail(ErrorKind::io, "[config] cannot read ", path, ": ", reason(errno));
    }
    break;
  }
  if (text.find('\0') != std::string::npos) {
    fail(ErrorKind::usage, "[config] ", path, ": expected JSON text; got binary data");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    fail(ErrorKind::usage, "[config] ", path, ": expected a JSON object; got an empty file");
  }
  return text;
}

[[noreturn]] void fail_missing(const std::string& path) {
  std::vector<std::string> names;
  std::string list;
  for (const ShippedConfig& config : shipped_configs()) {
    names.push_back(config.name);
    list += std::string(list.empty() ? "" : ", ") + config.name;
  }
  fail(ErrorKind::usage, "[config] ", path, ": no such file", did_you_mean(path, names),
       "; shipped configurations: ", list);
}

}  // namespace

ConfigText load_config_text(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) {
    fail(ErrorKind::usage, "[config] ", path, ": expected a file; got a folder");
  }
  if (std::filesystem::exists(status)) return {read_text(path), path, false};
  if (status.type() == std::filesystem::file_type::none) {
    fail(ErrorKind::io, "[config] cannot open ", path, ": ", error.message());
  }
  for (const ShippedConfig& config : shipped_configs()) {
    const std::string name = config.name;
    if (path == name || path + ".json" == name) return {config.text, name, true};
  }
  fail_missing(path);
}

}  // namespace phasor
