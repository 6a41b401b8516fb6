#include "config/identity.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/json_text.h"
#include "config/keys.h"
#include "core/sha256.h"

namespace phasor {
namespace {

using nlohmann::json;

json& at_path(json& document, const std::string& path) {
  json* place = &document;
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t dot = std::min(path.find('.', start), path.size());
    place = &(*place)[path.substr(start, dot - start)];
    start = dot + 1;
  }
  return *place;
}

/// All keys for which `wanted` holds, and the norm's parameters, as nested objects.
template <class Predicate>
json collect(const Config& config, Predicate wanted) {
  json document = json::object();
  for (const Key& key : key_table()) {
    if (wanted(key)) at_path(document, key.path) = key.get(config);
  }
  for (const auto& [name, value] : config.norm.params) {
    document["norm"][name] = scalar_to_json(value);
  }
  if (config.norm.name.empty()) document["norm"].erase("name");
  return document;
}

/// What the hash covers. A norm's own parameter is left out at its default, like a key that joined
/// later, so that a norm may learn one without moving its cells.
json result_document(const Config& config) {
  static const Config standard;
  json document = collect(config, [&](const Key& key) {
    return key.determines_result && !(key.joined_later && key.get(config) == key.get(standard));
  });
  for (const auto& [name, value] : config.norm.defaults) {
    const auto found = config.norm.params.find(name);
    if (found != config.norm.params.end() && found->second == value) document["norm"].erase(name);
  }
  return document;
}

json axis_value_json(const Axis& axis, const AxisValue& value) {
  if (axis.key == kVariantAxis) {
    json object = json::object();
    for (const Assignment& a : value) object[shorten_key(a.key)] = json::parse(a.value);
    return object;
  }
  if (value.size() == 1 && value[0].key == axis.key) return json::parse(value[0].value);
  const std::string section = is_section(axis.key) ? axis.key : section_of(axis.key);
  json object = json::object();
  for (const Assignment& a : value) {
    at_path(object, a.key.substr(section.size() + 1)) = json::parse(a.value);
  }
  return object;
}

}  // namespace

std::string config_json(const Config& config, int indent) {
  json document = collect(config, [](const Key&) { return true; });
  for (const Axis& axis : config.sweep.axes) {
    json& values = document["sweep"][shorten_key(axis.key)] = json::array();
    for (const AxisValue& value : axis.values) values.push_back(axis_value_json(axis, value));
  }
  return write_json(document, indent);
}

std::string result_json(const Config& config) { return write_json(result_document(config)); }

CellIdentity cell_identity(const Config& cell, const IdentityExtras& extras) {
  json document = result_document(cell);
  if (cell.train.init_from) document["train"]["init_from"] = extras.init_digest;
  document["data_digest"] = extras.data_digest;
  document["plugin_digest"] = extras.plugin_digest;
  document["kernel_class"] = extras.kernel_class;
  document["numerics"] = extras.numerics;
  CellIdentity identity{write_json(document), {}};
  identity.hash = short_hash(identity.canonical);
  return identity;
}

std::string compatibility_hash(const Config& config) { return short_hash(result_json(config)); }

std::string short_hash(const std::string& text, std::size_t digits) {
  return sha256_hex(text.data(), text.size()).substr(0, digits);
}

}  // namespace phasor
