// What a key accepts: in words, and as a check.
#include <algorithm>
#include <cmath>
#include <limits>

#include "config/json_text.h"
#include "config/keys.h"
#include "core/nearest_name.h"

namespace phasor {
namespace {

using nlohmann::json;

std::string range_text(const Limits& limits) {
  if (limits.above_minimum) {
    return "above " + number_text(limits.minimum) + ", at most " + number_text(limits.maximum);
  }
  return "from " + number_text(limits.minimum) + (limits.below_maximum ? " to below " : " to ") +
         number_text(limits.maximum);
}

std::string names_text(const std::vector<std::string>& names) {
  std::string out = "one of ";
  for (const std::string& name : names) out += (out.size() > 7 ? ", " : "") + name;
  return out;
}

bool in_range(double value, const Limits& limits) {
  return (limits.above_minimum ? value > limits.minimum : value >= limits.minimum) &&
         (limits.below_maximum ? value < limits.maximum : value <= limits.maximum);
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// An integer key takes every JSON number without a fraction, as JSON Schema does.
bool to_integer(json& value, const Limits& limits) {
  const double number = value.get<double>();
  if (number != std::trunc(number) || !in_range(number, limits)) return false;
  value = value.is_number_float() ? static_cast<std::int64_t>(number) : value.get<std::int64_t>();
  return true;
}

bool to_number(json& value, const Limits& limits) {
  const double number = value.get<double>();
  if (!in_range(number, limits)) return false;
  value = number == 0 ? 0.0 : number;  // one zero
  return true;
}

bool to_numbers(json& list, const Limits& limits) {
  double last = -std::numeric_limits<double>::infinity();
  for (json& value : list) {
    if (!value.is_number() || !to_number(value, limits)) return false;
    if (value.get<double>() <= last) return false;
    last = value.get<double>();
  }
  return true;
}

bool good_string(const json& value, const Limits& limits) {
  if (!value.is_string()) return false;
  const std::string& text = value.get_ref<const std::string&>();
  if (!limits.names.empty()) return contains(limits.names, text);
  return limits.accepts == nullptr || limits.accepts(text);
}

bool good_strings(const json& list) {
  for (const json& value : list) {
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) return false;
  }
  return true;
}

bool accept(const Key& key, json& value) {
  if (key.empty_word == "null" && value.is_null()) return true;
  if (key.empty_word == "auto" && value == "auto") return true;
  switch (key.type) {
    case KeyType::boolean:
      return value.is_boolean();
    case KeyType::integer:
      return value.is_number() && to_integer(value, key.limits);
    case KeyType::number:
      return value.is_number() && to_number(value, key.limits);
    case KeyType::string:
    case KeyType::choice:
      return good_string(value, key.limits);
    case KeyType::strings:
      return value.is_array() && good_strings(value);
    case KeyType::numbers:
      return value.is_array() && to_numbers(value, key.limits);
  }
  return false;
}

std::string type_text(const Key& key) {
  if (!key.limits.summary.empty()) return key.limits.summary;
  switch (key.type) {
    case KeyType::boolean:
      return "true or false";
    case KeyType::integer:
      return "an integer " + range_text(key.limits);
    case KeyType::number:
      return "a number " + range_text(key.limits);
    case KeyType::choice:
      return names_text(key.limits.names);
    case KeyType::strings:
      return "a list of non-empty strings";
    case KeyType::numbers:
      return "a list of rising numbers " + range_text(key.limits);
    case KeyType::string:
      break;
  }
  return "a string";
}

}  // namespace

std::string allowed_text(const Key& key) {
  std::string out = type_text(key);
  if (!key.empty_word.empty()) out += ", or " + key.empty_word;
  return out;
}

std::optional<std::string> check_value(const Key& key, json& value) {
  if (accept(key, value)) return std::nullopt;
  std::string error = "expected " + allowed_text(key) + "; " + describe_value(value);
  if (value.is_string() && !key.limits.names.empty()) {
    error += did_you_mean(value.get_ref<const std::string&>(), key.limits.names);
  }
  return error;
}

}  // namespace phasor
