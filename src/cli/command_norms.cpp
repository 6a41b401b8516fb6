// phasor-train norms: what norms there are.
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "config/json_text.h"
#include "norms/contract/registry.h"

namespace phasor {
namespace {

using nlohmann::json;

json key_document(const NormKey& key) {
  json out = {{"name", key.name}, {"help", key.help}};
  std::visit([&](const auto& value) { out["default"] = value; }, key.standard);
  return out;
}

json norm_document(const NormSpec& spec) {
  json keys = json::array();
  for (const NormKey& key : spec.keys) keys.push_back(key_document(key));
  const NormProperties& p = spec.properties;
  return {{"name", spec.name},
          {"help", spec.help},
          {"formula", spec.formula},
          {"keys", std::move(keys)},
          {"properties",
           {{"scale_invariant", p.scale_invariant},
            {"shift_invariant", p.shift_invariant},
            {"phase_preserving", p.phase_preserving},
            {"needs_even_channels", p.needs_even_channels},
            {"batch_statistics", p.batch_statistics}}}};
}

std::string norm_text(const NormSpec& spec) {
  std::string out = spec.name + "\n  " + spec.help + "\n  " + spec.formula + "\n";
  const NormProperties& p = spec.properties;
  std::string properties;
  const auto say = [&](bool holds, const char* text) {
    if (holds) properties += std::string(properties.empty() ? "" : ", ") + text;
  };
  say(p.scale_invariant, "scale invariant");
  say(p.shift_invariant, "shift invariant");
  say(p.phase_preserving, "phase preserving");
  say(p.needs_even_channels, "needs an even number of channels");
  say(p.batch_statistics, "uses batch statistics");
  if (!properties.empty()) out += "  " + properties + "\n";
  for (const NormKey& key : spec.keys) {
    out += "  norm." + key.name + " (default " + write_json(key_document(key)["default"]) +
           "): " + key.help + "\n";
  }
  return out;
}

}  // namespace

int run_norms(const std::vector<std::string>& args) {
  const Usage usage{"phasor-train norms",
                    "[NAME] [options]",
                    "Lists the norms: formula, properties, and the keys of their own beside axes, "
                    "eps, gamma_init\nand affine.",
                    {{"phasor-train norms", "all of them"},
                     {"phasor-train norms --plugin build/softclip.so", "and those of a plugin"}},
                    {{"json", "", "as JSON"}, plugin_option()},
                    0,
                    1};
  const std::optional<Arguments> arguments = parse_arguments(usage, args);
  if (!arguments) return 0;
  load_plugins(*arguments);
  std::vector<const NormSpec*> specs;
  if (!arguments->positional().empty()) {
    specs.push_back(&find_norm(arguments->positional()[0]));
  } else {
    for (const NormSpec& spec : norm_specs()) specs.push_back(&spec);
  }
  std::string text;
  json list = json::array();
  for (const NormSpec* spec : specs) {
    list.push_back(norm_document(*spec));
    if (!text.empty()) text += '\n';
    text += norm_text(*spec);
  }
  write_out(arguments->has("json") ? write_json(list, 2) + "\n" : text);
  return 0;
}

}  // namespace phasor
