#include "report/groups.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "sweep/results_folder.h"

namespace phasor {
namespace {

using nlohmann::json;

/// The configuration without what tables and panels are sorted by, and without what a written table
/// derives from it.
json setup_of(const CellRecord& cell) {
  json setup = cell.document["configuration"];
  for (const char* name : {"seed", "lr", "batch_size", "lanes", "micro_batch"}) {
    setup["train"].erase(name);
  }
  setup["identity"] = cell.document["identity"];
  return setup;
}

/// The configurations behind one norm and variant of a label, in the order in which they are met.
using Setups = std::map<std::pair<std::string, std::string>, std::vector<json>>;

std::size_t setup_number(Setups& setups, const CellRecord& cell) {
  std::vector<json>& known = setups[{cell.norm, cell.variant}];
  const json setup = setup_of(cell);
  const auto found = std::find(known.begin(), known.end(), setup);
  const auto number = static_cast<std::size_t>(found - known.begin());
  if (found == known.end()) known.push_back(setup);
  return number;
}

std::string variant_text(const std::string& variant, std::size_t setup) {
  if (setup == 0) return variant;
  return variant + (variant.empty() ? "" : ", ") + "setup " + std::to_string(setup + 1);
}

/// Place of each value, as first met.
template <typename Value>
std::size_t place(std::vector<Value>& met, const Value& value) {
  const auto found = std::find(met.begin(), met.end(), value);
  const auto index = static_cast<std::size_t>(found - met.begin());
  if (found == met.end()) met.push_back(value);
  return index;
}

void sort_groups(std::vector<Group>& groups) {
  std::vector<std::string> variants, norms;
  std::map<const CellRecord*, std::pair<std::size_t, std::size_t>> places;
  for (const Group& group : groups) {
    places[group.cells[0]] = {place(variants, group.variant), place(norms, group.norm)};
  }
  const auto key = [&](const Group& group) {
    const auto [variant, norm] = places.at(group.cells[0]);
    return std::tuple(variant, norm, group.lr, group.batch_size);
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const Group& a, const Group& b) { return key(a) < key(b); });
}

}  // namespace

bool Group::known() const {
  return std::any_of(cells.begin(), cells.end(), [](const CellRecord* c) { return c->known(); });
}

std::vector<const CellRecord*> Group::done() const {
  std::vector<const CellRecord*> out;
  for (const CellRecord* cell : cells) {
    if (cell->done()) out.push_back(cell);
  }
  return out;
}

int Group::trained() const {
  int count = 0;
  for (const CellRecord* cell : done()) count += cell->verdict == "trained" ? 1 : 0;
  return count;
}

std::vector<Group> groups_of(const Results& results) {
  std::vector<Group> groups;
  Setups setups;
  std::map<std::tuple<std::string, double, std::int64_t, std::string>, std::size_t> places;
  const auto add = [&](const CellRecord& cell, const std::string& variant) {
    const auto [found, fresh] =
        places.emplace(std::tuple(cell.norm, cell.lr, cell.batch_size, variant), groups.size());
    if (fresh) groups.push_back({cell.norm, cell.lr, cell.batch_size, variant, {}});
    groups[found->second].cells.push_back(&cell);
  };
  for (const CellRecord& cell : results.cells) {
    if (cell.norm.empty()) continue;
    add(cell, cell.known() ? variant_text(cell.variant, setup_number(setups, cell)) : cell.variant);
  }
  sort_groups(groups);
  for (Group& group : groups) {
    std::stable_sort(group.cells.begin(), group.cells.end(),
                     [](const auto* a, const auto* b) { return a->seed < b->seed; });
  }
  return groups;
}

std::vector<std::string> setup_lines(const Results& results) {
  Setups setups;
  for (const CellRecord& cell : results.cells) {
    if (cell.known() && !cell.norm.empty()) setup_number(setups, cell);
  }
  std::vector<std::string> lines;
  for (const auto& [key, known] : setups) {
    for (std::size_t i = 1; i < known.size(); ++i) {
      std::string line = key.first + ", " + variant_text(key.second, i) + " differs: ";
      const std::vector<std::string> fields = differences(known[0], known[i]);
      for (std::size_t f = 0; f < fields.size(); ++f) line.append(f > 0 ? "; " : "") += fields[f];
      lines.push_back(line);
    }
  }
  return lines;
}

std::string verdict_text(const CellRecord& cell) {
  if (cell.state == "missing") return "not run";
  if (!cell.done()) return cell.state.empty() ? "damaged" : cell.state;
  std::string text = cell.verdict.empty() ? "no verdict" : cell.verdict;
  if (cell.verdict_step) text += " at step " + std::to_string(*cell.verdict_step);
  return text;
}

}  // namespace phasor
