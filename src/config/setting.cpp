#include "config/setting.h"

#include "config/json_text.h"
#include "config/keys.h"
#include "config/section_reader.h"
#include "phasor/error.h"

namespace phasor {
namespace {

using nlohmann::json;

/// `text` as JSON, or as a string where it is none or the key holds strings.
json typed_value(const Key* key, const std::string& text) {
  const json parsed = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const bool text_key =
      key != nullptr && (key->type == KeyType::string || key->type == KeyType::choice);
  const bool null_word = parsed.is_null() && key != nullptr && key->empty_word == "null";
  if (parsed.is_discarded() || (text_key && !parsed.is_string() && !null_word)) return text;
  return parsed;
}

}  // namespace

Setting parse_setting(std::string_view text, const std::string& origin) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) {
    fail(ErrorKind::usage, "[config] ", origin, ": expected KEY=VALUE; got \"", text, '"');
  }
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)), origin};
}

json setting_value(const std::string& path, const Setting& setting) {
  const Key* key = find_key(path);
  json value = typed_value(key, setting.value);
  std::string error;
  if (key != nullptr) {
    error = check_value(*key, value).value_or("");
  } else if (value.is_null() || value.is_structured()) {
    error = "expected a number, a string, true or false; " + describe_value(value);
  }
  if (!error.empty()) {
    fail(ErrorKind::usage, setting.origin, ' ', setting.key, ": ", error);
  }
  return value;
}

}  // namespace phasor
