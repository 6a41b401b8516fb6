// What a results folder holds, as plain values: the model behind tables and pages. Reading
// tolerates partial, mixed and damaged folders and says what is missing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace phasor {

/// One cell as its cell.json tells. Numbers that the file lacks or gives as null are empty. Of a
/// cell without a readable file, what its label says: norm, learning rate, batch size, seed,
/// variant.
struct CellRecord {
  std::string id, label, state;  ///< state of cell.json, "missing" or "damaged"
  std::string norm, arch, data_kind;
  double lr = 0;
  std::int64_t batch_size = 0, seed = 0, epochs = 0;
  std::string variant;  ///< what else the sweep varied: "gamma_init=0.7979"; often empty
  std::string verdict;  ///< nonfinite, diverged, trained or stalled; empty without a result
  std::optional<std::int64_t> verdict_step;
  std::string verdict_place;  ///< nonfinite: "nan in layer1.0.norm1 (conv2d, forward)"
  std::optional<double> train_accuracy, train_loss, best_train_accuracy;
  std::optional<double> test_accuracy, test_loss, best_test_accuracy;
  std::int64_t parameters = 0, norm_parameters = 0;
  double training_flops = 0;  ///< of one image
  bool synthetic = false;
  std::string error;  ///< of a failed cell
  /// cell.json, or null where it is missing or damaged; `configuration` with `train` and
  /// `schedule`, `identity` and `data` are objects in it whatever the file says.
  nlohmann::json document;

  bool done() const { return state == "done"; }
  bool known() const { return document.is_object(); }
};

/// Something that is missing or damaged.
struct Problem {
  std::string cell;  ///< its id; empty where the whole folder is meant
  std::string text;  ///< one line
};

struct Results {
  std::filesystem::path folder;
  std::string name, description;
  nlohmann::json sweep;           ///< sweep.json, or null where it is missing or damaged
  std::vector<CellRecord> cells;  ///< in the order of the sweep, then others by id
  std::vector<Problem> problems;

  std::size_t done() const;
  bool synthetic() const;  ///< some cell used synthetic data
};

/// The problems as lines, "cell: text"; what several cells share is one line that names them.
std::vector<std::string> problem_lines(const Results& results);

/// Reads a results folder; a usage error where it is no folder or holds neither sweep.json nor
/// cells.
Results load_results(const std::filesystem::path& folder);

}  // namespace phasor
