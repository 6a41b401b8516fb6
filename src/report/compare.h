// Two results folders side by side.
#pragma once

#include <string>
#include <vector>

#include "report/results.h"

namespace phasor {

/// A cell of two folders, paired by its label (norm, learning rate, batch size, seed, variant).
struct CellPair {
  std::string label;
  const CellRecord* a = nullptr;  ///< null: only the other folder has it
  const CellRecord* b = nullptr;
};

/// All cells of both, in the order of A, then those that only B has. `a` and `b` must outlive it.
std::vector<CellPair> pair_cells(const Results& a, const Results& b);

/// Verdicts and test accuracies as a Markdown table, then mean and standard error of the paired
/// differences B - A over the cells that both have finished.
std::string comparison_markdown(const Results& a, const Results& b);

/// Every way in which the results differ, a line each: cells that only one has, states, and the
/// files that must be byte-equal: cell.json less `environment`, curve.json, and curve.jsonl and
/// last.safetensors where both folders have them.
std::vector<std::string> result_differences(const Results& a, const Results& b);

}  // namespace phasor
