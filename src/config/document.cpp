#include "config/document.h"

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "config/identity.h"
#include "config/json_text.h"
#include "config/keys.h"

namespace phasor {
namespace {

using nlohmann::json;

std::string default_text(const Key& key) {
  static const Config defaults;
  if (key.path == "norm.name") return "none: must be given";
  if (key.path == "name") return "file name";
  return write_json(key.get(defaults));
}

json number_schema(const Limits& limits) {
  return {{limits.above_minimum ? "exclusiveMinimum" : "minimum", limits.minimum},
          {limits.below_maximum ? "exclusiveMaximum" : "maximum", limits.maximum}};
}

json value_schema(const Key& key) {
  json schema = json::object();
  switch (key.type) {
    case KeyType::boolean:
      schema["type"] = "boolean";
      break;
    case KeyType::integer:
    case KeyType::number:
      schema = number_schema(key.limits);
      schema["type"] = key.type == KeyType::integer ? "integer" : "number";
      break;
    case KeyType::string:
    case KeyType::choice:
      schema["type"] = "string";
      if (!key.limits.names.empty()) schema["enum"] = key.limits.names;
      if (!key.limits.pattern.empty()) schema["pattern"] = key.limits.pattern;
      break;
    case KeyType::strings:
      schema = {{"type", "array"}, {"items", {{"type", "string"}, {"minLength", 1}}}};
      break;
    case KeyType::numbers:
      schema = {{"type", "array"}, {"uniqueItems", true}};
      schema["items"] = number_schema(key.limits);
      schema["items"]["type"] = "number";
      break;
  }
  if (key.empty_word == "null") return {{"anyOf", {schema, {{"type", "null"}}}}};
  if (key.empty_word == "auto") return {{"anyOf", {schema, {{"const", "auto"}}}}};
  return schema;
}

json param_schema(const NormParam& param) {
  static const char* const types[] = {"boolean", "integer", "number", "string"};
  json schema = {{"type", types[static_cast<int>(param.type)]}};
  if (param.type == ParamType::integer || param.type == ParamType::number) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (param.minimum > -kInfinity) schema["minimum"] = param.minimum;
    if (param.maximum < kInfinity) schema["maximum"] = param.maximum;
  }
  return schema;
}

/// Builds the schema of the document from the table.
class SchemaBuilder {
 public:
  explicit SchemaBuilder(const NormCatalog& catalog) {
    for (const NormEntry& norm : catalog.norms) {
      names_.push_back(norm.name);
      for (const NormParam& param : norm.params) params_[param.name].push_back(param_schema(param));
    }
  }

  json document() const {
    json schema = section("");
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["title"] = "phasor configuration";
    json& properties = schema["properties"];
    properties["$schema"] = {{"type", "string"}};
    properties["sweep"] = sweep();
    // The norm has no default.
    const json by_key = {{"anyOf", {{{"required", {"norm"}}}, {{"required", {"norm.name"}}}}}};
    const json by_variants = {{"required", {kVariantAxis}},
                              {"properties", {{kVariantAxis, {{"items", by_key}}}}}};
    const json swept = {{"anyOf", {by_key, by_variants}}};
    const json named = {{"required", {"norm"}},
                        {"properties", {{"norm", {{"required", {"name"}}}}}}};
    schema["anyOf"] = {named, {{"required", {"sweep"}}, {"properties", {{"sweep", swept}}}}};
    return schema;
  }

 private:
  json value(const Key& key) const {
    json schema = value_schema(key);
    if (key.path == "norm.name") schema["enum"] = names_;
    return schema;
  }

  json section(const std::string& name) const {
    json properties = json::object();
    for (const Key& key : key_table()) {
      if (section_of(key.path) != name) continue;
      json schema = value(key);
      schema["description"] = key.help;
      if (key.path != "norm.name" && key.path != "name") schema["default"] = key.get(Config());
      properties[leaf_of(key.path)] = std::move(schema);
    }
    for (const std::string& child : key_sections()) {
      if (section_of(child) == name) properties[leaf_of(child)] = section(child);
    }
    if (name == "norm") {
      for (const auto& [param, schemas] : params_) properties[param] = {{"anyOf", schemas}};
    }
    return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  }

