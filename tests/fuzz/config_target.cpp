#include <nlohmann/json.hpp>

#include "config/document.h"
#include "config/identity.h"
#include "config/reader.h"
#include "fuzz/support.h"
#include "fuzz/targets.h"

namespace phasor::fuzz {
namespace {

const NormCatalog& catalog() {
  static const NormCatalog norms = [] {
    NormCatalog out;
    for (const char* name : {"layernorm", "rmsnorm", "mrsnorm", "none"}) {
      out.norms.push_back({name, {}});
    }
    out.norms.push_back(
        {"softnorm",
         {{"p", ParamType::number, 2.0, "from 1 to 8", "Power.", 1, 8},
          {"groups", ParamType::integer, std::int64_t{1}, "from 1 to 64", "Groups.", 1, 64},
          {"mode", ParamType::string, std::string("exact"), "", "How."}}});
    return out;
  }();
  return norms;
}

}  // namespace

void config(const std::uint8_t* data, std::size_t size) {
  const auto parts = split(data, size);
  const auto& text = parts.first;
  const auto& setting = parts.second;
  ConfigInput input{text, "fuzz.json", {}};
  ResolvedConfig resolved;
  const bool accepted = accepts(
      [&] {
        if (!setting.empty()) input.settings.push_back(parse_setting(setting));
        plugin_paths(input);
        resolved = read_config(input, catalog());
      },
      {ErrorKind::usage});
  if (!accepted) return;
  const std::string whole = config_json(resolved.config);
  const ResolvedConfig again = read_config({whole, "fuzz.json", {}}, catalog());
  if (config_json(again.config) != whole) broken("the resolved text reads back as another");
  if (compatibility_hash(again.config) != compatibility_hash(resolved.config)) {
    broken("the resolved text has another hash");
  }
}

}  // namespace phasor::fuzz
