#include "config/reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "config/cell_rules.h"
#include "config/expand.h"
#include "config/json_text.h"
#include "config/keys.h"
#include "config/section_reader.h"
#include "phasor/error.h"

namespace phasor {
namespace {

using nlohmann::json;

constexpr const char* kFileOrigin = "file";
constexpr std::string_view kSweepPrefix = "sweep.";

/// The file's name without folder and ending, if it can name a run.
std::optional<std::string> name_from_file(const std::string& file) {
  std::string stem = file.substr(file.rfind('/') + 1);
  if (stem.size() > 5 && stem.ends_with(".json")) stem.resize(stem.size() - 5);
  json value = stem;
  if (check_value(*find_key("name"), value)) return std::nullopt;
  return stem;
}

class Reader {
 public:
  Reader(const ConfigInput& input, const NormCatalog& catalog) : input_(input), catalog_(catalog) {}

  ResolvedConfig read() {
    read_file();
    std::set<std::string> seen;
    for (const Setting& setting : input_.settings) {
      if (!seen.insert(expand_shorthand(setting.key)).second) {
        errors_.push_back(setting.origin + ' ' + setting.key + ": given twice");
      } else {
        apply(setting);
      }
    }
    check_axes_apart(out_.config.sweep.axes, errors_);
    check_cells();
    throw_errors();
    return std::move(out_);
  }

 private:
  void read_file() {
    if (const auto name = name_from_file(input_.file)) {
      out_.config.name = *name;
      out_.origins["name"] = "file name";
    }
    const json document = parse_json(input_.text, input_.file, errors_);
    std::vector<Assignment> found;
    read_section(document, "", "", found, errors_);
    for (const Assignment& a : found) assign(a, kFileOrigin);
    if (document.is_object() && document.contains("sweep")) {
      out_.config.sweep.axes = read_axes(document["sweep"], "/sweep", errors_);
      for (const Axis& axis : out_.config.sweep.axes) note_axis(axis, kFileOrigin);
    }
  }

  void assign(const Assignment& a, const std::string& origin) {
    set_value(out_.config, a.key, json::parse(a.value));
    out_.origins[a.key] = origin;
    if (origin != kFileOrigin) places_[a.key] = a.where;
  }

  void note_axis(const Axis& axis, const std::string& origin) {
    out_.origins[std::string(kSweepPrefix) + shorten_key(axis.key)] = origin;
  }

  void apply(const Setting& setting) {
    if (setting.key.starts_with(kSweepPrefix)) return apply_axis(setting);
    const std::string path = expand_shorthand(setting.key);
    const std::string where = setting.origin + ' ' + setting.key;
    if (is_section(path)) {
      errors_.push_back(where + ": a section; set one of its keys");
      return;
    }
    if (find_key(path) == nullptr && !is_norm_param(path)) {
      errors_.push_back(where + ": unknown key" + suggest_key(setting.key));
      return;
    }
    try {
      const json value = setting_value(path, setting);
      replace_axis(path, where);
      assign({path, write_json(value), where}, setting.origin);
    } catch (const Error& error) {
      errors_.push_back(error.what());
    }
  }

  /// --set sweep.lr=[0.1,0.2] gives an axis.
  void apply_axis(const Setting& setting) {
    const std::string name = setting.key.substr(kSweepPrefix.size());
    const std::string where = setting.origin + " sweep";
    json list = json::parse(setting.value, nullptr, /*allow_exceptions=*/false);
    if (list.is_discarded()) list = setting.value;
    json sweep = json::object();
    sweep[name] = std::move(list);
    std::vector<Axis>& axes = out_.config.sweep.axes;
    for (Axis& axis : read_axes(sweep, where, errors_)) {
      std::erase_if(axes, [&](const Axis& old) { return old.key == axis.key; });
      note_axis(axis, setting.origin);
      axes.push_back(std::move(axis));
    }
    sort_axes(axes);
  }

  /// What the command line sets once must not be overruled by an axis of the file.
  void replace_axis(const std::string& path, const std::string& where) {
    std::vector<Axis>& axes = out_.config.sweep.axes;
    const auto same = [&](const Axis& axis) { return axis.key == path; };
    if (std::erase_if(axes, same) > 0) {
      out_.warnings.push_back(where + ": replaces the axis sweep." + shorten_key(path));
      out_.origins.erase(std::string(kSweepPrefix) + shorten_key(path));
    }
    for (const Axis& axis : axes) {
      const bool set = std::any_of(axis.values.begin(), axis.values.end(), [&](const AxisValue& v) {
        return std::any_of(v.begin(), v.end(), [&](const Assignment& a) { return a.key == path; });
      });
      if (set) {
        errors_.push_back(where + ": the axis sweep." + shorten_key(axis.key) + " sets it too");
      }
    }
  }

  void check_cells() {
    const NormConfig& norm = out_.config.norm;
    const auto norm_line = [](const std::string& line) {
      return line.find("/norm") != line.npos || line.find("norm.name") != line.npos ||
             line.starts_with("the document");
    };
    const bool need_norm = std::none_of(errors_.begin(), errors_.end(), norm_line);
    if (!norm.name.empty() && catalog_.find(norm.name) == nullptr) {
      const auto place = places_.find("norm.name");
      errors_.push_back((place == places_.end() ? "/norm/name" : place->second) + ": " +
                        unknown_norm(norm.name, catalog_));
    }
    const bool whole_axes =
        std::none_of(out_.config.sweep.axes.begin(), out_.config.sweep.axes.end(),
                     [](const Axis& axis) { return axis.values.empty(); });
    if (whole_axes)
      expand_checked(out_.config, catalog_, places_, need_norm, errors_, out_.warnings);
  }

  void throw_errors() const {
    if (errors_.empty()) return;
    std::string text = "[config] ";
    if (!input_.file.empty()) text += input_.file + ": ";
    text += std::to_string(errors_.size()) + (errors_.size() == 1 ? " error" : " errors");
    for (const std::string& error : errors_) text += '\n' + error;
    fail(ErrorKind::usage, text);
  }

  const ConfigInput& input_;
  const NormCatalog& catalog_;
  ResolvedConfig out_;
  std::map<std::string, std::string> places_;  // of what the command line set
  std::vector<std::string> errors_;
};

}  // namespace

ResolvedConfig read_config(const ConfigInput& input, const NormCatalog& catalog) {
  return Reader(input, catalog).read();
}

std::vector<std::string> plugin_paths(const ConfigInput& input) {
  const Key& key = *find_key("plugins");
  json list;
  try {
    std::vector<std::string> ignored;
    const json document = parse_json(input.text, input.file, ignored);
    if (document.is_object() && document.contains(key.path)) list = document[key.path];
  } catch (const Error&) {
    return {};  // read_config() reports it
  }
  for (const Setting& setting : input.settings) {
    if (setting.key == key.path) list = json::parse(setting.value, nullptr, false);
  }
  if (list.is_discarded() || check_value(key, list)) return {};
  return list.get<std::vector<std::string>>();
}

}  // namespace phasor
