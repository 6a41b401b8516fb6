#include "report/results.h"

#include <algorithm>
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

/// What follows "<norm>-lr<lr>-bs<batch size>-s<seed>-" in a label.
std::string variant_of(const CellRecord& cell) {
  const std::string common = cell.norm + "-lr" + number_text(cell.lr) + "-bs" +
                             std::to_string(cell.batch_size) + "-s" + std::to_string(cell.seed) +
                             '-';
  return cell.label.starts_with(common) ? cell.label.substr(common.size()) : "";
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
  cell.variant = variant_of(cell);
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

CellRecord missing_cell(const std::string& id, const std::string& label) {
  CellRecord cell;
  cell.id = id;
  cell.label = label;
  cell.state = "missing";
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
      fail(ErrorKind::usage, "[report] expected a results folder; got ", folder_.root.string());
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
      out_.problems.push_back("sweep.json is missing or damaged");
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
        out_.problems.push_back(id + ": curve.json is missing");
      }
      if (!cell.done()) {
        out_.problems.push_back(id + ": " + (cell.state.empty() ? "no state" : cell.state) +
                                (cell.error.empty() ? "" : ": " + cell.error));
      }
      return;
    }
    out_.cells.push_back(missing_cell(id, label));
    out_.problems.push_back(id + (there ? ": cell.json is damaged" : ": not run yet"));
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

Results load_results(const fs::path& folder) { return Loader(folder).load(); }

}  // namespace phasor
