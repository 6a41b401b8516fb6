#include "report/comparisons.h"

#include <algorithm>
#include <map>
#include <utility>

#include "config/json_text.h"
#include "report/markdown.h"
#include "report/statistics.h"

namespace phasor {
namespace {

constexpr std::size_t kFewNorms = 4;

/// Learning rate, batch size and variant: where norms are compared.
struct Condition {
  double lr;
  std::int64_t batch_size;
  std::string variant;

  bool operator==(const Condition&) const = default;
};

Condition condition_of(const Group& group) { return {group.lr, group.batch_size, group.variant}; }

std::vector<Condition> conditions_of(const std::vector<Group>& groups) {
  std::vector<Condition> conditions;
  for (const Group& group : groups) {
    const Condition condition = condition_of(group);
    if (std::find(conditions.begin(), conditions.end(), condition) == conditions.end()) {
      conditions.push_back(condition);
    }
  }
  return conditions;
}

const Group* find_group(const std::vector<Group>& groups, const std::string& norm,
                        const Condition& condition) {
  for (const Group& group : groups) {
    if (group.norm == norm && condition_of(group) == condition) return &group;
  }
  return nullptr;
}

bool has_variants(const std::vector<Group>& groups) {
  return std::any_of(groups.begin(), groups.end(),
                     [](const Group& group) { return !group.variant.empty(); });
}

std::vector<std::string> condition_row(const Condition& condition, bool variants) {
  std::vector<std::string> row{number_text(condition.lr), std::to_string(condition.batch_size)};
  if (variants) row.push_back(condition.variant);
  return row;
}

std::string count_text(int k, std::size_t n) { return std::to_string(k) + "/" + std::to_string(n); }

/// "3/3 [29.2, 100.0]"
std::string survival_text(const Group* group) {
  if (group == nullptr) return "–";
  const std::size_t n = group->done().size();
  if (n == 0) return group->cells.size() == 1 ? verdict_text(group->first()) : "none finished";
  const int k = group->trained();
  const Interval interval = clopper_pearson(k, static_cast<std::int64_t>(n));
  return count_text(k, n) + " [" + fixed_text(100 * interval.low, 1) + ", " +
         fixed_text(100 * interval.high, 1) + "]";
}

std::string survival_in_all(const std::vector<Group>& groups, const std::string& norm) {
  int k = 0;
  std::size_t n = 0;
  for (const Group& group : groups) {
    if (group.norm != norm) continue;
    k += group.trained();
    n += group.done().size();
  }
  return count_text(k, n);
}

/// B - A over the seeds that both have finished.
Differences differences_of(const Group& a, const Group& b,
                           std::optional<double> CellRecord::*accuracy) {
  std::vector<double> values;
  for (const CellRecord* left : a.done()) {
    for (const CellRecord* right : b.done()) {
      if (left->seed != right->seed) continue;
      values.push_back(percent_of(*right, accuracy) - percent_of(*left, accuracy));
      break;
    }
  }
  return summarise(values);
}

std::string difference_text(const Differences& differences) {
  std::string text = fixed_text(differences.mean, 2);
  if (text == "-0.00") text = "0.00";
  if (text[0] != '-' && text != "0.00") text.insert(0, 1, '+');
  if (differences.half_width) text += " ± " + fixed_text(*differences.half_width, 2);
  return text;
}

/// Pairs (a, b) of norms for B - A.
std::vector<std::pair<std::string, std::string>> norm_pairs(const std::vector<std::string>& norms) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t b = 1; b < norms.size(); ++b) {
    for (std::size_t a = 0; a < (norms.size() > kFewNorms ? 1 : b); ++a) {
      pairs.emplace_back(norms[a], norms[b]);
    }
  }
  return pairs;
}

}  // namespace

double percent_of(const CellRecord& cell, std::optional<double> CellRecord::*accuracy) {
  return 100 * (cell.*accuracy).value_or(0);
}

