#include "config/section_reader.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "config/json_text.h"
#include "config/keys.h"
#include "core/nearest_name.h"

namespace phasor {
namespace {

using nlohmann::json;

std::string join_path(const std::string& section, const std::string& name) {
  return section.empty() ? name : section + '.' + name;
}

/// The keys and sections that `section` may hold.
std::vector<std::string> names_in(const std::string& section) {
  std::vector<std::string> names;
  for (const Key& key : key_table()) {
    if (section_of(key.path) == section) names.push_back(leaf_of(key.path));
  }
  for (const std::string& child : key_sections()) {
    if (section_of(child) == section) names.push_back(leaf_of(child));
  }
  if (section.empty()) names.push_back("sweep");
  return names;
}

std::string pointer_of(const std::string& path) {
  std::string out = '/' + path;
  std::replace(out.begin(), out.end(), '.', '/');
  return out;
}

/// Says where a key of this name belongs, or which near name the section has.
std::string unknown_key(const std::string& section, const std::string& name) {
  std::string error = "unknown key";
  for (const Key& key : key_table()) {
    if (key.path == name || leaf_of(key.path) == name) {
      return error + "; did you mean " + pointer_of(key.path) + "?";
    }
  }
  return error + did_you_mean(name, names_in(section));
}

/// A section is what the hash covers if any key of it is.
bool sweepable_section(const std::string& section) {
  return std::any_of(key_table().begin(), key_table().end(), [&](const Key& key) {
    return key.determines_result && key.path.starts_with(section + '.');
  });
}

bool sweepable(const std::string& path) {
  const Key* key = find_key(path);
  return key != nullptr ? key->determines_result : is_norm_param(path);
}

bool is_scalar(const json& value) { return value.is_primitive() && !value.is_null(); }

/// `value` of the key `path` (a row or a norm parameter), checked.
void read_value(const std::string& path, json value, const std::string& where,
                std::vector<Assignment>& found, std::vector<std::string>& errors) {
  if (const Key* key = find_key(path)) {
    if (const auto error = check_value(*key, value)) {
      errors.push_back(where + ": " + *error);
      return;
    }
  } else if (!is_scalar(value)) {
    errors.push_back(where + ": expected a number, a string, true or false; " +
                     describe_value(value));
    return;
  }
  found.push_back({path, write_json(value), where});
}

constexpr const char* kNoAxis = "does not change the result of a cell, so it cannot be an axis";

/// Null, or why `path` cannot be an axis or a key of a variant.
std::optional<std::string> refuse_axis(const std::string& path, const std::string& name) {
  if (is_section(path) ? sweepable_section(path) : sweepable(path)) return std::nullopt;
  if (is_section(path) || find_key(path) != nullptr) return kNoAxis;
  for (const Key& key : key_table()) {
    if (key.determines_result && leaf_of(key.path) == name) {
      return "unknown key; did you mean " + key.path + "?";
    }
  }
  return "unknown key" + did_you_mean(name, all_key_names());
}

void read_variant(const json& value, const std::string& where, AxisValue& found,
                  std::vector<std::string>& errors) {
  if (!value.is_object()) {
    errors.push_back(where + ": expected an object of dotted keys; " + describe_value(value));
    return;
  }
  for (const auto& item : value.items()) {
    const std::string at = pointer_join(where, item.key());
    const std::string path = expand_shorthand(item.key());
    if (const auto refusal = refuse_axis(path, item.key())) {
      errors.push_back(at + ": " + *refusal);
    } else if (is_section(path)) {
      errors.push_back(at + ": expected a dotted key, such as " + path + ".<key>; got a section");
    } else {
      read_value(path, item.value(), at, found, errors);
    }
  }
}

void read_axis_value(const json& value, const Axis& axis, const std::string& where,
                     AxisValue& found, std::vector<std::string>& errors) {
  if (axis.key == kVariantAxis) return read_variant(value, where, found, errors);
  const bool section_axis = is_section(axis.key);
  if (value.is_object()) {
    const std::size_t before = errors.size();
    read_section(value, section_axis ? axis.key : section_of(axis.key), where, found, errors);
    if (value.empty()) errors.push_back(where + ": expected an object with at least one key");
    for (const Assignment& assignment : found) {
      if (errors.size() == before && !sweepable(assignment.key)) {
        errors.push_back(assignment.where + ": " + kNoAxis);
      }
    }
  } else if (section_axis) {
    errors.push_back(where + ": expected an object with keys of " + axis.key + "; " +
                     describe_value(value));
  } else {
    read_value(axis.key, value, where, found, errors);
  }
}

}  // namespace

std::string suggest_key(const std::string& name) {
  for (const Key& key : key_table()) {
    if (leaf_of(key.path) == name) return "; did you mean " + key.path + "?";
  }
  return did_you_mean(name, all_key_names());
}

std::vector<std::string> all_key_names() {
  std::vector<std::string> names;
  for (const Key& key : key_table()) {
    names.push_back(key.path);
    if (const std::string brief = shorten_key(key.path); brief != key.path) names.push_back(brief);
  }
  return names;
}

void read_section(const json& object, const std::string& section, const std::string& pointer,
                  std::vector<Assignment>& found, std::vector<std::string>& errors) {
  if (!object.is_object()) {
    errors.push_back((pointer.empty() ? "the document" : pointer) + ": expected an object; " +
                     describe_value(object));
    return;
  }
  for (const auto& item : object.items()) {
    const std::string& name = item.key();
    const json& value = item.value();
    const std::string where = pointer_join(pointer, name);
    const std::string path = join_path(section, name);
    const bool plain = name.find('.') == std::string::npos;
    if (section.empty() && name == "$schema") {
      if (!value.is_string()) {
        errors.push_back(where + ": expected a string; " + describe_value(value));
      }
    } else if (section.empty() && name == "sweep") {
      continue;
    } else if (plain && is_section(path)) {
      read_section(value, path, where, found, errors);
    } else if (plain && (find_key(path) != nullptr || is_norm_param(path))) {
      read_value(path, value, where, found, errors);
    } else {
      errors.push_back(where + ": " + unknown_key(section, name));
    }
  }
}

std::vector<Axis> read_axes(const json& sweep, const std::string& pointer,
                            std::vector<std::string>& errors) {
  std::vector<Axis> axes;
  if (!sweep.is_object()) {
    errors.push_back(pointer + ": expected an object; " + describe_value(sweep));
    return axes;
  }
  for (const auto& item : sweep.items()) {
    const std::string where = pointer_join(pointer, item.key());
    Axis axis{expand_shorthand(item.key()), {}};
    const bool variant = item.key() == kVariantAxis;
    if (const auto refusal = variant ? std::nullopt : refuse_axis(axis.key, item.key())) {
      errors.push_back(where + ": " + *refusal);
      continue;
    }
    if (!item.value().is_array() || item.value().empty()) {
      errors.push_back(where + ": expected a list of at least one value; " +
                       (item.value().is_array() ? "got []" : describe_value(item.value())));
      continue;
    }
    std::set<std::string> seen;
    for (std::size_t i = 0; i < item.value().size(); ++i) {
      const std::string at = where + '/' + std::to_string(i);
      AxisValue value;
      const std::size_t before = errors.size();
      read_axis_value(item.value()[i], axis, at, value, errors);
      if (errors.size() > before) continue;
      std::string text;
      for (const Assignment& a : value) text += a.key + '=' + a.value + '\n';
      if (!seen.insert(text).second) {
        errors.push_back(at + ": duplicate value; " + describe_value(item.value()[i]));
        continue;
      }
      axis.values.push_back(std::move(value));
    }
    axes.push_back(std::move(axis));
  }
  sort_axes(axes);
  return axes;
}

void sort_axes(std::vector<Axis>& axes) {
  static const std::vector<std::string> first = {"train.seed", "norm.name", "train.lr",
                                                 "train.batch_size"};
  const auto rank = [](const Axis& axis) {
    return std::tuple(std::find(first.begin(), first.end(), axis.key) - first.begin(), axis.key);
  };
  std::sort(axes.begin(), axes.end(),
            [&](const Axis& a, const Axis& b) { return rank(a) < rank(b); });
}

void check_axes_apart(const std::vector<Axis>& axes, std::vector<std::string>& errors) {
  std::map<std::string, std::string> owner;  // key -> the axis that sets it
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string name = axes[i].key + '#' + std::to_string(i);
    for (const AxisValue& value : axes[i].values) {
      for (const Assignment& assignment : value) {
        const auto [entry, fresh] = owner.emplace(assignment.key, name);
        if (fresh || entry->second == name) continue;
        const std::string other = entry->second.substr(0, entry->second.find('#'));
        errors.push_back(assignment.where + ": " + assignment.key + " is also set by the axis " +
                         shorten_key(other));
        entry->second = name;  // once per pair of axes
      }
    }
  }
}

}  // namespace phasor
