// Winograd gradient of the weights for 3x3, stride 1.
//
//   for each chain of 64 or 32 tiles
//     for each 128 output channels: transform dy, D[8][points^2][tile][16]
//       for each 32 input channels: transform x, V[2][points^2][tile][16]
//         for each 8 input and 32 output channels (16 and 16)
//           for each position: V_p^T x D_p, the whole chain of tiles in registers; fetch dw
//           transform back, dw +=
//
// In registers: 16x1 (c_out 16) or 8x2 accumulators (AVX2: 6x1); in L1: one position's operands and
// the products (39 KB); in L2: D and V. Of the FMA peak, counted as if direct (Zen 5): 214% at 16
// channels, 280% at 32 (2 images), 304% at 64 (8 images), 307% at 128. More in ../WINOGRAD.md.
#include "kernels/cpu/winograd.h"
#include "kernels/cpu/winograd_product.h"
#include "kernels/cpu/winograd_tiles.h"

namespace phasor::kernels::PHASOR_ISA {
namespace {

using F = F4;
constexpr Index kPositions = F::kPoints * F::kPoints;
/// Vectors of output channels that are multiplied together.
constexpr Index kGroup = 2;
/// Blocks of 16 input and of 16 output channels that are held transformed: they stay in L2.
constexpr Index kInputGroup = 2, kOutputGroup = 8;
/// Input channels that are multiplied before their products are transformed back: as many as one
/// register tile of kGroup vectors has, so that the products of all positions stay in L1.
constexpr Index kProductRows = kVectors == kGroup ? kRows2 : kLanes;
/// Vectors that the products of a position take: 16 x 1 or kProductRows x kGroup.
constexpr Index kProductLines = kProductRows * kGroup > kLanes ? kProductRows* kGroup : kLanes;
/// Floats between the positions of the products.
constexpr int kProductStride = static_cast<int>((kProductLines + 1) * kLanes);

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
         block * (smaller(kInputGroup, ceil_div(s.c_in, kLanes)) +
                  smaller(kOutputGroup, ceil_div(s.c_out, kLanes)));
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

/// Fetches the numbers of dw that the products will be added to, a quarter of the rows of one tap
/// with each of the 36 positions: the gradients of all layers do not stay in L2.
PHASOR_INLINE void fetch_quarter(const float* dw, Index rows, Index vectors, Index position,
                                 const ConvShape& s) {
  const Index quarter = ceil_div(rows, 4), first = position % 4 * quarter;
  const float* tap = dw + position / 4 * s.c_in * s.c_out;
  for (Index r = first; r < smaller(first + quarter, rows); ++r)
    for (Index k = 0; k < vectors; ++k) __builtin_prefetch(tap + r * s.c_out + k * kLanes, 1);
}

/// dw += the gradient of 16 (or fewer) input channels and `out_blocks` blocks of output channels,
/// from the transformed tiles v[position][tile][16] and d[block][position][tile][16].
template <int capacity>
void multiply_block(const ConvShape& s, Index tiles, Index c_in, const float* v, const float* d,
                    Index c_out, float* dw, float* product) {
  constexpr int stride = kPositionStride<capacity>;
  constexpr Index block = kBlockStride<F, capacity>;
  const Index out_blocks = ceil_div(c_out, kLanes);
  for (Index out = 0; out < out_blocks; out += kGroup) {
    const Index vectors = smaller(kGroup, out_blocks - out), width = vectors * kLanes;
    const Index most = vectors == kGroup ? kProductRows : kLanes;
    for (Index in = 0; in < c_in; in += most) {
      const Index rows = smaller(most, c_in - in);
      for (Index position = 0; position < kPositions; ++position) {
        const float* a = v + position * stride + in;
        const float* b = d + out * block + position * stride;
        float* to = product + position * kProductStride;
        fetch_quarter(dw + in * s.c_out + out * kLanes, rows, vectors, position, s);
        if (vectors == kVectors) {
          multiply_position<capacity, kVectors>(tiles, rows, a, b, width, to);
        } else {
          for (Index k = 0; k < vectors; ++k)
            multiply_position<capacity, 1>(tiles, rows, a, b + k * block, width, to + k * kLanes);
        }
      }
      add_back(product, rows, vectors, c_out - out * kLanes, dw + in * s.c_out + out * kLanes, s);
    }
  }
}

template <int capacity>
void accumulate(const ConvShape& s, const float* x, const float* dy, float* dw, float* workspace) {
  constexpr Index block = kBlockStride<F, capacity>;
  constexpr Index in_step = kInputGroup * kLanes, out_step = kOutputGroup * kLanes;
  const Grid<F> grid(s.n, s.in_h, s.in_w);
  float* product = workspace + zeros_size(s);
  float* v = product + kPositions * kProductStride;
  float* d = v + smaller(kInputGroup, ceil_div(s.c_in, kLanes)) * block;
  for (Index i = 0; i < zeros_size(s); i += kLanes) store(workspace + i, zero());

  for (Index first = 0; first < grid.count; first += capacity) {
    const Index tiles = smaller(capacity, grid.count - first);
    for (Index out = 0; out < s.c_out; out += out_step) {
      const Index c_out = smaller(out_step, s.c_out - out);
      transform_block<F, GradientPatch<F>, capacity>(grid, first, tiles, {dy + out, s.c_out, c_out},
                                                     workspace, d);
      for (Index in = 0; in < s.c_in; in += in_step) {
        const Index c_in = smaller(in_step, s.c_in - in);
        transform_block<F, InputPatch<F>, capacity>(grid, first, tiles, {x + in, s.c_in, c_in},
                                                    workspace, v);
        for (Index c = 0; c < c_in; c += kLanes)
          multiply_block<capacity>(s, tiles, smaller(kLanes, c_in - c), v + c / kLanes * block, d,
                                   c_out, dw + (in + c) * s.c_out + out, product);
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