Table survival_table(const std::vector<Group>& groups) {
  const bool variants = has_variants(groups);
  const std::vector<std::string> norms = values_of(groups, &Group::norm);
  Table table{
      .title = "Survival",
      .notes = {"k/n: k of n finished seeds have the verdict trained; in brackets the exact "
                "(Clopper-Pearson) 95% interval, in percent, of the probability that a seed "
                "survives. The last line adds up different conditions and has no interval."},
      .heading = {"lr", "batch size"},
      .name = "survival"};
  if (variants) table.heading.push_back("variant");
  table.words = table.heading.size();
  const std::vector<Condition> conditions = conditions_of(groups);
  if (norms.size() > kFewNorms) {
    table.heading.insert(table.heading.end(), {"norm", "survived"});
    ++table.words;
    for (const Condition& condition : conditions) {
      for (const std::string& norm : norms) {
        const Group* group = find_group(groups, norm, condition);
        if (group == nullptr) continue;
        std::vector<std::string> row = condition_row(condition, variants);
        row.insert(row.end(), {norm, survival_text(group)});
        table.rows.push_back(std::move(row));
      }
    }
    for (const std::string& norm : norms) {
      std::vector<std::string> row(table.words - 1);
      row[0] = "all";
      row.insert(row.end(), {norm, survival_in_all(groups, norm)});
      table.rows.push_back(std::move(row));
    }
    return table;
  }
  table.heading.insert(table.heading.end(), norms.begin(), norms.end());
  std::vector<std::string> all(table.words);
  all[0] = "all";
  for (const std::string& norm : norms) all.push_back(survival_in_all(groups, norm));
  for (const Condition& condition : conditions) {
    table.rows.push_back(condition_row(condition, variants));
    for (const std::string& norm : norms) {
      table.rows.back().push_back(survival_text(find_group(groups, norm, condition)));
    }
  }
  if (!table.rows.empty()) table.rows.push_back(std::move(all));
  return table;
}

Table difference_table(const std::vector<Group>& groups) {
  const bool variants = has_variants(groups);
  Table table{.title = "Paired differences between norms",
              .heading = {"difference", "lr", "batch size"},
              .name = "differences"};
  if (variants) table.heading.push_back("variant");
  table.words = table.heading.size();
  for (const char* name : {"n", "test acc. last", "test best", "train acc. last", "train best"}) {
    table.heading.emplace_back(name);
  }
  bool single = false, several = false;
  for (const auto& [a, b] : norm_pairs(values_of(groups, &Group::norm))) {
    for (const Condition& condition : conditions_of(groups)) {
      const Group* left = find_group(groups, a, condition);
      const Group* right = find_group(groups, b, condition);
      if (left == nullptr || right == nullptr) continue;
      const Differences last = differences_of(*left, *right, &CellRecord::test_accuracy);
      if (last.n == 0) continue;
      (last.n == 1 ? single : several) = true;
      std::vector<std::string> row{b + " - " + a};
      const std::vector<std::string> where = condition_row(condition, variants);
      row.insert(row.end(), where.begin(), where.end());
      row.insert(row.end(), {std::to_string(last.n), difference_text(last)});
      for (const auto accuracy : {&CellRecord::best_test_accuracy, &CellRecord::train_accuracy,
                                  &CellRecord::best_train_accuracy}) {
        row.push_back(difference_text(differences_of(*left, *right, accuracy)));
      }
      table.rows.push_back(std::move(row));
    }
  }
  table.notes.emplace_back(
      "In points of accuracy, over the n seeds that both have finished; the cells of a pair share "
      "seed, order, augmentation and initial convolutions. An accuracy that was never measured "
      "counts as 0%.");
  if (several) {
    table.notes.emplace_back("±: half the 95% interval of the mean difference (Student's t).");
  }
  if (single) {
    table.notes.emplace_back(
        "n = 1: one difference alone, which says nothing of the spread between seeds.");
  }
  return table;
}

}  // namespace phasor
