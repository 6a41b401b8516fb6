#include "config/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "phasor/error.h"

namespace phasor {
namespace {

using nlohmann::json;

constexpr std::size_t kDeepest = 32;

/// Builds the document as nlohmann's own handler does, but keeps the first of duplicate keys and
/// says so.
class Builder : public nlohmann::json_sax<json> {
 public:
  explicit Builder(std::vector<std::string>& errors) : errors_(errors) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // never called for text
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    level.key = name;
    if (level.value.contains(name)) {
      errors_.push_back(pointer_join(path(levels_.size() - 1), name) + ": duplicate key");
    }
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    error_position = position;
    error_text = error.what();
    if (error.id == kNumberOverflow) error_text = "number too large for a double";
    return false;
  }

  json document;
  std::size_t error_position = 0;
  std::string error_text;

 private:
  static constexpr int kNumberOverflow = 406;

  struct Level {
    json value;
    std::string key;
  };

  std::string path(std::size_t depth) const {
    std::string out;
    for (std::size_t i = 0; i < depth; ++i) {
      const Level& level = levels_[i];
      out = pointer_join(out,
                         level.value.is_array() ? std::to_string(level.value.size()) : level.key);
    }
    return out;
  }

  bool add(json value) {
    if (levels_.empty()) {
      document = std::move(value);
    } else if (Level& level = levels_.back(); level.value.is_array()) {
      level.value.push_back(std::move(value));
    } else {
      level.value.emplace(level.key, std::move(value));
    }
    return true;
  }

  bool open(json value) {
    if (levels_.size() >= kDeepest) {
      error_text = concat("nested more than ", kDeepest, " deep");
      return false;
    }
    levels_.push_back({std::move(value), {}});
    return true;
  }

  bool close() {
    json value = std::move(levels_.back().value);
    levels_.pop_back();
    return add(std::move(value));
  }

  std::vector<std::string>& errors_;
  std::vector<Level> levels_;
};

/// The part of nlohmann's message after its own identification and position.
std::string plain_reason(const std::string& text) {
  std::size_t start = text.find("column ");
  if (start == std::string::npos) return text;
  start = text.find(": ", start);
  return start == std::string::npos ? text : text.substr(start + 2);
}

void write_string(const std::string& text, std::string& out) {
  out += json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

void write_value(const json& value, int indent, int depth, std::string& out) {
  const auto new_line = [&](int level) {
    if (indent >= 0) out += '\n' + std::string(static_cast<std::size_t>(indent * level), ' ');
  };
  if (value.is_object() || value.is_array()) {
    const bool object = value.is_object();
    // Lists of scalars stay on one line.
    const bool nested = indent >= 0 && std::any_of(value.begin(), value.end(), [&](const json& v) {
                          return object || v.is_structured();
                        });
    out += object ? '{' : '[';
    bool first = true;
    for (const auto& item : value.items()) {
      if (!first) out += indent >= 0 && !nested ? ", " : ",";
      first = false;
      if (nested) new_line(depth + 1);
      if (object) {
        write_string(item.key(), out);
        out += indent >= 0 ? ": " : ":";
      }
      write_value(item.value(), indent, depth + 1, out);
    }
    if (nested && !first) new_line(depth);
    out += object ? '}' : ']';
  } else if (value.is_string()) {
    write_string(value.get_ref<const std::string&>(), out);
  } else if (value.is_number_float()) {
    out += number_text(value.get<double>());
  } else {
    out += value.dump();
  }
}

}  // namespace

json parse_json(std::string_view text, const std::string& file, std::vector<std::string>& errors) {
  Builder builder(errors);
  const bool good = json::sax_parse(text.begin(), text.end(), &builder, json::input_format_t::json,
                                    /*strict=*/true, /*ignore_comments=*/true);
  if (good) return std::move(builder.document);
  std::string where = file;
  if (builder.error_position > 0) {
    const std::string_view read =
        text.substr(0, std::min(builder.error_position, text.size() + 1) - 1);
    const auto line = 1 + std::count(read.begin(), read.end(), '\n');
    const std::size_t last = read.rfind('\n');
    const std::size_t column = read.size() - (last == read.npos ? 0 : last + 1) + 1;
    where += concat(':', line, ':', column);
  }
  std::string message = "[config] " + where + ": " + plain_reason(builder.error_text);
  for (const std::string& error : errors) message += '\n' + error;
  fail(ErrorKind::usage, message);
}

std::string number_text(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  char buffer[32];
  const bool integral = std::abs(value) < kExact && value == std::trunc(value);
  const std::to_chars_result end =
      integral ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<std::int64_t>(value))
               : std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end.ptr);
}

std::string write_json(const json& value, int indent) {
  std::string out;
  write_value(value, indent, 0, out);
  return out;
}

std::string pointer_join(const std::string& parent, std::string_view name) {
  std::string quoted;
  write_string(std::string(name), quoted);
  std::string out = parent + '/';
  for (const char c : std::string_view(quoted).substr(1, quoted.size() - 2)) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string describe_value(const json& value) {
  if (value.is_object()) return "got an object";
  if (value.is_array()) return "got a list";
  constexpr std::size_t kLongest = 60;
  std::string text = write_json(value);
  if (text.size() > kLongest) {
    std::size_t cut = kLongest;
    while ((static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // whole UTF-8 characters
    text = text.substr(0, cut) + "...";
  }
  return "got " + text + (value.is_string() ? " (a string)" : "");
}

}  // namespace phasor
