#include "report/results.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <system_error>

#include "config/json_text.h"
#include "phasor/error.h"
#include "sweep/results_folder.h"

namespace phasor {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The member at a path of names, or null.
const json& at(const json& object, std::initializer_list<const char*> names) {
  static const json nothing;
  const json* place = &object;
  for (const char* name : names) {
    const auto found = place->is_object() ? place->find(name) : place->end();
    if (!place->is_object() || found == place->end()) return nothing;
    place = &*found;
  }
  return *place;
}

std::string text_at(const json& object, std::initializer_list<const char*> names) {
  const json& value = at(object, names);
  return value.is_string() ? value.get<std::string>() : "";
}

std::optional<double> number_at(const json& object, std::initializer_list<const char*> names) {
  const json& value = at(object, names);
  if (!value.is_number()) return std::nullopt;
  return value.get<double>();
}

std::int64_t integer_at(const json& object, std::initializer_list<const char*> names) {
  const json& value = at(object, names);
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

/// Reads a whole number of `text` from `at` on and moves `at` behind it.
template <typename Number>
bool take_number(const std::string& text, std::size_t& at, Number& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + at, end, value);
  if (error != std::errc()) return false;
  at = static_cast<std::size_t>(stop - text.data());
  return true;
}

bool take_text(const std::string& text, std::size_t& at, std::string_view wanted) {
  if (text.compare(at, wanted.size(), wanted) != 0) return false;
  at += wanted.size();
  return true;
}

/// What a label `<norm>-lr<lr>-bs<batch size>-s<seed>[-<variant>]` says; false where it is none.
bool read_label(const std::string& label, CellRecord& cell) {
  for (std::size_t begin = label.find("-lr"); begin != std::string::npos;
       begin = label.find("-lr", begin + 1)) {
    std::size_t at = begin + 3;
    double lr = 0;
    std::int64_t batch_size = 0, seed = 0;
    if (!take_number(label, at, lr) || !take_text(label, at, "-bs") ||
        !take_number(label, at, batch_size) || !take_text(label, at, "-s") ||
        !take_number(label, at, seed) || (at < label.size() && label[at] != '-')) {
      continue;
    }
    cell.norm = label.substr(0, begin);
    cell.lr = lr;
    cell.batch_size = batch_size;
    cell.seed = seed;
    cell.variant = at < label.size() ? label.substr(at + 1) : "";
    return true;
  }
  return false;
}

std::string variant_of(const std::string& label) {
  CellRecord read;
  return read_label(label, read) ? read.variant : "";
}

std::string place_of(const json& nonfinite) {
  if (!nonfinite.is_object()) return "";
  std::string place = text_member(nonfinite, "kind") + " in " + text_member(nonfinite, "layer");
  return place + " (" + text_member(nonfinite, "tensor") + ", " + text_member(nonfinite, "pass") +
         ')';
}

/// Puts an empty object in the place of whatever else stands for `name`.
json& object_in(json& parent, const char* name) {
  json& member = parent[name];
  if (!member.is_object()) member = json::object();
  return member;
}

CellRecord to_record(json document, const std::string& id) {
  object_in(document, "data");
  object_in(document, "identity");
  object_in(object_in(object_in(document, "configuration"), "train"), "schedule");
  CellRecord cell;
  cell.id = id;
  cell.label = text_member(document, "label");
  cell.state = text_member(document, "state");
  cell.norm = text_at(document, {"configuration", "norm", "name"});
  cell.arch = text_at(document, {"configuration", "model", "arch"});
  cell.data_kind = text_at(document, {"data", "kind"});
  cell.synthetic = at(document, {"data", "synthetic"}) == true;
  cell.lr = number_at(document, {"configuration", "train", "lr"}).value_or(0);
  cell.batch_size = integer_at(document, {"configuration", "train", "batch_size"});
  cell.seed = integer_at(document, {"configuration", "train", "seed"});
  cell.epochs = integer_at(document, {"configuration", "train", "epochs"});
  cell.variant = variant_of(cell.label);
  cell.verdict = text_at(document, {"result", "verdict", "kind"});
  const json& step = at(document, {"result", "verdict", "step"});
  if (step.is_number_integer()) cell.verdict_step = step.get<std::int64_t>();
  cell.verdict_place = place_of(at(document, {"result", "verdict", "nonfinite"}));
  cell.train_accuracy = number_at(document, {"result", "train_accuracy"});
  cell.train_loss = number_at(document, {"result", "train_loss"});
  cell.best_train_accuracy = number_at(document, {"result", "best_train_accuracy"});
  cell.test_accuracy = number_at(document, {"result", "test_accuracy"});
  cell.test_loss = number_at(document, {"result", "test_loss"});
  cell.best_test_accuracy = number_at(document, {"result", "best_test_accuracy"});
  cell.parameters = integer_at(document, {"parameters", "total"});
  cell.norm_parameters = integer_at(document, {"parameters", "norm"});
  cell.training_flops = number_at(document, {"training_flops_per_image"}).value_or(0);
  cell.error = text_member(document, "error");
  cell.document = std::move(document);
  return cell;
}

CellRecord missing_cell(const std::string& id, const std::string& label, const char* state) {
  CellRecord cell;
  cell.id = id;
  constexpr std::size_t kHash = 9;  // "-1a2b3c4d"
  cell.label = label.empty() && id.size() > kHash ? id.substr(0, id.size() - kHash) : label;
  cell.state = state;
  read_label(cell.label, cell);
  return cell;
}

/// Unreadable is the same as damaged here: the report goes on without it.
std::optional<json> try_load(const fs::path& file) {
  try {
    return load_object(file);
  } catch (const Error&) {
    return std::nullopt;
  }
}

class Loader {
 public:
  explicit Loader(const fs::path& root) : folder_{root} { out_.folder = root; }

