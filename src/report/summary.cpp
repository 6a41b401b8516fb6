#include "report/summary.h"

#include <algorithm>
#include <map>
#include <set>

#include "config/json_text.h"
#include "report/groups.h"
#include "report/markdown.h"
#include "sweep/results_folder.h"
#include "train/verdict.h"

namespace phasor {
namespace {

using nlohmann::json;

/// "5", or "5 to 20".
std::string range_text(const std::set<std::int64_t>& values) {
  if (values.empty()) return "unknown";
  const std::string least = std::to_string(*values.begin());
  return values.size() == 1 ? least : least + " to " + std::to_string(*values.rbegin());
}

/// The member as text, "?" where it is absent.
std::string value_text(const json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || found == object.end()) return "?";
  return found->is_string() ? found->get<std::string>() : write_json(*found);
}

const json& member(const json& object, const char* name) {
  static const json nothing = json::object();
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() && found->is_object() ? *found : nothing;
}

bool is_set(const json& object, const char* name) {
  return object.contains(name) && !object[name].is_null();
}

/// What `describe` says of every cell with a readable file, each once, with the number of cells.
template <typename Describe>
std::vector<std::pair<std::string, int>> each_once(const Results& results, Describe describe) {
  std::vector<std::pair<std::string, int>> lines;
  for (const CellRecord& cell : results.cells) {
    if (!cell.known()) continue;
    const std::string line = describe(cell);
    const auto found = std::find_if(lines.begin(), lines.end(),
                                    [&](const auto& entry) { return entry.first == line; });
    if (line.empty()) continue;
    if (found == lines.end())
      lines.emplace_back(line, 1);
    else
      ++found->second;
  }
  return lines;
}

/// The lines; where there are several, each with its number of cells.
std::vector<std::string> counted(const std::vector<std::pair<std::string, int>>& lines) {
  std::vector<std::string> out;
  for (const auto& [line, cells] : lines) {
    out.push_back(lines.size() == 1 ? line + "."
                                    : line + " (" + std::to_string(cells) +
                                          (cells == 1 ? " cell)." : " cells)."));
  }
  return out;
}

std::string model_text(const CellRecord& cell) {
  const json& model = member(cell.document["configuration"], "model");
  const json& norm = member(cell.document["configuration"], "norm");
  std::string text = cell.arch.empty() ? "unknown network" : cell.arch;
  if (model.contains("width") && model["width"] != 1)
    text += ", width " + value_text(model, "width");
  return text + ", " + value_text(model, "shortcut") + " shortcuts, convolutions initialised by " +
         value_text(model, "init") + "; norms over axes " + value_text(norm, "axes") + ", eps " +
         value_text(norm, "eps");
}

std::string optimiser_text(const CellRecord& cell) {
  const json& train = cell.document["configuration"]["train"];
  std::string text = "SGD, momentum " + value_text(train, "momentum") + ", weight decay " +
                     value_text(train, "weight_decay") + ", schedule " +
                     value_text(train["schedule"], "kind") + ", warm-up " +
                     value_text(train, "warmup_epochs") + " epochs";
  if (is_set(train, "clip_norm"))
    text += ", gradients clipped at " + value_text(train, "clip_norm");
  if (is_set(train, "max_steps")) text += ", at most " + value_text(train, "max_steps") + " steps";
  if (is_set(train, "init_from")) text += ", started from given weights";
  return text + ", " + value_text(train, "dtype");
}

std::string augmentation_text(const CellRecord& cell) {
  const json& data = member(cell.document["configuration"], "data");
  std::string text =
      "Augmentation " + value_text(data, "augment") + ", order " + value_text(data, "order");
  for (const char* limit : {"train_limit", "test_limit"}) {
    if (is_set(data, limit)) text += std::string(", ") + limit + " " + value_text(data, limit);
  }
  return text;
}

std::string rules_text(const CellRecord& cell) {
  const json& rules = member(cell.document["configuration"], "verdict");
  if (rules.empty()) return "";
  std::string text =
      "nonfinite: a loss or gradient that is no finite number; diverged: loss above " +
      value_text(rules, "diverged_loss") + " in " + value_text(rules, "diverged_steps") +
      " consecutive steps after " + value_text(rules, "grace_epochs") +
      " epoch(s); trained: last test accuracy above ";
  const json& data = cell.document["data"];
  const auto whole = [&](const char* name) {
    return data.contains(name) && data[name].is_number_integer() ? data[name].get<Index>() : 0;
  };
  const Index classes = whole("classes"), images = whole("test_images");
  if (classes > 0 && images > 0 && rules.contains("trained_sigma") &&
      rules["trained_sigma"].is_number()) {
    VerdictConfig config;
    config.trained_sigma = rules["trained_sigma"].get<double>();
    text += fixed_text(100 * trained_threshold(config, classes, images), 2) + "% (chance, " +
            fixed_text(100.0 / static_cast<double>(classes), 2) + "%, and ";
  } else {
    text += "chance (and ";
  }
  return text + value_text(rules, "trained_sigma") +
         " standard deviations); stalled: the rest. The first that applies counts";
}

std::string machine_text(const json& environment) {
  if (environment.empty()) return "";
  return value_text(environment, "processor") + ", " + value_text(environment, "cores") +
         " cores, kernels " + value_text(environment, "kernels") + "; phasor " +
         value_text(environment, "version") + " (commit " + value_text(environment, "commit") +
         "), " + value_text(environment, "compiler") + ", " + value_text(environment, "build_type");
}

/// A word of a shell command.
std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '-' || c == '.';
  });
  return plain ? text : "sweep";
}

}  // namespace

