// The one table of configuration keys. Reading, checking, defaults, help, schema, printing and
// hashing all walk it: to add a key, add a member in config.h and a row in key_table.cpp.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace phasor {

enum class KeyType { boolean, integer, number, string, choice, strings, numbers };

/// What a value may be beyond its type.
struct Limits {
  double minimum = 0;
  double maximum = 0;
  bool above_minimum = false;  ///< The minimum itself is excluded.
  bool below_maximum = false;
  std::vector<std::string> names = {};  ///< All allowed strings.
  std::string summary = {};             ///< Said instead of a long list of names.
  std::string pattern = {};             ///< The same as `accepts`, for the schema.
  bool (*accepts)(std::string_view) = nullptr;
};

struct Key {
  std::string path;  ///< Dotted, e.g. "train.lr".
  KeyType type = KeyType::boolean;
  std::string empty_word;  ///< "null" or "auto" where the value may be absent in that spelling.
  Limits limits;
  std::string help;
  bool determines_result = true;  ///< Part of the hash of a cell.
  /// Left out of the hash at its default, so that cells from before the key existed keep theirs.
  bool joined_later = false;
  std::function<nlohmann::json(const Config&)> get;
  std::function<void(Config&, const nlohmann::json&)>
      set;  ///< Of a value that check_value() passed.
};

/// All keys in the order of the documentation.
const std::vector<Key>& key_table();

/// The row of a dotted path, or null.
const Key* find_key(std::string_view path);

/// The sections, parents before children: "data", "model", ..., "train.schedule".
const std::vector<std::string>& key_sections();
bool is_section(std::string_view path);

/// The dotted key that a shorthand (norm, lr, batch_size, seed) stands for; other text unchanged.
std::string expand_shorthand(std::string_view key);

/// The shorthand of a dotted key, or the key itself.
std::string shorten_key(std::string_view path);

/// "train" of "train.lr"; empty for a key of the top level.
std::string section_of(std::string_view path);
/// "lr" of "train.lr".
std::string leaf_of(std::string_view path);

/// What a key accepts, in words: "an integer from 1 to 65536, or null".
std::string allowed_text(const Key& key);

/// Null when `value` is right for `key`, after bringing it to the key's own number type (128.0 of
/// an integer key becomes 128, -0.0 becomes 0); otherwise "expected ...; got ...".
std::optional<std::string> check_value(const Key& key, nlohmann::json& value);

/// The axis whose values are objects of dotted keys of any section; {} is the configuration as it
/// is.
inline constexpr std::string_view kVariantAxis = "variant";

/// Prefix of the keys of the section `norm` that belong to the norm in use.
inline constexpr std::string_view kNormPrefix = "norm.";

/// True for a dotted path norm.<word> that is no row of the table: a parameter of a norm.
bool is_norm_param(std::string_view path);

nlohmann::json scalar_to_json(const Scalar& value);
/// `value` is a JSON scalar other than null.
Scalar scalar_from_json(const nlohmann::json& value);

/// Value of a table key or of a norm parameter (null where the norm has no such parameter).
nlohmann::json get_value(const Config& config, const std::string& path);
void set_value(Config& config, const std::string& path, const nlohmann::json& value);

}  // namespace phasor
