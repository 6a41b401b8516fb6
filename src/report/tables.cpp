#include "report/tables.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "config/json_text.h"
#include "core/file.h"
#include "report/markdown.h"
#include "sweep/results_folder.h"

namespace phasor {
namespace {

using nlohmann::json;

constexpr double kStandardRate = 0.1;
constexpr double kExtremeRate = 0.3;

/// Two rows of a grid that differ in the seed alone are one configuration.
struct Group {
  const CellRecord* first;
  std::vector<const CellRecord*> cells;
};

std::vector<Group> groups_of(const Results& results) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> places;
  for (const CellRecord& cell : results.cells) {
    if (!cell.document.is_object()) continue;
    json rest = cell.document["configuration"];
    rest["train"].erase("seed");
    rest["identity"] = cell.document["identity"];
    const auto [found, fresh] = places.emplace(rest.dump(), groups.size());
    if (fresh) groups.push_back({&cell, {}});
    groups[found->second].cells.push_back(&cell);
  }
  return groups;
}

/// "61.3%", or "61.3 ± 0.4%" over several seeds. A cell that ended without this number counts as 0:
/// its network gives no answer.
std::string percent(const Group& group, std::optional<double> CellRecord::*member) {
  std::vector<double> values;
  for (const CellRecord* cell : group.cells) {
    if (cell->done()) values.push_back(100 * (cell->*member).value_or(0));
  }
  if (values.empty()) return "–";
  if (group.cells.size() == 1 && !(group.first->*member)) return "none";
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  if (values.size() == 1) return fixed_text(mean, 1) + "%";
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return fixed_text(mean, 1) + " ± " +
         fixed_text(std::sqrt(squares / static_cast<double>(values.size() - 1)), 1) + "%";
}

std::string survival(const Group& group) {
  const auto count = [&](auto wanted) {
    return std::to_string(std::count_if(group.cells.begin(), group.cells.end(), wanted));
  };
  return count([](const CellRecord* c) { return c->verdict == "trained"; }) + "/" +
         count([](const CellRecord* c) { return c->done(); });
}

std::string verdict_text(const CellRecord& cell) {
  if (!cell.done()) return cell.state.empty() ? "damaged" : cell.state;
  std::string text = cell.verdict;
  if (cell.verdict_step) text += " at step " + std::to_string(*cell.verdict_step);
  return text;
}

std::string verdicts(const Group& group) {
  if (group.cells.size() == 1) return verdict_text(*group.first);
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

std::string regime(const std::vector<Group>& groups, const std::string& title,
                   const std::function<bool(double)>& belongs) {
  bool variants = false;
  for (const Group& group : groups) variants = variants || !group.first->variant.empty();
  MarkdownRows rows{{"norm", "lr", "batch size"}};
  if (variants) rows[0].push_back("variant");
  for (const char* name :
       {"survived", "verdict", "train acc. last", "best", "test acc. last", "best"}) {
    rows[0].push_back(name);
  }
  for (const Group& group : groups) {
    const CellRecord& cell = *group.first;
    if (!belongs(cell.lr)) continue;
    rows.push_back({cell.norm, number_text(cell.lr), std::to_string(cell.batch_size)});
    auto& row = rows.back();
    if (variants) row.push_back(cell.variant);
    row.insert(row.end(),
               {survival(group), verdicts(group), percent(group, &CellRecord::train_accuracy),
                percent(group, &CellRecord::best_train_accuracy),
                percent(group, &CellRecord::test_accuracy),
                percent(group, &CellRecord::best_test_accuracy)});
  }
  return rows.size() == 1 ? "" : "\n## " + title + "\n\n" + markdown_table(rows);
}

std::string parameter_table(const Results& results) {
  MarkdownRows rows{
      {"network", "norm", "parameters", "of norms", "of the rest", "training GFLOP per image"}};
  std::set<std::vector<std::string>> seen;
  for (const CellRecord& cell : results.cells) {
    if (cell.parameters == 0) continue;
    std::vector<std::string> row{cell.arch,
                                 cell.norm,
                                 std::to_string(cell.parameters),
                                 std::to_string(cell.norm_parameters),
                                 std::to_string(cell.parameters - cell.norm_parameters),
                                 fixed_text(cell.training_flops / 1e9, 4)};
    if (seen.insert(row).second) rows.push_back(std::move(row));
  }
  return rows.size() == 1 ? "" : "\n## Parameters\n\n" + markdown_table(rows);
}

/// The first line of a message, fit for a Markdown table.
std::string one_line(const std::string& text) {
  std::string out;
  for (const char c : text.substr(0, text.find('\n'))) out += c == '|' ? '/' : c;
  return out;
}

std::string cell_table(const Results& results) {
  MarkdownRows rows{{"cell", "verdict", "train acc.", "test acc.", "remark"}};
  const auto shown = [](const std::optional<double>& value) {
    return value ? fixed_text(100 * *value, 1) + "%" : "–";
  };
  for (const CellRecord& cell : results.cells) {
    rows.push_back({cell.id, verdict_text(cell), shown(cell.train_accuracy),
                    shown(cell.test_accuracy),
                    one_line(cell.error.empty() ? cell.verdict_place : cell.error)});
  }
  return rows.size() == 1 ? "" : "\n## Cells\n\n" + markdown_table(rows);
}

/// "5", or "5 to 20".
std::string range_text(const std::set<std::int64_t>& values) {
  if (values.empty()) return "?";
  const std::string least = std::to_string(*values.begin());
  return values.size() == 1 ? least : least + " to " + std::to_string(*values.rbegin());
}

std::string joined(const std::set<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text.append(text.empty() ? "" : ", ").append(value);
  return text;
}

std::string data_line(const Results& results) {
  std::set<std::string> lines;
  for (const CellRecord& cell : results.cells) {
    if (!cell.document.is_object()) continue;
    const std::string description = text_member(cell.document["data"], "description");
    if (!description.empty()) lines.insert(description);
  }
  return joined(lines);
}

std::string assumptions(const Results& results) {
  std::set<std::int64_t> epochs, seeds;
  std::set<std::string> settings;
  for (const CellRecord& cell : results.cells) {
    if (!cell.document.is_object()) continue;
    epochs.insert(cell.epochs);
    seeds.insert(cell.seed);
    const json& train = cell.document["configuration"]["train"];
    const auto number = [&](const char* name) {
      return train.contains(name) ? write_json(train[name]) : std::string("?");
    };
    const bool limited = train.contains("max_steps") && train["max_steps"].is_number();
    const std::string limit =
        limited ? ", at most " + number("max_steps") + " steps" : std::string();
    settings.insert(
        "SGD, momentum " + number("momentum") + ", weight decay " + number("weight_decay") +
        ", schedule " + text_member(train["schedule"], "kind") + ", warm-up " +
        number("warmup_epochs") + " epochs" + limit + ", " + text_member(train, "dtype"));
  }
  std::string out = "- Data: " + data_line(results) + ".\n";
  if (results.synthetic()) {
    out +=
        "- **Synthetic data**: made images, not CIFAR; accuracies say nothing about real ones.\n";
  }
  out += "- Epochs: " + range_text(epochs) + "; seeds: n = " + std::to_string(seeds.size()) +
         (seeds.size() == 1 ? " (a single seed: no spread is known)" : "") + ".\n";
  for (const std::string& line : settings) out += "- " + line + ".\n";
  out +=
      "- Seeds, order, augmentation and initial convolutions are paired across norms.\n"
      "- Survived k/n: k of n finished seeds with the verdict `trained`. Means are over all "
      "finished seeds; one that ended without an evaluation counts as 0%. Training accuracy is the "
      "mean over an epoch.\n";
  return out;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted.append(1, '"');
}

}  // namespace

std::string tables_markdown(const Results& results) {
  const std::vector<Group> groups = groups_of(results);
  std::string out = "# " + results.name + "\n\n";
  if (!results.description.empty()) out += results.description + "\n\n";
  out += std::to_string(results.done()) + " of " + std::to_string(results.cells.size()) +
         " cells have a result.\n\n" + assumptions(results);
  out += regime(groups, "Standard regime: lr = 0.1", [](double lr) { return lr == kStandardRate; });
  out += regime(groups, "Extreme regime: lr >= 0.3", [](double lr) { return lr >= kExtremeRate; });
  out += regime(groups, "Other learning rates",
                [](double lr) { return lr != kStandardRate && lr < kExtremeRate; });
  out += parameter_table(results) + cell_table(results);
  if (!results.problems.empty()) out += "\n## Missing\n\n";
  for (const std::string& problem : results.problems) {
    out += "- " + problem.substr(0, problem.find('\n')) + '\n';
  }
  return out;
}

std::string tables_csv(const Results& results) {
  std::string out =
      "id,state,norm,arch,data,synthetic,lr,batch_size,seed,epochs,variant,verdict,verdict_step,"
      "train_accuracy,best_train_accuracy,train_loss,test_accuracy,best_test_accuracy,test_loss,"
      "parameters,norm_parameters\n";
  const auto number = [](const std::optional<double>& v) { return v ? number_text(*v) : ""; };
  for (const CellRecord& c : results.cells) {
    const bool known = c.document.is_object();
    const auto whole = [&](std::int64_t v) { return known ? std::to_string(v) : ""; };
    const std::vector<std::string> fields{c.id,
                                          c.state,
                                          c.norm,
                                          c.arch,
                                          c.data_kind,
                                          known ? (c.synthetic ? "true" : "false") : "",
                                          known ? number_text(c.lr) : "",
                                          whole(c.batch_size),
                                          whole(c.seed),
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

void write_report(const Results& results) {
  const std::filesystem::path folder = ResultsFolder{results.folder}.report();
  make_folders(folder);
  write_file_atomic(folder / "tables.md", tables_markdown(results));
  write_file_atomic(folder / "tables.csv", tables_csv(results));
}

}  // namespace phasor
