#include "kernels/cpu/winograd.h"

namespace phasor::kernels::PHASOR_ISA {
namespace {

bool supports(const ConvShape& s) {
  return s.kernel == 3 && s.stride == 1 && s.c_in >= 16 && s.c_out >= 16;
}
Index sum_size(const ConvShape& s) { return s.weight_size(); }
Index no_workspace(const ConvShape&) { return 0; }

void run(const ConvShape& s, const float* x, const float* dy, float* sum, float*) {
  for (Index i = 0; i < s.n; ++i)
    for (Index y = 0; y < s.in_h; ++y)
      for (Index column = 0; column < s.in_w; ++column)
        for (Index t = 0; t < 9; ++t) {
          const Index from_y = y + t / 3 - 1, from_x = column + t % 3 - 1;
          if (from_y < 0 || from_y >= s.in_h || from_x < 0 || from_x >= s.in_w) continue;
          const float* in = x + ((i * s.in_h + from_y) * s.in_w + from_x) * s.c_in;
          const float* g = dy + ((i * s.in_h + y) * s.in_w + column) * s.c_out;
          for (Index k = 0; k < s.c_in; ++k)
            for (Index c = 0; c < s.c_out; ++c) sum[(t * s.c_in + k) * s.c_out + c] += in[k] * g[c];
        }
}

void finish(const ConvShape& s, const float* sum, float* dw, float*) {
  for (Index i = 0; i < s.weight_size(); ++i) dw[i] = sum[i];
}

}  // namespace

const ConvGradient<float> winograd4_gradient = {"winograd4",  supports, sum_size,
                                                no_workspace, run,      finish};

}  // namespace phasor::kernels::PHASOR_ISA
