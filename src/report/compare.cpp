#include "report/compare.h"

#include <charconv>
#include <cmath>
#include <map>
#include <system_error>

#include "core/file.h"
#include "report/markdown.h"
#include "sweep/results_folder.h"

namespace phasor {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string shown(const CellRecord* cell) {
  if (cell == nullptr) return "absent";
  return cell->done() ? cell->verdict : cell->state;
}

std::string accuracy(const CellRecord* cell) {
  return cell != nullptr && cell->test_accuracy ? fixed_text(100 * *cell->test_accuracy, 2) + "%"
                                                : "–";
}

std::optional<double> difference(const CellPair& pair) {
  if (pair.a == nullptr || pair.b == nullptr || !pair.a->done() || !pair.b->done()) {
    return std::nullopt;
  }
  if (!pair.a->test_accuracy || !pair.b->test_accuracy) return std::nullopt;
  return 100 * (*pair.b->test_accuracy - *pair.a->test_accuracy);
}

/// Lines for a file that both must have with the same bytes; with `optional` it may be absent in
/// one.
void compare_file(const CellPair& pair, const fs::path& a, const fs::path& b, bool optional,
                  std::vector<std::string>& lines) {
  std::error_code ignored;
  const bool in_a = fs::exists(a, ignored), in_b = fs::exists(b, ignored);
  const std::string name = pair.label + ": " + a.filename().string();
  if (!in_a || !in_b) {
    if (in_a != in_b && !optional) lines.push_back(name + " is in one folder only");
    return;
  }
  if (read_file(a) != read_file(b)) lines.push_back(name + " differs");
}

json without_environment(json document) {
  if (document.is_object()) document.erase("environment");  // null: a cell that has not been run
  return document;
}

}  // namespace

std::vector<CellPair> pair_cells(const Results& a, const Results& b) {
  std::vector<CellPair> pairs;
  std::map<std::string, std::size_t> places;
  for (const CellRecord& cell : a.cells) {
    const std::string label = cell.label.empty() ? cell.id : cell.label;
    places.emplace(label, pairs.size());
    pairs.push_back({label, &cell, nullptr});
  }
  for (const CellRecord& cell : b.cells) {
    const std::string label = cell.label.empty() ? cell.id : cell.label;
    const auto found = places.find(label);
    if (found != places.end() && pairs[found->second].b == nullptr) {
      pairs[found->second].b = &cell;
    } else {
      pairs.push_back({label, nullptr, &cell});
    }
  }
  return pairs;
}

std::string comparison_markdown(const Results& a, const Results& b) {
  MarkdownRows rows{{"cell", "A", "B", "test acc. A", "test acc. B", "B - A"}};
  double sum = 0, squares = 0;
  int count = 0;
  for (const CellPair& pair : pair_cells(a, b)) {
    const std::optional<double> change = difference(pair);
    if (change) {
      sum += *change;
      squares += *change * *change;
      ++count;
    }
    rows.push_back({pair.label, shown(pair.a), shown(pair.b), accuracy(pair.a), accuracy(pair.b),
                    change ? fixed_text(*change, 2) : "–"});
  }
  std::string out = "A: " + a.folder.string() + "\nB: " + b.folder.string() + "\n\n" +
                    markdown_table(rows) + "\n";
  if (a.synthetic() || b.synthetic()) out += "Synthetic data: made images, not CIFAR.\n";
  if (count == 0) return out + "No cell has a test accuracy in both.\n";
  const double mean = sum / count;
  out += "Paired difference B - A of the test accuracy over " + std::to_string(count) +
         (count == 1 ? " cell: " : " cells: ") + fixed_text(mean, 3);
  if (count > 1) {
    const double variance = std::max(0.0, (squares - count * mean * mean) / (count - 1));
    out += " points, standard error " + fixed_text(std::sqrt(variance / count), 3);
  }
  return out + " points.\n";
}

std::vector<std::string> result_differences(const Results& a, const Results& b) {
  std::vector<std::string> lines;
  const ResultsFolder in_a{a.folder}, in_b{b.folder};
  for (const CellPair& pair : pair_cells(a, b)) {
    if (pair.a == nullptr || pair.b == nullptr) {
      lines.push_back(pair.label + ": only in " + (pair.a != nullptr ? "A" : "B"));
      continue;
    }
    const json left = without_environment(pair.a->document);
    const json right = without_environment(pair.b->document);
    if (left != right) {
      for (const std::string& line : differences(left, right)) {
        lines.push_back(pair.label + ": " + line);
      }
    }
    compare_file(pair, in_a.curve_file(pair.a->id), in_b.curve_file(pair.b->id), false, lines);
    for (const char* name : {"curve.jsonl", "last.safetensors"}) {
      compare_file(pair, in_a.cell(pair.a->id) / name, in_b.cell(pair.b->id) / name, true, lines);
    }
  }
  return lines;
}

}  // namespace phasor
