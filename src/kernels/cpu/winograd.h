// Winograd convolutions for 3x3, stride 1: F(4x4, 3x3) and F(2x2, 3x3). Derivation, error analysis
// and measurements: ../WINOGRAD.md.
#pragma once

#include "kernels/kernels.h"

namespace phasor::kernels::PHASOR_ISA {

extern const ConvPass<float> winograd4_forward, winograd4_backward_data;
extern const ConvPass<float> winograd2_forward, winograd2_backward_data;
extern const ConvGradient<float> winograd4_gradient;

}  // namespace phasor::kernels::PHASOR_ISA
