// Winograd convolution for 3x3, stride 1: forward and the gradient of the input.
//
//   for each block of 16 or 32 tiles (over several images where an image has few)
//     transform the input: V[c_from/16][points^2][tile][16]
//     for each 32 output channels
//       for each position: M_p = V_p x U_p, one chain over c_from for each number
//       transform back and write
//
// In registers: 16x1 (c_to 16) or 8x2 accumulators (AVX2: 6x1, 3x2); in L1: one position's operands
// and, at 16 channels, most of V, which M then replaces; in L2: V, M, U up to 64 channels. Of the
// FMA peak, counted as if direct (Zen 5, F(4x4)): 217% at 16 channels, 306% at 32, 330% at 64, 345%
// at 128. What bounds it, error analysis and what else was tried: ../WINOGRAD.md.
#include "kernels/cpu/winograd.h"

#include "kernels/cpu/winograd_product.h"
#include "kernels/cpu/winograd_tiles.h"

namespace phasor::kernels::PHASOR_ISA {
namespace {

/// Vectors of output channels that the products of a block hold at a time.
constexpr int kGroup = 2;

/// One pass as a plain convolution: `from` has c_from channels, `to` has c_to.
struct Problem {
  Index n, height, width, c_from, c_to;
};
Problem forward_problem(const ConvShape& s) { return {s.n, s.in_h, s.in_w, s.c_in, s.c_out}; }
Problem backward_problem(const ConvShape& s) { return {s.n, s.in_h, s.in_w, s.c_out, s.c_in}; }

bool supports(const ConvShape& s) {
  return s.kernel == 3 && s.stride == 1 && s.c_in >= 16 && s.c_out >= 16;
}

/// Tiles that are transformed and multiplied together: more where the weights are many, as far as
/// the transformed input stays in L2.
constexpr int kFew = 16, kMany = 32;
int capacity_of(const Problem& p) { return p.c_from >= 64 && p.c_from < 256 ? kMany : kFew; }

/// Rows of a register tile that takes both vectors of a group; 0 where none does.
#if defined(PHASOR_ISA_avx2)
constexpr int kRowsOfBoth = 3;
#else
constexpr int kRowsOfBoth = kVectors == kGroup ? kRows2 : 0;
#endif

/// Whether register tiles take both vectors of a group. With AVX2 three rows of two vectors load
/// more for each multiply-add than six rows of one, and pay where the weights come from beyond L2
/// and are then read once instead of twice.
bool takes_both(const Problem& p) { return kVectors == kGroup || p.c_from >= 64; }

/// Whether the places that a block will be written to are fetched during its products. A store to
/// a line that is not in L2 waits for it like a load, and 512 KiB of L2 (Zen 3) do not hold the
/// activations of a micro-batch. With AVX-512 it has not been measured.
#if defined(PHASOR_ISA_avx2)
constexpr bool kFetchesOutput = true;
#else
constexpr bool kFetchesOutput = false;
#endif

template <class F>
constexpr Index kPositions = F::kPoints* F::kPoints;

/// Transformed weights: for each group of up to 32 output channels [points^2][c_from][16 or 32].
template <class F>
Index prepared_size(const Problem& p) {
  return kPositions<F> * p.c_from * ceil_div(p.c_to, kLanes) * kLanes;
}

Index zeros_size(const Problem& p) { return 6 * ceil_div(p.c_from, kLanes) * kLanes; }

template <class F>
Index workspace_size(const Problem& p) {
  const Index block = capacity_of(p) == kMany ? kBlockStride<F, kMany> : kBlockStride<F, kFew>;
  return zeros_size(p) + (ceil_div(p.c_from, kLanes) + kGroup) * block;
}

/// Transforms the weights of sixteen output channels and one input channel; `taps` holds
/// [3 x 3][16].
template <class F>
void prepare_lanes(const float* taps, float* out, Index stride) {
  for (Index part = 0; part < kLanes; part += kPartLanes) {
    Part g[9];
    unroll<9>([&](auto k) PHASOR_INLINE_LAMBDA { g[k] = part_load(taps + k * kLanes + part); });
    transform_weights<F>(g, out + part, stride);
  }
}

/// weight(tap, from, to) gives the weights as the plain convolution sees them.
template <class F, class Weight>
PHASOR_INLINE void prepare(const Problem& p, float* prepared, Weight weight) {
  const Index blocks = ceil_div(p.c_to, kLanes);
  for (Index block = 0; block < blocks; ++block) {
    const Index group = block / kGroup * kGroup;
    const Index width = smaller(kGroup, blocks - group) * kLanes;
    const Index stride = p.c_from * width;
    float* out = prepared + group * kLanes * kPositions<F> * p.c_from + (block - group) * kLanes;
    const Index lanes = smaller(kLanes, p.c_to - block * kLanes);
    for (Index first = 0; first < p.c_from; first += kLanes) {
      const Index count = smaller(kLanes, p.c_from - first);
      float taps[kLanes][9 * kLanes];
      for (Index tap = 0; tap < 9; ++tap)
        for (Index i = 0; i < count; ++i)
          for (Index lane = 0; lane < kLanes; ++lane)
            taps[i][tap * kLanes + lane] =
                lane < lanes ? weight(tap, first + i, block * kLanes + lane) : 0.0f;
      for (Index i = 0; i < count; ++i)
        prepare_lanes<F>(taps[i], out + (first + i) * width, stride);
    }
  }
}

template <class F>
void prepare_forward(const ConvShape& s, const float* weights, float* prepared) {
  const Index c_in = s.c_in, c_out = s.c_out;
  prepare<F>(forward_problem(s), prepared, [=](Index tap, Index from, Index to) {
    return weights[(tap * c_in + from) * c_out + to];
  });
}

/// The gradient of the input is a convolution with the weights turned by 180 degrees.
template <class F>
void prepare_backward(const ConvShape& s, const float* weights, float* prepared) {
  const Index c_in = s.c_in, c_out = s.c_out;
  prepare<F>(backward_problem(s), prepared, [=](Index tap, Index from, Index to) {
    return weights[((8 - tap) * c_in + to) * c_out + from];
  });
}

/// Floats that the weights are fetched ahead of the product that reads them: from 64 channels on
/// they come from L3 or, at 512, from memory.
constexpr Index kAhead = 2048;

/// m[vector][tile][16] = v[block][tile][16] x u[c_from][width] for one position.
template <class F, int capacity, int vectors>
PHASOR_INLINE void multiply_position(Index tiles, Index c_from, const float* v, const float* u,
                                     Index width, float* m) {
  constexpr int most = vectors == 1 ? kRows1 : kRowsOfBoth;
  cover_rows<most>(tiles, [&](auto rows, Index first) PHASOR_INLINE_LAMBDA {
    constexpr int count = decltype(rows)::at;
    Vec acc[count][vectors];
    clear(acc);
    const float* a = v + first * kLanes;
    const float* b = u;
    for (Index c = 0; c < c_from; c += kLanes) {
      multiply<count, vectors, kLanes, 1, kAhead>(acc, smaller(kLanes, c_from - c), a, b, width,
                                                  kLanes);
      a += kBlockStride<F, capacity>;
      b += kLanes * width;
    }
    unroll<count>([&](auto r) PHASOR_INLINE_LAMBDA {
      unroll<vectors>([&](auto k) PHASOR_INLINE_LAMBDA {
        store(m + k * kBlockStride<F, capacity> + (first + r) * kLanes, acc[r][k]);
      });
    });
  });
}

/// Writes the outputs of sixteen (or the last `lanes`) channels of one tile.
template <class F, int capacity, bool accumulate>
PHASOR_INLINE void write_tile(const float* m, float* to, Index row_step, Index step, Index rows,
                              Index columns, Index lanes) {
  constexpr int stride = kPositionStride<capacity>;
  for (Index part = 0; part < kLanes; part += kPartLanes) {
    if (rows >= F::kSide && columns >= F::kSide && lanes >= kLanes) {
      transform_output<F, stride>(m + part, [&](auto i, auto j, Part y) PHASOR_INLINE_LAMBDA {
        float* pixel = to + i * row_step + j * step + part;
        if constexpr (accumulate) y = part_load(pixel) + y;
        store(pixel, y);
      });
    } else {
      const Mask mask = first_lanes(lanes - part);
      transform_output<F, stride>(m + part, [&](auto i, auto j, Part y) PHASOR_INLINE_LAMBDA {
        if (i >= rows || j >= columns) return;
        float* pixel = to + i * row_step + j * step + part;
        if constexpr (accumulate) y = part_load(pixel, mask) + y;
        store(pixel, y, mask);
      });
    }
  }
}

/// Writes `vectors` blocks of 16 channels from `channel` on for the tiles of a block.
template <class F, int capacity, bool accumulate>
void write_block(const Grid<F>& grid, Index first, Index tiles, const float* m, Index vectors,
                 Index channel, Index c_to, float* to) {
  TileWalk<F> tile(grid, first);
  for (Index t = 0; t < tiles; ++t, tile.next()) {
    float* corner =
        to + ((tile.image * grid.height + tile.top()) * grid.width + tile.left()) * c_to + channel;
    for (Index k = 0; k < vectors; ++k)
      write_tile<F, capacity, accumulate>(
          m + k * kBlockStride<F, capacity> + t * kLanes, corner + k * kLanes, grid.width * c_to,
          c_to, grid.height - tile.top(), grid.width - tile.left(), c_to - channel - k * kLanes);
  }
}

/// Fetches the places that one tile will be written to, `vectors` blocks of 16 channels of its
/// pixels, into L2, so that L1 keeps what is being multiplied.
template <class F>
PHASOR_INLINE void fetch_output(const TileWalk<F>& tile, Index vectors, Index c_to,
                                const float* to) {
  const Grid<F>& grid = tile.grid;
  const float* row =
      to + ((tile.image * grid.height + tile.top()) * grid.width + tile.left()) * c_to;
  const Index rows = smaller(F::kSide, grid.height - tile.top());
  const Index columns = smaller(F::kSide, grid.width - tile.left());
  for (Index i = 0; i < rows; ++i, row += grid.width * c_to)
    for (Index j = 0; j < columns; ++j)
      for (Index k = 0; k < vectors; ++k) __builtin_prefetch(row + j * c_to + k * kLanes, 0, 2);
}

template <class F, int capacity>
void convolve(const Problem& p, const float* from, const float* prepared, float* to,
              bool accumulate, float* workspace) {
  const Grid<F> grid(p.n, p.height, p.width);
  const Index zeros = zeros_size(p);
  float* v = workspace + zeros;
  // With 16 channels on both sides a product can replace what it was made from, which saves L1.
  const bool in_place = p.c_from == kLanes && p.c_to == kLanes;
  float* m = in_place ? v : v + ceil_div(p.c_from, kLanes) * kBlockStride<F, capacity>;
  for (Index i = 0; i < zeros; i += kLanes) store(workspace + i, zero());

  [[maybe_unused]] const bool both = takes_both(p);
  const Index blocks = ceil_div(p.c_to, kLanes);
  for (Index first = 0; first < grid.count; first += capacity) {
    const Index tiles = smaller(capacity, grid.count - first);
    transform_block<F, InputPatch<F>, capacity>(grid, first, tiles, {from, p.c_from, p.c_from},
                                                workspace, v);
    const float* u = prepared;
    for (Index group = 0; group < blocks; group += kGroup) {
      const Index vectors = smaller(kGroup, blocks - group), width = vectors * kLanes;
      TileWalk<F> written(grid, first);
      for (Index position = 0; position < kPositions<F>; ++position, u += p.c_from * width) {
        if (kFetchesOutput && position < tiles) {
          fetch_output(written, vectors, p.c_to, to + group * kLanes);
          written.next();
        }
        const float* v_position = v + position * kPositionStride<capacity>;
        float* m_position = m + position * kPositionStride<capacity>;
        if constexpr (kRowsOfBoth > 0) {
          if (both && vectors == kGroup) {
            multiply_position<F, capacity, kGroup>(tiles, p.c_from, v_position, u, width,
                                                   m_position);
            continue;
          }
        }
        for (Index k = 0; k < vectors; ++k)
          multiply_position<F, capacity, 1>(tiles, p.c_from, v_position, u + k * kLanes, width,
                                            m_position + k * kBlockStride<F, capacity>);
      }
      const auto write =
          accumulate ? write_block<F, capacity, true> : write_block<F, capacity, false>;
      write(grid, first, tiles, m, vectors, group * kLanes, p.c_to, to);
    }
  }
}

template <class F>
void run(const Problem& p, const float* from, const float* prepared, float* to, bool accumulate,
         float* workspace) {
  const auto convolve_by = capacity_of(p) == kMany ? convolve<F, kMany> : convolve<F, kFew>;
  convolve_by(p, from, prepared, to, accumulate, workspace);
}

template <class F>
constexpr ConvPass<float> forward_pass(const char* name) {
  return {name,
          supports,
          [](const ConvShape& s) { return prepared_size<F>(forward_problem(s)); },
          prepare_forward<F>,
          [](const ConvShape& s) { return workspace_size<F>(forward_problem(s)); },
          [](const ConvShape& s, const float* from, const float* prepared, float* to,
             bool accumulate, float* workspace) {
            run<F>(forward_problem(s), from, prepared, to, accumulate, workspace);
          }};
}

template <class F>
constexpr ConvPass<float> backward_pass(const char* name) {
  return {name,
          supports,
          [](const ConvShape& s) { return prepared_size<F>(backward_problem(s)); },
          prepare_backward<F>,
          [](const ConvShape& s) { return workspace_size<F>(backward_problem(s)); },
          [](const ConvShape& s, const float* from, const float* prepared, float* to,
             bool accumulate, float* workspace) {
            run<F>(backward_problem(s), from, prepared, to, accumulate, workspace);
          }};
}

}  // namespace

const ConvPass<float> winograd4_forward = forward_pass<F4>("winograd4");
const ConvPass<float> winograd4_backward_data = backward_pass<F4>("winograd4");
const ConvPass<float> winograd2_forward = forward_pass<F2>("winograd2");
const ConvPass<float> winograd2_backward_data = backward_pass<F2>("winograd2");

}  // namespace phasor::kernels::PHASOR_ISA
