#include "report/tables.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "config/json_text.h"
#include "report/comparisons.h"
#include "report/groups.h"
#include "report/markdown.h"
#include "report/statistics.h"
#include "report/summary.h"

namespace phasor {
namespace {

constexpr double kStandardRate = 0.1;
constexpr double kExtremeRate = 0.3;

/// "61.3%", or "61.3 ± 0.4%" over several seeds (standard deviation).
std::string percent(const Group& group, std::optional<double> CellRecord::*member) {
  std::vector<double> values;
  for (const CellRecord* cell : group.done()) values.push_back(percent_of(*cell, member));
  if (values.empty()) return "–";
  if (group.cells.size() == 1 && !(group.first().*member)) return "none";
  const Differences summary = summarise(values);
  std::string text = fixed_text(summary.mean, 1);
  if (summary.deviation) text += " ± " + fixed_text(*summary.deviation, 1);
  return text + "%";
}

std::string verdicts(const Group& group) {
  if (group.cells.size() == 1) return verdict_text(group.first());
  std::map<std::string, int> counts;
  for (const CellRecord* cell : group.cells) {
    ++counts[cell->done() ? cell->verdict : verdict_text(*cell)];
  }
  std::string text;
  for (const auto& [name, n] : counts) {
    if (!text.empty()) text += ", ";
    text += std::to_string(n) + " " + name;
  }
  return text;
}

Table regime(const std::vector<Group>& groups, const std::string& title, const std::string& name,
             const std::function<bool(double)>& belongs) {
  const bool variants = std::any_of(groups.begin(), groups.end(),
                                    [](const Group& group) { return !group.variant.empty(); });
  Table table{.title = title, .heading = {"norm", "lr", "batch size"}, .name = name};
  if (variants) table.heading.push_back("variant");
  table.heading.insert(table.heading.end(), {"survived", "verdict"});
  table.words = table.heading.size();
  for (const char* column : {"train acc. last", "train best", "test acc. last", "test best"}) {
    table.heading.emplace_back(column);
  }
  std::size_t hidden = 0;
  for (const Group& group : groups) {
    if (!belongs(group.lr)) continue;
    if (!group.known()) {
      ++hidden;
      continue;
    }
    std::vector<std::string> row{group.norm, number_text(group.lr),
                                 std::to_string(group.batch_size)};
    if (variants) row.push_back(group.variant);
    row.insert(row.end(),
               {std::to_string(group.trained()) + "/" + std::to_string(group.done().size()),
                verdicts(group), percent(group, &CellRecord::train_accuracy),
                percent(group, &CellRecord::best_train_accuracy),
                percent(group, &CellRecord::test_accuracy),
                percent(group, &CellRecord::best_test_accuracy)});
    table.rows.push_back(std::move(row));
  }
  if (hidden > 0) {
    table.notes.push_back("Not run yet, and so without a row: " + std::to_string(hidden) + " of " +
                          std::to_string(hidden + table.rows.size()) + " configurations.");
  }
  return table;
}

/// "31.2% (3 of 3)": the mean of the last test accuracies at the standard learning rate.
std::string standard_accuracy(const std::vector<Group>& groups, const CellRecord& like) {
  double sum = 0;
  int done = 0, all = 0;
  for (const Group& group : groups) {
    if (group.norm != like.norm || group.lr != kStandardRate) continue;
    for (const CellRecord* cell : group.cells) {
      const bool same = !cell->known() ||
                        (cell->arch == like.arch && cell->norm_parameters == like.norm_parameters &&
                         cell->variant == like.variant);
      if (!same) continue;
      ++all;
      if (!cell->done()) continue;
      ++done;
      sum += percent_of(*cell, &CellRecord::test_accuracy);
    }
  }
  if (done == 0) return "–";
  return fixed_text(sum / done, 1) + "% (" + std::to_string(done) + " of " + std::to_string(all) +
         ")";
}

Table parameter_table(const Results& results, const std::vector<Group>& groups) {
  Table table{
      .title = "Parameter efficiency",
      .notes = {"Accuracy: mean of the last test accuracies at lr = 0.1 over batch sizes and "
                "seeds, with the number of finished cells in it."},
      .heading = {"network", "norm", "variant", "parameters", "of norms", "of the rest",
                  "norms' share", "training GFLOP per image", "test acc. at lr 0.1"},
      .words = 3,
      .name = "parameters"};
  std::set<std::vector<std::string>> seen;
  bool variants = false;
  for (const CellRecord& cell : results.cells) {
    if (cell.parameters == 0) continue;
    std::vector<std::string> row{cell.arch,
                                 cell.norm,
                                 cell.variant,
                                 std::to_string(cell.parameters),
                                 std::to_string(cell.norm_parameters),
                                 std::to_string(cell.parameters - cell.norm_parameters),
                                 fixed_text(100.0 * static_cast<double>(cell.norm_parameters) /
                                                static_cast<double>(cell.parameters),
                                            2) +
                                     "%",
                                 fixed_text(cell.training_flops / 1e9, 4)};
    if (!seen.insert(row).second) continue;
    variants = variants || !cell.variant.empty();
    row.push_back(standard_accuracy(groups, cell));
    table.rows.push_back(std::move(row));
  }
  if (variants) return table;
  table.words = 2;
  table.heading.erase(table.heading.begin() + 2);
  for (auto& row : table.rows) row.erase(row.begin() + 2);
  return table;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted.append(1, '"');
}

std::string bullets(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += "- " + line + '\n';
  return out;
}

/// Only what a label may hold: letters, digits, '-' and '.'.
std::string label_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool safe = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    out += safe || c == '.' ? c : '-';
  }
  return out;
}

}  // namespace

