// The curve of a cell as arrays for figures, and its thinning.
#pragma once

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

struct CellCurve {
  Series loss, grad_norm;           ///< of each logged step
  Series test_accuracy, test_loss;  ///< of each evaluation
  Series train_accuracy;            ///< means of whole epochs
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
