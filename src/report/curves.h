// The curve of a cell as arrays for figures, and its thinning.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "report/results.h"

namespace phasor {

/// One value over training; a number that was not finite is NaN.
struct Series {
  std::vector<double> x;  ///< in epochs
  std::vector<double> y;
};

/// What a norm layer divides by, over the rows of a step.
struct StatisticCurve {
  std::string layer;
  Series least, mean, greatest;
};

struct CellCurve {
  Series loss, grad_norm;           ///< of each logged step
  Series test_accuracy, test_loss;  ///< of each evaluation
  Series train_accuracy;            ///< means of whole epochs
  // Of each diagnosed step; empty where nothing was recorded.
  std::array<StatisticCurve, 3> statistics;  ///< first, middle and last norm layer
  Series dead_relu;                          ///< mean over the norms with a ReLU
  Series effective_lr;                       ///< mean over the layers that have one
  std::string nonfinite;  ///< kind of the first number that is not finite: "nan"; often empty
  bool complete = false;  ///< the cell has ended
};

/// curve.json of a finished cell, curve.jsonl of another as far as it is whole; nothing where there
/// is no file or none that makes sense.
std::optional<CellCurve> load_curve(const Results& results, const CellRecord& cell);

/// A part of the x axis with the values of a series in it.
struct Bin {
  double x = 0;      ///< mean of the places
  double value = 0;  ///< mean of the values; NaN where one is not finite
};

/// The series in `bins` equal parts of [0, end]; parts without values are left out.
std::vector<Bin> thinned(const Series& series, double end, int bins);

}  // namespace phasor
