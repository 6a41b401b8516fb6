// The norms that the tests of the configuration know.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "config/reader.h"
#include "phasor/error.h"

namespace phasor::testing {

inline NormCatalog catalog() {
  NormCatalog out;
  for (const char* name : {"layernorm", "rmsnorm", "mrsnorm", "none"}) {
    out.norms.push_back({name, {}, /*narrow_statistic=*/std::string(name) != "none"});
  }
  out.norms.push_back(
      {"softnorm",
       {{"p", ParamType::number, 2.0, "from 1 to 8", "Power.", 1, 8},
        {"groups", ParamType::integer, std::int64_t{1}, "from 1 to 64", "Groups.", 1, 64},
        {"centred", ParamType::boolean, false, "", "Subtract the mean."},
        {"mode", ParamType::string, std::string("exact"), "", "How."}}});
  return out;
}

/// Resolves `text` and `settings` ("a.b=v").
inline ResolvedConfig resolve(const std::string& text,
                              const std::vector<std::string>& settings = {}) {
  ConfigInput input{text, "t.json", {}};
  for (const std::string& setting : settings) input.settings.push_back(parse_setting(setting));
  return read_config(input, catalog());
}

/// The message of the usage error that resolve() throws, or "accepted".
inline std::string refusal(const std::string& text, const std::vector<std::string>& settings = {}) {
  try {
    resolve(text, settings);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(error.exit_code() == 2);
    return error.what();
  }
  return "accepted";
}

/// The lines of refusal() for members beside a good norm, without the first line.
inline std::string faults(const std::string& members,
                          const std::vector<std::string>& settings = {}) {
  const std::string text =
      refusal("{\"norm\": {\"name\": \"mrsnorm\"}" + (members.empty() ? "" : ", " + members) + "}",
              settings);
  const std::size_t line = text.find('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

}  // namespace phasor::testing
