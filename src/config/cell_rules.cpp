#include "config/cell_rules.h"

#include <algorithm>
#include <cmath>

#include "config/json_text.h"
#include "config/keys.h"
#include "core/nearest_name.h"

namespace phasor {
namespace {

using nlohmann::json;

std::string place(const Places& places, const std::string& path) {
  if (const auto found = places.find(path); found != places.end()) return found->second;
  std::string out = '/' + path;
  std::replace(out.begin(), out.end(), '.', '/');
  return out;
}

std::string expected_param(const NormParam& param) {
  static const char* const words[] = {"true or false", "an integer", "a number", "a string"};
  const std::string word = words[static_cast<int>(param.type)];
  return param.range.empty() ? word : word + ' ' + param.range;
}

/// Brings `value` to the parameter's type; false where that is not possible.
bool convert_param(const NormParam& param, Scalar& value) {
  if (param.type == ParamType::boolean) return std::holds_alternative<bool>(value);
  if (param.type == ParamType::string) return std::holds_alternative<std::string>(value);
  double number = 0;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    number = static_cast<double>(*integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    number = *real;
  } else {
    return false;
  }
  if (!(number >= param.minimum && number <= param.maximum)) return false;
  if (param.type == ParamType::number) {
    value = number;
    return true;
  }
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (number != std::trunc(number) || std::abs(number) > kExact) return false;
  value = static_cast<std::int64_t>(number);
  return true;
}

/// For what has no emulated statistic: `user`, e.g. "the norm none".
void refuse_emulated_statistic(const Config& cell, const std::string& user, const Places& places,
                               std::vector<std::string>& errors) {
  static const Config standard;
  for (const char* key : {"norm.stat_dtype", "norm.rescue"}) {
    const json got = get_value(cell, key), only = get_value(standard, key);
    if (got == only) continue;
    errors.push_back(place(places, key) + ": " + user + " takes only " + write_json(only) +
                     "; got " + write_json(got));
  }
}

}  // namespace

std::string unknown_norm(const std::string& name, const NormCatalog& catalog) {
  std::vector<std::string> names;
  for (const NormEntry& norm : catalog.norms) names.push_back(norm.name);
  std::string error = "unknown norm " + write_json(name) + did_you_mean(name, names) + "; known:";
  if (names.empty()) error += " none";
  for (const std::string& known : names) error += ' ' + known;
  return error;
}

void resolve_norm(Config& cell, const NormCatalog& catalog, const Places& places,
                  std::vector<std::string>& errors) {
  if (cell.norm.name.empty()) return;
  const NormEntry* norm = catalog.find(cell.norm.name);
  if (norm == nullptr) {
    errors.push_back(place(places, "norm.name") + ": " + unknown_norm(cell.norm.name, catalog));
    return;
  }
  if (!norm->narrow_statistic) {
    refuse_emulated_statistic(cell, "the norm " + norm->name, places, errors);
  }
  std::vector<std::string> known;
  for (const Key& key : key_table()) {
    if (key.path.starts_with(kNormPrefix)) known.push_back(leaf_of(key.path));
  }
  for (const NormParam& param : norm->params) known.push_back(param.name);
  for (auto& entry : cell.norm.params) {  // clang 14 lets no lambda capture structured bindings
    const std::string& name = entry.first;
    Scalar& value = entry.second;
    const std::string where = place(places, std::string(kNormPrefix) + name);
    const auto param = std::find_if(norm->params.begin(), norm->params.end(),
                                    [&](const NormParam& p) { return p.name == name; });
    if (param == norm->params.end()) {
      errors.push_back(where + ": unknown key; the norm " + norm->name + " has no such parameter" +
                       did_you_mean(name, known));
    } else if (!convert_param(*param, value)) {
      errors.push_back(where + ": expected " + expected_param(*param) + "; " +
                       describe_value(scalar_to_json(value)));
    }
  }
  for (const NormParam& param : norm->params) {
    Scalar value = param.default_value;
    convert_param(param, value);
    cell.norm.params.emplace(param.name, value);
    cell.norm.defaults.emplace(param.name, value);
  }
}

void check_rules(const Config& cell, const Places& places, std::vector<std::string>& errors,
                 std::vector<std::string>& warnings) {
  const TrainConfig& train = cell.train;
  if (train.nesterov && (train.momentum == 0 || train.dampening != 0)) {
    errors.push_back(place(places, "train.nesterov") +
                     ": needs momentum above 0 and dampening 0; got momentum " +
                     number_text(train.momentum) + ", dampening " + number_text(train.dampening));
  }
  const bool multistep = train.schedule.kind == ScheduleKind::multistep;
  if (multistep == train.schedule.milestones.empty()) {
    errors.push_back(place(places, "train.schedule.milestones") +
                     (multistep ? ": multistep needs at least one milestone; got []"
                                : ": only the schedule multistep has milestones"));
  }
  if (train.warmup_epochs > static_cast<double>(train.epochs)) {
    errors.push_back(place(places, "train.warmup_epochs") + ": expected at most train.epochs (" +
                     number_text(static_cast<double>(train.epochs)) + "); got " +
                     number_text(train.warmup_epochs));
  }
  if (train.dtype == FloatType::float64) {
    refuse_emulated_statistic(cell, "train.dtype float64", places, errors);
  }
  // They look at a pass by the definitions, which have no such statistic.
  if (train.diagnostics) refuse_emulated_statistic(cell, "train.diagnostics", places, errors);
  constexpr double kSmallEps = 1e-8;
  if (train.dtype == FloatType::float32 && cell.norm.eps < kSmallEps) {
    warnings.push_back(place(places, "norm.eps") + ": " + number_text(cell.norm.eps) +
                       " is below 1e-8 in float32; the gradient of a zero row grows as "
                       "gamma/sqrt(eps)");
  }
}

}  // namespace phasor
