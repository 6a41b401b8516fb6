#include "kernels/cpu/winograd.h"

namespace phasor::kernels::PHASOR_ISA {
namespace {

bool supports(const ConvShape& s) {
  return s.kernel == 3 && s.stride == 1 && s.c_in >= 16 && s.c_out >= 16;
}
Index weight_size(const ConvShape& s) { return s.weight_size(); }
Index no_workspace(const ConvShape&) { return 0; }

void copy_weights(const ConvShape& s, const float* weights, float* prepared) {
  for (Index i = 0; i < s.weight_size(); ++i) prepared[i] = weights[i];
}

void rotate_weights(const ConvShape& s, const float* weights, float* prepared) {
  for (Index t = 0; t < 9; ++t)
    for (Index i = 0; i < s.c_in; ++i)
      for (Index o = 0; o < s.c_out; ++o)
        prepared[((8 - t) * s.c_out + o) * s.c_in + i] = weights[(t * s.c_in + i) * s.c_out + o];
}

void convolve(Index n, Index h, Index w, Index c_from, Index c_to, const float* from,
              const float* weights, float* to, bool accumulate) {
  for (Index i = 0; i < n; ++i)
    for (Index y = 0; y < h; ++y)
      for (Index x = 0; x < w; ++x) {
        float* out = to + ((i * h + y) * w + x) * c_to;
        if (!accumulate)
          for (Index c = 0; c < c_to; ++c) out[c] = 0;
        for (Index t = 0; t < 9; ++t) {
          const Index row = y + t / 3 - 1, column = x + t % 3 - 1;
          if (row < 0 || row >= h || column < 0 || column >= w) continue;
          const float* in = from + ((i * h + row) * w + column) * c_from;
          for (Index k = 0; k < c_from; ++k)
            for (Index c = 0; c < c_to; ++c) out[c] += in[k] * weights[(t * c_from + k) * c_to + c];
        }
      }
}

void forward(const ConvShape& s, const float* from, const float* prepared, float* to,
             bool accumulate, float*) {
  convolve(s.n, s.in_h, s.in_w, s.c_in, s.c_out, from, prepared, to, accumulate);
}
void backward_data(const ConvShape& s, const float* from, const float* prepared, float* to,
                   bool accumulate, float*) {
  convolve(s.n, s.in_h, s.in_w, s.c_out, s.c_in, from, prepared, to, accumulate);
}

}  // namespace

const ConvPass<float> winograd4_forward = {"winograd4",  supports,     weight_size,
                                           copy_weights, no_workspace, forward};
const ConvPass<float> winograd4_backward_data = {"winograd4",    supports,     weight_size,
                                                 rotate_weights, no_workspace, backward_data};
const ConvPass<float> winograd2_forward = {"winograd2",  supports,     weight_size,
                                           copy_weights, no_workspace, forward};
const ConvPass<float> winograd2_backward_data = {"winograd2",    supports,     weight_size,
                                                 rotate_weights, no_workspace, backward_data};

}  // namespace phasor::kernels::PHASOR_ISA
