// JSON text in and out: a strict parser that sees duplicate keys, and the one canonical writer.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace phasor {

/// Parses `text` (comments allowed). Duplicate keys and too deep nesting are appended to `errors`
/// as lines that start with their JSON pointer. Text that is not JSON throws a usage error
/// `[config] FILE:LINE:COLUMN: what was found and expected`; earlier `errors` follow it.
nlohmann::json parse_json(std::string_view text, const std::string& file,
                          std::vector<std::string>& errors);

/// Shortest text that reads back as the same number, in every locale; integral values and zeros of
/// either sign print alike whether they came as integer or as real. `value` is finite.
std::string number_text(double value);

/// JSON with sorted keys and number_text() numbers; on one line for indent < 0.
std::string write_json(const nlohmann::json& value, int indent = -1);

/// `parent` + "/" + `name` with the escapes of RFC 6901; control characters as in JSON.
std::string pointer_join(const std::string& parent, std::string_view name);

/// "got 128.5", "got \"0.1\" (a string)", "got an object": for messages, long values cut.
std::string describe_value(const nlohmann::json& value);

}  // namespace phasor
