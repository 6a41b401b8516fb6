// What the kernel families of one instruction set give to its table.
#pragma once

#include "kernels/kernels.h"

namespace phasor::kernels::PHASOR_ISA {

// conv_direct.cpp, conv_direct_gradient.cpp
extern const ConvPass<float> direct_forward, direct_backward_data;
extern const ConvGradient<float> direct_gradient;

// norm_rows.cpp
void norm_forward(const NormRows& shape, const NormForward<float>& a);
void norm_backward(const NormRows& shape, const NormBackward<float>& a);

// elementwise.cpp
void binary(Binary op, Index n, const float* a, Index step_a, const float* b, Index step_b,
            float* out);
void unary(Unary op, Index n, const float* x, float* out);
void add_scaled(Index n, float scale, const float* x, float* y);
void copy_scaled(Index n, float scale, const float* x, float* y);
void sum_rows(Index rows, Index columns, const float* x, float* y);
void sum_columns(Index rows, Index columns, const float* x, float* y);
void relu_backward(Index n, const float* out, const float* dy, float* dx, bool accumulate);
void pool_forward(Index n, Index positions, Index channels, const float* x, float* y);
void pool_backward(Index n, Index positions, Index channels, const float* dy, float* dx,
                   bool accumulate);
void sum_lanes(Index n, int lanes, const float* const* lane, float* total);
double sum_of_squares(Index n, const float* x);

// sgd.cpp
void sgd(Index n, const SgdRule& rule, const float* gradient, float* weights, float* momentum);

}  // namespace phasor::kernels::PHASOR_ISA
