// phasor-train norms: what norms there are.
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "config/json_text.h"
#include "norms/contract/registry.h"
#include "phasor/error.h"

namespace phasor {
namespace {

using nlohmann::json;

json key_document(const NormKey& key) {
  json out = {{"name", key.name}, {"help", key.help}};
  std::visit([&](const auto& value) { out["default"] = value; }, key.standard);
  return out;
}

/// A learnable parameter: "weight", with its numbers in a layer of C channels: C, C/2 or so many.
struct Units {
  std::string name, numbers;
  double per_channel;  ///< of layers of 64 channels
};

/// Nothing where the norm refuses so many channels.
std::optional<std::vector<Units>> units_of(const NormSpec& spec) {
  constexpr Index kChannels = 64;
  NormBuilder builder("norm", kChannels, 1e-5, 1, true, resolve_values(spec, {}));
  try {
    spec.make(builder);
  } catch (const Error&) {
    return std::nullopt;
  }
  std::vector<Units> units;
  for (const NormBuilder::Parameter& parameter : builder.parameters()) {
    const Index size = parameter.shape.size();
    units.push_back({parameter.name,
                     size == kChannels       ? "C"
                     : size == kChannels / 2 ? "C/2"
                                             : std::to_string(size),
                     static_cast<double>(size) / kChannels});
  }
  return units;
}

json norm_document(const NormSpec& spec) {
  json keys = json::array();
  for (const NormKey& key : spec.keys) keys.push_back(key_document(key));
  json units;
  if (const auto learnt = units_of(spec)) {
    units = json::array();
    for (const Units& parameter : *learnt)
      units.push_back({{"name", parameter.name},
                       {"numbers", parameter.numbers},
                       {"per_channel", parameter.per_channel}});
  }
  const NormProperties& p = spec.properties;
  return {{"name", spec.name},
          {"help", spec.help},
          {"formula", spec.formula},
          {"keys", std::move(keys)},
          {"parameters", std::move(units)},
          {"properties",
           {{"scale_invariant", p.scale_invariant},
            {"shift_invariant", p.shift_invariant},
            {"phase_preserving", p.phase_preserving},
            {"needs_even_channels", p.needs_even_channels},
            {"batch_statistics", p.batch_statistics},
            {"narrow_statistic", p.narrow_statistic}}}};
}

std::string learns_text(const std::vector<Units>& parameters) {
  std::string list;
  double units = 0;
  for (const Units& parameter : parameters) {
    list += concat(list.empty() ? "" : ", ", parameter.name, " [", parameter.numbers, "]");
    if (parameter.numbers.starts_with('C')) units += parameter.per_channel;
  }
  if (list.empty()) return "  learns nothing\n";
  return concat("  learns ", list, ": ", number_text(units), " per channel\n");
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
  say(p.needs_even_channels, "pairs channels (norm.pairing), so their number must be even");
  say(p.batch_statistics, "uses batch statistics");
  say(p.narrow_statistic, "takes norm.stat_dtype and norm.rescue");
  if (const auto learnt = units_of(spec)) out += learns_text(*learnt);
  if (!properties.empty()) out += "  " + properties + "\n";
  for (const NormKey& key : spec.keys) {
    out += "  norm." + key.name + " (default " + write_json(key_document(key)["default"]) +
           "): " + key.help + "\n";
  }
  return out;
}

}  // namespace

int run_norms(const std::vector<std::string>& args) {
  const Usage usage{
      "phasor-train norms",
      "[NAME] [options]",
      "Lists the norms: formula, what they learn, properties, and the keys of their own "
      "beside axes, eps,\ngamma_init, affine and, where phasors are paired, pairing.",
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
