// Values from the command line: `--set train.lr=0.3`.
#pragma once

#include <string>
#include <string_view>

namespace phasor {

/// One value from the command line; `value` is JSON, or a bare word where a string is expected.
struct Setting {
  std::string key;  ///< Dotted key, shorthand, or "sweep." and an axis.
  std::string value;
  std::string origin = "--set";  ///< The option that gave it, for messages and --print-config.
};

/// Splits "a.b=v" at the first '='; anything else is a usage error.
Setting parse_setting(std::string_view text, const std::string& origin = "--set");

}  // namespace phasor
