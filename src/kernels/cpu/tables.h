// The tables of the instruction sets; select.cpp picks among them.
#pragma once

#include "kernels/kernels.h"

namespace phasor::kernels {
namespace baseline {
extern const Table<float> kernels;
}
namespace avx2 {
extern const Table<float> kernels;
}
namespace avx512 {
extern const Table<float> kernels;
}
}  // namespace phasor::kernels