  /// A section as the value of an axis: at least one key, and only what determines the result.
  json axis_object(const std::string& name) const {
    json schema = section(name);
    schema["minProperties"] = 1;
    for (const Key& key : key_table()) {
      if (!key.determines_result && section_of(key.path) == name) {
        schema["properties"].erase(leaf_of(key.path));
      }
    }
    return schema;
  }

  static json axis(const json& items) {
    return {{"type", "array"}, {"minItems", 1}, {"items", items}};
  }

  json sweep() const {
    json properties = json::object();
    for (const Key& key : key_table()) {
      if (!key.determines_result) continue;
      const json list = axis({{"anyOf", {value(key), axis_object(section_of(key.path))}}});
      properties[key.path] = list;
      properties[shorten_key(key.path)] = list;
    }
    for (const std::string& name : key_sections()) {
      if (name != "run" && name != "norm") properties[name] = axis(axis_object(name));
    }
    for (const auto& [param, schemas] : params_) {
      json choices = schemas;
      choices.push_back(axis_object("norm"));
      properties[std::string(kNormPrefix) + param] = axis({{"anyOf", choices}});
    }
    properties[std::string(kVariantAxis)] = axis(variant());
    return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  }

  json variant() const {
    json properties = json::object();
    for (const Key& key : key_table()) {
      if (!key.determines_result) continue;
      properties[key.path] = value(key);
      properties[shorten_key(key.path)] = value(key);
    }
    for (const auto& [param, schemas] : params_)
      properties[std::string(kNormPrefix) + param] = {{"anyOf", schemas}};
    return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  }

  std::vector<std::string> names_;
  std::map<std::string, std::vector<json>> params_;
};

std::string origin_of(const ResolvedConfig& resolved, const std::string& key) {
  const auto found = resolved.origins.find(key);
  return found == resolved.origins.end() ? "default" : found->second;
}

}  // namespace

std::string config_help() {
  std::string out =
      "| Key | Value | Default | Meaning | In the hash |\n"
      "|---|---|---|---|---|\n";
  for (const Key& key : key_table()) {
    out += "| `" + key.path + "` | " + allowed_text(key) + " | " + default_text(key) + " | " +
           key.help + " | " + (key.determines_result ? "yes" : "no") + " |\n";
  }
  return out +
         "| `norm.<parameter>` | by the norm | by the norm | A parameter of the norm's own. | yes "
         "|\n"
         "| `sweep.<key>` | a list of values, or of objects that set several keys of the section "
         "| none | An axis: a dotted key of the hash, a section, or norm, lr, batch_size, seed. "
         "| no |\n"
         "| `sweep.variant` | a list of objects of dotted keys, `{}` for none | none | An axis "
         "that "
         "sets keys of several sections together. | no |\n";
}

std::string config_schema(const NormCatalog& catalog) {
  return write_json(SchemaBuilder(catalog).document(), 2) + '\n';
}

std::string print_config(const ResolvedConfig& resolved) {
  const Config& config = resolved.config;
  std::string out;
  const auto line = [&](const std::string& key, const json& value) {
    out += key + " = " + write_json(value) + "  (" + origin_of(resolved, key) + ")\n";
  };
  for (const Key& key : key_table()) {
    if (key.path == "norm.name" && config.norm.name.empty()) continue;
    line(key.path, key.get(config));
    if (key.path != "norm.rescue") continue;  // the last of its section
    for (const auto& [name, value] : config.norm.params) {
      line(std::string(kNormPrefix) + name, scalar_to_json(value));
    }
  }
  const json document = json::parse(config_json(config));
  for (const Axis& axis : config.sweep.axes) {
    const std::string name = shorten_key(axis.key);
    line("sweep." + name, document["sweep"][name]);
  }
  return out;
}

}  // namespace phasor
