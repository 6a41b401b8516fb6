// What a reader must know beside the tables, as sentences: data, settings, rules, machine.
#pragma once

#include <string>
#include <vector>

#include "report/results.h"

namespace phasor {

/// The data sets, each once.
std::vector<std::string> data_lines(const Results& results);

/// Epochs, seeds, optimiser settings of every kind that occurs, and what is paired.
std::vector<std::string> assumption_lines(const Results& results);

/// The rules of the verdicts with their thresholds, for each set of thresholds that occurs.
std::vector<std::string> verdict_lines(const Results& results);

/// Processor, kernels, compiler, version and commit of each machine with its number of cells.
std::vector<std::string> machine_lines(const Results& results);

/// "3 norms × 3 learning rates ...": "25 of 27 cells have a result".
std::string progress_line(const Results& results);

/// The configuration that repeats the sweep, as text of a file: sweep.json's, less paths and what
/// does not determine results. Empty without sweep.json.
std::string configuration_text(const Results& results);

/// The commands that repeat run and report.
std::vector<std::string> command_lines(const Results& results);

inline constexpr const char* kSyntheticNote =
    "Synthetic data: made images, not CIFAR; accuracies say nothing about real ones.";

}  // namespace phasor