  Results load() {
    std::error_code ignored;
    if (!fs::is_directory(folder_.root, ignored)) {
      fail(ErrorKind::usage, "[report] expected a results folder; got ", folder_.root.string(),
           fs::exists(folder_.root, ignored) ? ", which is no folder" : ", which does not exist");
    }
    if (!fs::exists(folder_.sweep_file(), ignored) && !fs::is_directory(folder_.cells(), ignored)) {
      fail(ErrorKind::usage, "[report] ", folder_.root.string(),
           " holds neither sweep.json nor cells; is it a results folder?");
    }
    load_sweep();
    load_cells();
    return std::move(out_);
  }

 private:
  void load_sweep() {
    if (std::optional<json> sweep = try_load(folder_.sweep_file())) {
      out_.name = text_member(*sweep, "name");
      out_.description = text_member(*sweep, "description");
      out_.sweep = std::move(*sweep);
    } else {
      out_.problems.push_back({"", "sweep.json is missing or damaged"});
    }
    if (out_.name.empty()) out_.name = fs::weakly_canonical(folder_.root).filename().string();
  }

  void load_cells() {
    const json& planned = at(out_.sweep, {"cells"});
    if (planned.is_array()) {
      for (const json& cell : planned) add(text_member(cell, "id"), text_member(cell, "label"));
    }
    std::set<std::string> others;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_.cells(), error)) {
      const std::string id = entry.path().filename().string();
      if (entry.is_directory() && !seen_.contains(id)) others.insert(id);
    }
    for (const std::string& id : others) add(id, "");
  }

  void add(const std::string& id, const std::string& label) {
    if (id.empty() || !seen_.insert(id).second) return;
    std::error_code ignored;
    const bool there = fs::exists(folder_.cell_file(id), ignored);
    std::optional<json> document = try_load(folder_.cell_file(id));
    if (document && text_member(*document, "id") == id) {
      out_.cells.push_back(to_record(std::move(*document), id));
      CellRecord& cell = out_.cells.back();
      if (cell.done() && !fs::exists(folder_.curve_file(id), ignored)) {
        out_.problems.push_back({id, "curve.json is missing"});
      }
      if (!cell.done()) {
        const std::string error = cell.error.substr(0, cell.error.find('\n'));
        out_.problems.push_back({id, (cell.state.empty() ? "no state" : cell.state) +
                                         (error.empty() ? "" : ": " + error)});
      }
      return;
    }
    out_.cells.push_back(missing_cell(id, label, there ? "damaged" : "missing"));
    out_.problems.push_back({id, there ? "cell.json is damaged" : "not run yet"});
  }

  ResultsFolder folder_;
  Results out_;
  std::set<std::string> seen_;
};

}  // namespace

std::size_t Results::done() const {
  return static_cast<std::size_t>(
      std::count_if(cells.begin(), cells.end(), [](const CellRecord& c) { return c.done(); }));
}

bool Results::synthetic() const {
  return std::any_of(cells.begin(), cells.end(), [](const CellRecord& c) { return c.synthetic; });
}

std::vector<std::string> problem_lines(const Results& results) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_text;
  for (const Problem& problem : results.problems) {
    auto found = std::find_if(by_text.begin(), by_text.end(),
                              [&](const auto& entry) { return entry.first == problem.text; });
    if (found == by_text.end()) found = by_text.insert(found, {problem.text, {}});
    if (!problem.cell.empty()) found->second.push_back(problem.cell);
  }
  std::vector<std::string> lines;
  for (const auto& [text, cells] : by_text) {
    if (cells.size() <= 1) {
      lines.push_back(cells.empty() ? text : cells[0] + ": " + text);
      continue;
    }
    std::string line = text + " (" + std::to_string(cells.size()) + " cells): ";
    for (const std::string& cell : cells) line.append(cell == cells[0] ? "" : ", ").append(cell);
    lines.push_back(std::move(line));
  }
  return lines;
}

Results load_results(const fs::path& folder) { return Loader(folder).load(); }

}  // namespace phasor
