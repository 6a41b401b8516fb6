// The conformance kit: everything a norm must do, tried on one norm.
#pragma once

#include <string>
#include <vector>

#include "norms/contract/registry.h"

namespace phasor::check {

/// One thing that was tried.
struct CheckLine {
  std::string check;  ///< what, e.g. "gradient of weight"
  std::string input;  ///< on which input
  std::string expected;
  std::string got;
  bool passed;
};

struct ConformanceReport {
  std::string norm;
  std::vector<CheckLine> lines;

  bool passed() const;
  /// The lines that failed, or all of them, one each: `FAILED check | input | expected | got`.
  std::string str(bool all = false) const;
};

struct ConformanceOptions {
  NormValues values;     ///< of the norm's own keys; the rest have their defaults
  double huge = 1e4;     ///< rows of this magnitude must come out right; 1e25 for built-in norms
  bool training = true;  ///< train a network with it (see overfit.h); some seconds
};

/// Tries `spec`:
///  - the spec itself: name, formula, keys whose defaults are in range, the message for a wrong
///  key;
///  - gradients of the input and of every parameter in double, at row lengths around the widths of
///    vectors, on generic, constant, zero, tiny and large-mean rows, one and several positions a
///    row;
///  - affine off: no parameters, the result of gains 1;
///  - the declared properties; rows independent of their neighbours; with batch statistics,
///    in evaluation only;
///  - float32 close to double on every kernel set, finite for finite input; the largest right rows;
///  - the statistic in other number types, where the norm declares it;
///  - its fused pair against its definition, with and without skip, ReLU, accumulation and shared
///    buffers; input untouched; two passes at once, in one thread and in several: the same bits;
///  - resnet8 with it learns 32 images, by one thread and by two with the same bits.
/// A norm that throws is a failed line, not an exception.
ConformanceReport check_norm(const NormSpec& spec, const ConformanceOptions& options = {});

}  // namespace phasor::check
