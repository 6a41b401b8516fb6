#include "config/expand.h"

#include <algorithm>
#include <map>
#include <set>

#include "config/cell_rules.h"
#include "config/identity.h"
#include "config/json_text.h"
#include "config/keys.h"
#include "config/section_reader.h"
#include "phasor/error.h"

namespace phasor {
namespace {

using nlohmann::json;

/// The number of cells, or 0 where it exceeds kMostCells.
std::size_t count_cells(const std::vector<Axis>& axes) {
  std::size_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.values.size();
    if (count > kMostCells) return 0;
  }
  return count;
}

/// Keys beyond the four of every label that some axis sets, in the order of the axes.
std::vector<std::string> further_keys(const std::vector<Axis>& axes) {
  std::vector<std::string> keys;
  for (const Axis& axis : axes) {
    for (const AxisValue& value : axis.values) {
      for (const Assignment& a : value) {
        const bool basic = shorten_key(a.key) != a.key;
        if (!basic && std::find(keys.begin(), keys.end(), a.key) == keys.end()) {
          keys.push_back(a.key);
        }
      }
    }
  }
  return keys;
}

Config apply_axes(const Config& base, std::size_t index, Places& places) {
  Config cell = base;
  cell.sweep = {};
  for (auto axis = base.sweep.axes.rbegin(); axis != base.sweep.axes.rend(); ++axis) {
    const AxisValue& value = axis->values[index % axis->values.size()];
    index /= axis->values.size();
    for (const Assignment& a : value) {
      set_value(cell, a.key, json::parse(a.value));
      places[a.key] = a.where;
    }
  }
  return cell;
}

/// A value without quotes, e.g. for labels.
std::string plain_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : write_json(value);
}

void remove_repeats(std::vector<std::string>& lines) {
  std::set<std::string> seen;
  std::erase_if(lines, [&](const std::string& line) { return !seen.insert(line).second; });
}

}  // namespace

std::string cell_label(const Config& cell, const Config& base,
                       const std::vector<std::string>& further) {
  std::string label = cell.norm.name + "-lr" + number_text(cell.train.lr) + "-bs" +
                      std::to_string(cell.train.batch_size) + "-s" +
                      std::to_string(cell.train.seed);
  for (const std::string& key : further) {
    const json value = get_value(cell, key);
    if (value == get_value(base, key)) continue;
    label += '-' + key.substr(key.find('.') + 1) + '=' + plain_text(value);
  }
  for (char& c : label) {
    const bool safe = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                      c == '.' || c == '_' || c == '=' || c == '+' || c == '-';
    if (!safe) c = '_';
  }
  constexpr std::size_t kLongest = 120;
  return label.substr(0, kLongest);
}

std::vector<CellConfig> expand_checked(const Config& config, const NormCatalog& catalog,
                                       const Places& base_places, bool need_norm,
                                       std::vector<std::string>& errors,
                                       std::vector<std::string>& warnings) {
  std::vector<CellConfig> cells;
  const std::size_t count = count_cells(config.sweep.axes);
  if (count == 0) {
    errors.push_back(concat("/sweep: expected at most ", kMostCells, " cells; got more"));
    return cells;
  }
  const std::vector<std::string> further = further_keys(config.sweep.axes);
  std::map<std::string, std::string> seen;  // what determines the result -> label
  for (std::size_t i = 0; i < count; ++i) {
    Places places = base_places;
    CellConfig cell{apply_axes(config, i, places), {}};
    resolve_norm(cell.config, catalog, places, errors);
    check_rules(cell.config, places, errors, warnings);
    if (cell.config.norm.name.empty() && need_norm) {
      errors.push_back(
          "/norm/name: missing; there is no default: name a norm here or in /sweep/norm");
    }
    cell.label = cell_label(cell.config, config, further);
    const auto [same, fresh] = seen.emplace(result_json(cell.config), cell.label);
    if (!fresh) {
      errors.push_back("/sweep: two cells are the same; got " + same->second + " and " +
                       cell.label);
    }
    cells.push_back(std::move(cell));
  }
  remove_repeats(errors);
  remove_repeats(warnings);
  return cells;
}

std::vector<CellConfig> expand(const Config& config, const NormCatalog& catalog) {
  std::vector<std::string> errors, warnings;
  std::vector<CellConfig> cells =
      expand_checked(config, catalog, {}, /*need_norm=*/true, errors, warnings);
  if (!errors.empty()) {
    std::string text;
    for (const std::string& error : errors) text += '\n' + error;
    fail(ErrorKind::usage, "[config] wrong cells", text);
  }
  return cells;
}

bool matches_filter(const Config& cell, std::string_view filter) {
  std::map<std::string, bool> matched;
  for (std::size_t start = 0; start <= filter.size();) {
    const std::size_t comma = std::min(filter.find(',', start), filter.size());
    const Setting setting = parse_setting(filter.substr(start, comma - start), "--filter");
    start = comma + 1;
    const std::string path = expand_shorthand(setting.key);
    if (find_key(path) == nullptr && !is_norm_param(path)) {
      fail(ErrorKind::usage, "[config] --filter ", setting.key, ": unknown key",
           suggest_key(setting.key));
    }
    const json value = setting_value(path, setting);
    matched[path] = matched[path] || get_value(cell, path) == value;
  }
  return std::all_of(matched.begin(), matched.end(), [](const auto& m) { return m.second; });
}

}  // namespace phasor
