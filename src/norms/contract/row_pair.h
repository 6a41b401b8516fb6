// The fused pair of every norm of the form gain (x - mean) / statistic + bias.
#pragma once

#include "kernels/narrow_norm.h"
#include "phasor/norm.h"

namespace phasor::norms {

/// A fused pair over the row kernels of the table (kernels::Table::norm_forward and _backward),
/// which hold to the formulas, the orders of summation and the rescue of extreme rows written
/// there; at another precision than the standard one, over those of kernels/narrow_norm.h.
class RowPair final : public FusedPair {
 public:
  static constexpr int kNone = -1;

  struct Form {
    kernels::Statistic statistic;
    double eps;
    int gain = kNone;  ///< number of the parameter [C], or [C/2] with gain_per_pair
    int bias = kNone;  ///< number of the parameter [C]
    bool gain_per_pair = false;
  };

  explicit RowPair(const Form& form) : form_(form) {}

  Index saved_size(const FusedShape& shape) const override;
  void forward(const FusedShape& shape, const FusedForward& args) const override;
  void backward(const FusedShape& shape, const FusedBackward& args) const override;

 private:
  kernels::NormRows rows_of(const FusedShape& shape) const;
  kernels::NarrowNorm narrow_of(const FusedShape& shape) const;

  Form form_;
};

}  // namespace phasor::norms
