#include "cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <system_error>

#include "phasor/error.h"

namespace phasor {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.,%+-e/") == std::string::npos &&
         text.find_first_of("0123456789") != std::string::npos;
}

/// Characters, not bytes, of UTF-8 text.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

void hold_standard_streams() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) {
    descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
  if (descriptor >= 0) ::close(descriptor);
}

void write_out(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return;
  const int error = errno;
  std::clearerr(stdout);
  fail(ErrorKind::io, "[stdout] cannot write; got ", std::generic_category().message(error));
}

std::string align_columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string space(widths[c] - width_of(row[c]), ' ');
      if (c > 0) line += "  ";
      line += is_number(row[c]) ? space + row[c] : row[c] + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::string grouped(double value) {
  std::string digits = fixed(value, 0);
  for (std::size_t at = digits.size(); at > 3 && digits[at - 4] != '-';) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string fixed(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  char buffer[400];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, digits);
  return std::string(buffer, end.ptr);
}

std::string duration_text(double seconds) {
  constexpr double kLongest = 1e8;
  if (!(seconds < kLongest)) return "?";
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 100) return std::to_string(whole) + "s";
  const long minutes = (whole + 30) / 60;
  if (minutes < 100) return std::to_string(minutes) + "m";
  const std::string rest = std::to_string(minutes % 60);
  return std::to_string(minutes / 60) + "h" + (rest.size() < 2 ? "0" : "") + rest + "m";
}

}  // namespace phasor
