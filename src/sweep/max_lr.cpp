#include "sweep/max_lr.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <set>

#include "config/identity.h"
#include "config/json_text.h"
#include "config/keys.h"
#include "phasor/error.h"

namespace phasor {
namespace {

constexpr const char* kLr = "train.lr";

/// Three significant decimal digits, so that ids stay short.
double rounded(double value) {
  char text[32];
  const auto end = std::to_chars(text, std::end(text), value, std::chars_format::scientific, 2);
  std::from_chars(text, end.ptr, value);
  return value;
}

/// Takes learning rates out of the axes; values that then are equal become one.
void drop_rates(Config& config) {
  std::vector<Axis>& axes = config.sweep.axes;
  for (Axis& axis : axes) {
    std::set<std::string> seen;
    std::vector<AxisValue> kept;
    for (AxisValue& value : axis.values) {
      std::erase_if(value, [](const Assignment& a) { return a.key == kLr; });
      std::string text;
      for (const Assignment& a : value) text += a.key + '=' + a.value + '\n';
      const bool stays = !value.empty() || axis.key == kVariantAxis;
      if (stays && seen.insert(text).second) kept.push_back(std::move(value));
    }
    axis.values = std::move(kept);
  }
  std::erase_if(axes, [](const Axis& axis) { return axis.values.empty(); });
}

/// What a group's cells share.
std::string group_key(Config cell) {
  cell.train.lr = 0;
  cell.train.seed = 0;
  return result_json(cell);
}

std::string group_label(const Config& cell, std::string label) {
  for (const std::string& part :
       {concat("-lr", number_text(cell.train.lr)), concat("-s", cell.train.seed)}) {
    if (const std::size_t at = label.find(part); at != std::string::npos)
      label.erase(at, part.size());
  }
  return label;
}

}  // namespace

std::optional<double> LrBracket::next() const {
  const double low = trains_.value_or(range_.from), high = fails_.value_or(range_.to);
  const double middle = rounded(std::sqrt(low) * std::sqrt(high));
  if (high > low * range_.ratio && middle > low && middle < high) return middle;
  if (!trains_ && fails_ != range_.from) return range_.from;
  if (!fails_ && trains_ != range_.to) return range_.to;
  return std::nullopt;
}

void LrBracket::add(double lr, bool trained) { (trained ? trains_ : fails_) = lr; }

bool LrTrial::trained() const {
  return std::all_of(verdicts.begin(), verdicts.end(),
                     [](const std::string& verdict) { return verdict == "trained"; });
}

MaxLrSearch::MaxLrSearch(const Config& config, const NormCatalog& catalog, const LrRange& range)
    : config_(config), catalog_(catalog) {
  PHASOR_CHECK(range.from > 0 && range.from < range.to && range.ratio > 1,
               "[max-lr] needs 0 < from < to and a ratio above 1; got from ",
               number_text(range.from), ", to ", number_text(range.to), ", ratio ",
               number_text(range.ratio));
  drop_rates(config_);
  std::set<std::string> seen;
  for (const PlannedCell& cell : plan_cells(config_, catalog_).cells) {
    if (seen.insert(group_key(cell.config)).second)
      groups_.push_back({group_label(cell.config, cell.label), cell.config, LrBracket(range), {}});
  }
}

std::optional<Plan> MaxLrSearch::next_round() const {
  Plan plan = plan_of([](const LrGroup& group) {
    const std::optional<double> lr = group.bracket.next();
    return lr ? std::vector<double>{*lr} : std::vector<double>{};
  });
  if (plan.cells.empty()) return std::nullopt;
  return plan;
}

Plan MaxLrSearch::tried() const {
  return plan_of([](const LrGroup& group) {
    std::vector<double> rates;
    for (const LrTrial& trial : group.trials) rates.push_back(trial.lr);
    return rates;
  });
}

Plan MaxLrSearch::plan_of(const std::function<std::vector<double>(const LrGroup&)>& rates) const {
  std::set<std::pair<std::string, double>> wanted;
  std::set<double> all;
  for (const LrGroup& group : groups_)
    for (const double lr : rates(group)) {
      wanted.emplace(group_key(group.config), lr);
      all.insert(lr);
    }
  if (all.empty()) return {};
  Config config = config_;
  Axis axis{kLr, {}};
  for (const double lr : all)
    axis.values.push_back({Assignment{kLr, number_text(lr), "the search for max-lr"}});
  config.sweep.axes.push_back(std::move(axis));
  Plan plan = plan_cells(config, catalog_);
  std::erase_if(plan.cells, [&](const PlannedCell& cell) {
    return !wanted.contains({group_key(cell.config), cell.config.train.lr});
  });
  return plan;
}

void MaxLrSearch::record(const Plan& plan, const std::vector<std::string>& verdicts) {
  for (LrGroup& group : groups_) {
    const std::optional<double> lr = group.bracket.next();
    if (!lr) continue;
    LrTrial trial{*lr, {}};
    for (std::size_t i = 0; i < plan.cells.size(); ++i) {
      const Config& cell = plan.cells[i].config;
      if (cell.train.lr == *lr && group_key(cell) == group_key(group.config))
        trial.verdicts.push_back(verdicts.at(i));
    }
    if (trial.verdicts.empty()) continue;
    group.bracket.add(*lr, trial.trained());
    group.trials.push_back(std::move(trial));
  }
}

}  // namespace phasor
