// The table of one instruction set.
#include "kernels/cpu/families.h"
#include "kernels/cpu/tables.h"
#include "kernels/cpu/winograd.h"

#define PHASOR_TEXT_OF(name) #name
#define PHASOR_TEXT(name) PHASOR_TEXT_OF(name)

namespace phasor::kernels::PHASOR_ISA {
namespace {

const ConvPass<float>* const forward_list[] = {&direct_forward, &winograd2_forward,
                                               &winograd4_forward, nullptr};
const ConvPass<float>* const backward_data_list[] = {
    &direct_backward_data, &winograd2_backward_data, &winograd4_backward_data, nullptr};
const ConvGradient<float>* const gradient_list[] = {&direct_gradient, &winograd4_gradient, nullptr};

}  // namespace

const Table<float> kernels = {
    .name = PHASOR_TEXT(PHASOR_ISA),
    .conv_forward = forward_list,
    .conv_backward_data = backward_data_list,
    .conv_backward_weights = gradient_list,
    .norm_forward = norm_forward,
    .norm_backward = norm_backward,
    .binary = binary,
    .unary = unary,
    .add_scaled = add_scaled,
    .copy_scaled = copy_scaled,
    .sum_rows = sum_rows,
    .sum_columns = sum_columns,
    .relu_backward = relu_backward,
    .pool_forward = pool_forward,
    .pool_backward = pool_backward,
    .sum_lanes = sum_lanes,
    .sum_of_squares = sum_of_squares,
    .sgd = sgd,
};

}  // namespace phasor::kernels::PHASOR_ISA
