#include "norms/contract/row_pair.h"

namespace phasor::norms {
namespace {

template <class Pointer>
Pointer at(Pointer const* parameters, int number) {
  return number == RowPair::kNone ? nullptr : parameters[number];
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

Index RowPair::saved_size(const FusedShape& shape) const { return 2 * shape.rows; }

void RowPair::forward(const FusedShape& shape, const FusedForward& args) const {
  kernels::table<float>(shape.kernels)
      .norm_forward(rows_of(shape), {.x = args.x,
                                     .gain = at(args.parameters, form_.gain),
                                     .bias = at(args.parameters, form_.bias),
                                     .skip = args.skip,
                                     .out = args.out,
                                     .saved = args.saved});
}

void RowPair::backward(const FusedShape& shape, const FusedBackward& args) const {
  kernels::table<float>(shape.kernels)
      .norm_backward(rows_of(shape), {.x = args.x,
                                      .gain = at(args.parameters, form_.gain),
                                      .out = args.out,
                                      .saved = args.saved,
                                      .dy = args.dy,
                                      .dx = args.dx,
                                      .dskip = args.dskip,
                                      .dgain = at(args.dparameters, form_.gain),
                                      .dbias = at(args.dparameters, form_.bias),
                                      .accumulate = args.accumulate});
}

}  // namespace phasor::norms
