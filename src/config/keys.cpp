// Paths, shorthands, and access to values by path.
#include "config/keys.h"

#include <algorithm>
#include <utility>

namespace phasor {
namespace {

using nlohmann::json;

constexpr std::pair<std::string_view, std::string_view> kShorthands[] = {
    {"norm", "norm.name"},
    {"lr", "train.lr"},
    {"batch_size", "train.batch_size"},
    {"seed", "train.seed"}};

}  // namespace

const Key* find_key(std::string_view path) {
  for (const Key& key : key_table()) {
    if (key.path == path) return &key;
  }
  return nullptr;
}

const std::vector<std::string>& key_sections() {
  static const std::vector<std::string> sections = [] {
    std::vector<std::string> out;
    for (const Key& key : key_table()) {
      for (std::size_t dot = key.path.find('.'); dot != std::string::npos;
           dot = key.path.find('.', dot + 1)) {
        const std::string section = key.path.substr(0, dot);
        if (std::find(out.begin(), out.end(), section) == out.end()) out.push_back(section);
      }
    }
    return out;
  }();
  return sections;
}

bool is_section(std::string_view path) {
  const std::vector<std::string>& sections = key_sections();
  return std::find(sections.begin(), sections.end(), path) != sections.end();
}

std::string expand_shorthand(std::string_view key) {
  for (const auto& [brief, path] : kShorthands) {
    if (key == brief) return std::string(path);
  }
  return std::string(key);
}

std::string shorten_key(std::string_view path) {
  for (const auto& [brief, full] : kShorthands) {
    if (path == full) return std::string(brief);
  }
  return std::string(path);
}

std::string section_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return std::string(dot == path.npos ? "" : path.substr(0, dot));
}

std::string leaf_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return std::string(dot == path.npos ? path : path.substr(dot + 1));
}

bool is_norm_param(std::string_view path) {
  return path.size() > kNormPrefix.size() && path.starts_with(kNormPrefix) &&
         path.find('.', kNormPrefix.size()) == path.npos && find_key(path) == nullptr;
}

json scalar_to_json(const Scalar& value) {
  return std::visit([](const auto& v) { return json(v); }, value);
}

Scalar scalar_from_json(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float() ||
      (value.is_number_unsigned() && value.get<std::uint64_t>() > (std::uint64_t{1} << 62))) {
    const double number = value.get<double>();
    return number == 0 ? 0.0 : number;  // one zero
  }
  return value.get<std::int64_t>();
}

json get_value(const Config& config, const std::string& path) {
  if (const Key* key = find_key(path)) return key->get(config);
  const auto found = config.norm.params.find(leaf_of(path));
  return found == config.norm.params.end() ? json(nullptr) : scalar_to_json(found->second);
}

void set_value(Config& config, const std::string& path, const json& value) {
  if (const Key* key = find_key(path)) {
    key->set(config, value);
  } else {
    config.norm.params[leaf_of(path)] = scalar_from_json(value);
  }
}

std::string data_path(const DataConfig& data) {
  if (data.path) return *data.path;
  switch (data.kind) {
    case DataKind::cifar100:
      return "data/cifar-100-binary";
    case DataKind::cifar10:
      return "data/cifar-10-batches-bin";
    case DataKind::synthetic:
      break;
  }
  return "";
}

std::string output_path(const Config& config) {
  return config.run.out ? *config.run.out : "runs/" + config.name;
}

}  // namespace phasor
