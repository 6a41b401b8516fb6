#include "norms/contract/row_pair.h"

namespace phasor::norms {
namespace {

template <class Pointer>
Pointer at(Pointer const* parameters, int number) {
  return number == RowPair::kNone ? nullptr : parameters[number];
}

NumberFormat format_of(StatisticType type) {
  switch (type) {
    case StatisticType::float16:
      return kFloat16;
    case StatisticType::bfloat16:
      return kBfloat16;
    case StatisticType::float32:
      break;
  }
  return kFloat32;
}

}  // namespace

kernels::NormRows RowPair::rows_of(const FusedShape& shape) const {
  kernels::NormRows rows;
  rows.statistic = form_.statistic;
  rows.rows = shape.rows;
  rows.positions = shape.positions;
  rows.channels = shape.channels;
  rows.gain_per_pair = form_.gain_per_pair;
  rows.relu = shape.relu;
  rows.eps = form_.eps;
  return rows;
}

kernels::NarrowNorm RowPair::narrow_of(const FusedShape& shape) const {
  return {rows_of(shape), format_of(shape.precision.type), shape.precision.rescue};
}

Index RowPair::saved_size(const FusedShape& shape) const {
  return shape.precision.is_standard() ? 2 * shape.rows
                                       : kernels::narrow_norm_saved_size(rows_of(shape));
}

void RowPair::forward(const FusedShape& shape, const FusedForward& args) const {
  const kernels::NormForward<float> rows{.x = args.x,
                                         .gain = at(args.parameters, form_.gain),
                                         .bias = at(args.parameters, form_.bias),
                                         .skip = args.skip,
                                         .out = args.out,
                                         .saved = args.saved};
  if (shape.precision.is_standard()) {
    kernels::table<float>(shape.kernels).norm_forward(rows_of(shape), rows);
  } else {
    kernels::narrow_norm_forward(narrow_of(shape), rows);
  }
}

void RowPair::backward(const FusedShape& shape, const FusedBackward& args) const {
  const kernels::NormBackward<float> rows{.x = args.x,
                                          .gain = at(args.parameters, form_.gain),
                                          .out = args.out,
                                          .saved = args.saved,
                                          .dy = args.dy,
                                          .dx = args.dx,
                                          .dskip = args.dskip,
                                          .dgain = at(args.dparameters, form_.gain),
                                          .dbias = at(args.dparameters, form_.bias),
                                          .accumulate = args.accumulate};
  if (shape.precision.is_standard()) {
    kernels::table<float>(shape.kernels).norm_backward(rows_of(shape), rows);
  } else {
    kernels::narrow_norm_backward(narrow_of(shape), rows);
  }
}

}  // namespace phasor::norms