std::vector<Table> result_tables(const Results& results) {
  const std::vector<Group> groups = groups_of(results);
  std::vector<Table> tables{
      regime(groups, "Standard regime: lr = 0.1", "standard",
             [](double lr) { return lr == kStandardRate; }),
      regime(groups, "Extreme regime: lr ≥ 0.3", "extreme",
             [](double lr) { return lr >= kExtremeRate; }),
      regime(groups, "Other learning rates", "other",
             [](double lr) { return lr != kStandardRate && lr < kExtremeRate; }),
      survival_table(groups),
      difference_table(groups),
      parameter_table(results, groups)};
  std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
  return tables;
}

Table cell_table(const Results& results) {
  Table table{.title = "Cells",
              .heading = {"cell", "verdict", "remark", "train acc.", "test acc."},
              .words = 3,
              .name = "cells"};
  const auto shown = [](const std::optional<double>& value) {
    return value ? fixed_text(100 * *value, 1) + "%" : "–";
  };
  for (const CellRecord& cell : results.cells) {
    if (!cell.known()) continue;
    const std::string remark = cell.error.empty() ? cell.verdict_place : cell.error;
    table.rows.push_back({cell.id, verdict_text(cell), remark.substr(0, remark.find('\n')),
                          shown(cell.train_accuracy), shown(cell.test_accuracy)});
  }
  return table;
}

std::string tables_markdown(const Results& results) {
  std::string out = "# " + results.name + "\n\n";
  if (!results.description.empty()) out += results.description + "\n\n";
  out += progress_line(results) + "\n\n";
  for (const std::string& line : data_lines(results)) out += "- Data: " + line + '\n';
  if (results.synthetic()) {
    const std::string note = kSyntheticNote;
    out += "- **" + note.substr(0, note.find(':')) + "**" + note.substr(note.find(':')) + '\n';
  }
  out += bullets(assumption_lines(results));
  for (const std::string& line : verdict_lines(results)) out += "- Verdicts: " + line + '\n';
  out +=
      "- Survived k/n: k of n finished seeds with the verdict `trained`. Means are over all "
      "finished "
      "seeds, ± is the standard deviation between them; a seed that ended without an evaluation "
      "counts as 0%. Training accuracy is the mean over an epoch.\n";
  for (const Table& table : result_tables(results)) out += '\n' + table_markdown(table);
  const Table cells = cell_table(results);
  if (!cells.rows.empty()) out += '\n' + table_markdown(cells);
  if (!results.problems.empty()) out += "\n## Missing\n\n" + bullets(problem_lines(results));
  return out;
}

std::string tables_csv(const Results& results) {
  std::string out =
      "id,state,norm,arch,data,synthetic,lr,batch_size,seed,epochs,variant,verdict,verdict_step,"
      "train_accuracy,best_train_accuracy,train_loss,test_accuracy,best_test_accuracy,test_loss,"
      "parameters,norm_parameters\n";
  const auto number = [](const std::optional<double>& v) { return v ? number_text(*v) : ""; };
  for (const CellRecord& c : results.cells) {
    const bool labelled = !c.norm.empty();
    const auto whole = [&](std::int64_t v) { return c.known() ? std::to_string(v) : ""; };
    const std::vector<std::string> fields{c.id,
                                          c.state,
                                          c.norm,
                                          c.arch,
                                          c.data_kind,
                                          c.known() ? (c.synthetic ? "true" : "false") : "",
                                          labelled ? number_text(c.lr) : "",
                                          labelled ? std::to_string(c.batch_size) : "",
                                          labelled ? std::to_string(c.seed) : "",
                                          whole(c.epochs),
                                          c.variant,
                                          c.verdict,
                                          c.verdict_step ? std::to_string(*c.verdict_step) : "",
                                          number(c.train_accuracy),
                                          number(c.best_train_accuracy),
                                          number(c.train_loss),
                                          number(c.test_accuracy),
                                          number(c.best_test_accuracy),
                                          number(c.test_loss),
                                          whole(c.parameters),
                                          whole(c.norm_parameters)};
    for (const std::string& field : fields) out.append(csv_field(field)).append(",");
    out.back() = '\n';
  }
  return out;
}

std::string tables_latex(const Results& results) {
  std::string out = "% Tables of the sweep " + latex_text(results.name) +
                    ", made by phasor-train report. Needs \\usepackage{booktabs} and "
                    "\\usepackage[T1]{fontenc}.\n";
  const auto comment = [&](const std::string& line) { out += "% " + latex_text(line) + '\n'; };
  comment(progress_line(results));
  for (const std::string& line : data_lines(results)) comment("Data: " + line);
  if (results.synthetic()) comment(kSyntheticNote);
  for (const std::string& line : assumption_lines(results)) comment(line);
  for (const std::string& line : verdict_lines(results)) comment("Verdicts: " + line);
  for (const std::string& line : problem_lines(results)) comment("Missing: " + line);
  const std::string seeds = assumption_lines(results).front();
  for (Table table : result_tables(results)) {
    table.notes.push_back(seeds);
    if (results.synthetic()) table.notes.emplace_back(kSyntheticNote);
    out += '\n' + table_latex(table, label_text(results.name));
  }
  return out;
}

}  // namespace phasor