std::vector<std::string> data_lines(const Results& results) {
  return counted(each_once(results, [](const CellRecord& cell) {
    return text_member(cell.document["data"], "description");
  }));
}

std::vector<std::string> assumption_lines(const Results& results) {
  std::set<std::int64_t> epochs, seeds;
  for (const CellRecord& cell : results.cells) {
    if (!cell.known()) continue;
    epochs.insert(cell.epochs);
    seeds.insert(cell.seed);
  }
  std::vector<std::string> lines{
      "Epochs: " + range_text(epochs) + "; seeds: n = " + std::to_string(seeds.size()) +
      (seeds.size() == 1 ? " (a single seed: no spread is known)" : "") + "."};
  for (const auto& describe : {model_text, optimiser_text, augmentation_text}) {
    for (const std::string& line : counted(each_once(results, describe))) lines.push_back(line);
  }
  lines.push_back("Seeds, order, augmentation and initial convolutions are paired across norms.");
  for (const std::string& line : setup_lines(results)) lines.push_back(line + ".");
  return lines;
}

std::vector<std::string> verdict_lines(const Results& results) {
  return counted(each_once(results, rules_text));
}

std::vector<std::string> machine_lines(const Results& results) {
  std::vector<std::string> lines = counted(each_once(results, [](const CellRecord& cell) {
    return machine_text(member(cell.document, "environment"));
  }));
  if (lines.empty()) {
    const std::string text = machine_text(member(results.sweep, "environment"));
    lines.push_back(text.empty() ? "Not recorded." : text + ".");
  }
  return lines;
}

std::string progress_line(const Results& results) {
  const auto verdict = [&](const char* kind) {
    return std::count_if(results.cells.begin(), results.cells.end(), [&](const CellRecord& cell) {
      return cell.done() && cell.verdict == kind;
    });
  };
  std::string text = std::to_string(results.done()) + " of " +
                     std::to_string(results.cells.size()) + " cells have a result";
  if (results.done() == 0) return text + ".";
  const char* separator = ": ";
  for (const char* kind : {"trained", "stalled", "diverged", "nonfinite"}) {
    if (verdict(kind) == 0) continue;
    text += separator + std::to_string(verdict(kind)) + " " + kind;
    separator = ", ";
  }
  return text + ".";
}

std::string configuration_text(const Results& results) {
  if (!results.sweep.is_object() || !results.sweep.contains("configuration")) return "";
  json configuration = results.sweep["configuration"];
  if (!configuration.is_object()) return "";
  configuration.erase("run");
  if (configuration.contains("data") && configuration["data"].is_object()) {
    configuration["data"].erase("path");
  }
  return write_json(configuration, 2) + "\n";
}

std::vector<std::string> command_lines(const Results& results) {
  const std::string name = shell_word(results.name);
  const bool real =
      std::any_of(results.cells.begin(), results.cells.end(),
                  [](const CellRecord& c) { return c.known() && c.data_kind != "synthetic"; });
  return {"phasor-train --config " + name + ".json" +
              (real ? " --data FOLDER_WITH_TRAIN_BIN_AND_TEST_BIN" : "") + " --out " + name,
          "phasor-train report " + name};
}

}  // namespace phasor
