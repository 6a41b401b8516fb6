// Winograd gradient of the weights for 3x3, stride 1.
#include "kernels/cpu/winograd.h"
#include "kernels/cpu/winograd_product.h"
#include "kernels/cpu/winograd_tiles.h"

namespace phasor::kernels::PHASOR_ISA {
namespace {

using F = F4;
constexpr Index kPositions = F::kPoints * F::kPoints;
/// Vectors of output channels, and blocks of 16 input channels, that are multiplied together.
constexpr Index kGroup = 2, kInputGroup = 4;
/// Floats between the positions of the products of 16 input by 32 output channels.
constexpr int kProductStride = (16 * kGroup + 1) * kLanes;

bool supports(const ConvShape& s) {
  return s.kernel == 3 && s.stride == 1 && s.c_in >= 16 && s.c_out >= 16;
}
Index sum_size(const ConvShape&) { return 0; }

/// Tiles that one chain of multiply-adds runs over: part of the definition of the result's bits.
constexpr int kLong = 64, kShort = 32;
int chain_of(const ConvShape& s) { return s.c_in * s.c_out <= 32 * 32 ? kLong : kShort; }

Index zeros_size(const ConvShape& s) {
  return 6 * ceil_div(larger(s.c_in, s.c_out), kLanes) * kLanes;
}

Index workspace_size(const ConvShape& s) {
  const Index block = chain_of(s) == kLong ? kBlockStride<F, kLong> : kBlockStride<F, kShort>;
  return zeros_size(s) + kPositions * kProductStride +
         block * (smaller(kInputGroup, ceil_div(s.c_in, kLanes)) + ceil_div(s.c_out, kLanes));
}

/// product[c_in][vector][16] = v[tile][c_in] x d[vector][tile][16] for one position.
template <int capacity, int vectors>
PHASOR_INLINE void multiply_position(Index tiles, Index c_in, const float* v, const float* d,
                                     Index width, float* product) {
  constexpr int most = vectors == 1 ? kRows1 : kRows2;
  cover_rows<most>(c_in, [&](auto rows, Index first) PHASOR_INLINE_LAMBDA {
    constexpr int count = decltype(rows)::at;
    Vec acc[count][vectors];
    clear(acc);
    multiply<count, vectors, 1, kLanes>(acc, tiles, v + first, d, kLanes,
                                        kBlockStride<F, capacity>);
    unroll<count>([&](auto r) PHASOR_INLINE_LAMBDA {
      unroll<vectors>([&](auto k) PHASOR_INLINE_LAMBDA {
        store(product + (first + r) * width + k * kLanes, acc[r][k]);
      });
    });
  });
}

/// dw += the gradient that the products stand for.
void add_back(const float* product, Index c_in, Index vectors, Index lanes, float* dw,
              const ConvShape& s) {
  const Index tap = s.c_in * s.c_out;
  for (Index i = 0; i < c_in; ++i)
    for (Index c = 0; c < vectors * kLanes; c += kPartLanes) {
      const float* from = product + i * vectors * kLanes + c;
      float* to = dw + i * s.c_out + c;
      if (c + kPartLanes <= lanes) {
        transform_weights_back<F, kProductStride>(from,
                                                  [&](auto y, auto x, Part g) PHASOR_INLINE_LAMBDA {
                                                    float* at = to + (y * 3 + x) * tap;
                                                    store(at, part_load(at) + g);
                                                  });
      } else {
        const Mask mask = first_lanes(lanes - c);
        transform_weights_back<F, kProductStride>(from,
                                                  [&](auto y, auto x, Part g) PHASOR_INLINE_LAMBDA {
                                                    float* at = to + (y * 3 + x) * tap;
                                                    store(at, part_load(at, mask) + g, mask);
                                                  });
      }
    }
}

template <int capacity>
void accumulate(const ConvShape& s, const float* x, const float* dy, float* dw, float* workspace) {
  constexpr int stride = kPositionStride<capacity>;
  constexpr Index block = kBlockStride<F, capacity>;
  const Grid<F> grid(s.n, s.in_h, s.in_w);
  const Index in_blocks = ceil_div(s.c_in, kLanes), out_blocks = ceil_div(s.c_out, kLanes);
  float* product = workspace + zeros_size(s);
  float* v = product + kPositions * kProductStride;
  float* d = v + smaller(kInputGroup, in_blocks) * block;
  for (Index i = 0; i < zeros_size(s); i += kLanes) store(workspace + i, zero());

  for (Index first = 0; first < grid.count; first += capacity) {
    const Index tiles = smaller(capacity, grid.count - first);
    transform_block<F, GradientPatch<F>, capacity>(grid, first, tiles, {dy, s.c_out, s.c_out},
                                                   workspace, d);
    for (Index in = 0; in < in_blocks; in += kInputGroup) {
      const Index in_count = smaller(kInputGroup * kLanes, s.c_in - in * kLanes);
      transform_block<F, InputPatch<F>, capacity>(
          grid, first, tiles, {x + in * kLanes, s.c_in, in_count}, workspace, v);
      for (Index out = 0; out < out_blocks; out += kGroup) {
        const Index vectors = smaller(kGroup, out_blocks - out), width = vectors * kLanes;
        for (Index c = 0; c < in_count; c += kLanes) {
          const Index rows = smaller(kLanes, in_count - c);
          const float* v_block = v + c / kLanes * block;
          const float* d_block = d + out * block;
          for (Index position = 0; position < kPositions; ++position) {
            const float* a = v_block + position * stride;
            const float* b = d_block + position * stride;
            float* to = product + position * kProductStride;
            if (vectors == kVectors) {
              multiply_position<capacity, kVectors>(tiles, rows, a, b, width, to);
            } else {
              for (Index k = 0; k < vectors; ++k)
                multiply_position<capacity, 1>(tiles, rows, a, b + k * block, width,
                                               to + k * kLanes);
            }
          }
          add_back(product, rows, vectors, s.c_out - out * kLanes,
                   dw + (in * kLanes + c) * s.c_out + out * kLanes, s);
        }
      }
    }
  }
}

void run(const ConvShape& s, const float* x, const float* dy, float* dw, float* workspace) {
  const auto accumulate_by = chain_of(s) == kLong ? accumulate<kLong> : accumulate<kShort>;
  accumulate_by(s, x, dy, dw, workspace);
}

}  // namespace

const ConvGradient<float> winograd4_gradient = {"winograd4",    supports, sum_size,
                                                workspace_size, run,      nullptr};

}  // namespace phasor::kernels::PHASOR_ISA
