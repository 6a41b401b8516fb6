// Direct weight gradient of 3x3 and 1x1 convolutions, stride 1 and 2.
//
//   for each chain of at most 1,024 output positions          (rows_per_chain; whole rows)
//     for each kernel row kh, V vectors of c_out, B of c_in   (T x B x V accumulators in registers)
//       for each output row of the chain, output pixel
//         acc[t][b][v] += splat(x[pixel + t][b]) * dy[pixel][v]      (t: the taps of a kernel row)
//       sum += acc
//
// The accumulators stay in registers for a whole chain, so each weight is one chain of fused
// multiply-adds over (image, row, column), and the chains are added to `sum` in order. No padded
// copy: a kernel row outside the image is left out, and at the rim the outside tap reads a line of
// zeros (workspace).
#include "kernels/chain.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/vec.h"

namespace phasor::kernels::PHASOR_ISA {
namespace {

#if defined(PHASOR_ISA_avx512)
constexpr int kMaxVectors = 2;
#else
constexpr int kMaxVectors = 1;
#endif

/// Input channels of a tile: as many as keep taps x channels x vectors within the accumulators.
constexpr int most_inputs(int taps, int vectors) {
#if defined(PHASOR_ISA_avx512)
  return taps == 1 ? 8 : 8 / vectors;
#else
  return kAccumulators >= taps * vectors ? kAccumulators / (taps * vectors) : 1;
#endif
}

struct Tile {
  const ConvShape* shape;
  const float* x;      ///< first input channel of the tile
  const float* dy;     ///< first output channel of the tile
  const float* zeros;  ///< c_in zeros
  float* sum;          ///< [kernel row's taps, c_in, c_out] at the tile's channels
  Index kh;
  Index first_row, end_row;  ///< of the chain, over all images
  Index last_lanes;
};

template <int T, int B, int V>
void run_tile(const Tile& t) {
  const ConvShape& s = *t.shape;
  const Index c_in = s.c_in, c_out = s.c_out, width = s.out_w(), height = s.out_h();
  Vec acc[T * B * V];
  unroll<T * B * V>([&](auto i) __attribute__((always_inline)) { acc[i.at] = zero(); });

  for (Index row = t.first_row; row < t.end_row; ++row) {
    const Index image = row / height;
    const Index ih = (row - image * height) * s.stride + t.kh - s.pad();
    if (ih < 0 || ih >= s.in_h) continue;
    const float* line = t.x + (image * s.in_h + ih) * s.in_w * c_in;
    const float* dy = t.dy + row * width * c_out;
    const Index step = s.stride * c_in;
    // Pixels up to `inner` have all taps inside; the first one lacks the left tap, and the last
    // one the right tap where the image ends there.
    const Index inner = T == 1 ? width : (s.in_w - 2) / s.stride + 1;
    for (Index ow = 0; ow < width;) {
      const Index end = T == 1 ? width : ow == 0 ? 1 : ow < inner ? inner : width;
      const float* x[T];
      Index advance[T];
      unroll<T>([&](auto k) __attribute__((always_inline)) {
        const Index iw = ow * s.stride + k.at - s.pad();
        const bool inside = iw >= 0 && iw < s.in_w;
        x[k.at] = inside ? line + iw * c_in : t.zeros;
        advance[k.at] = inside ? step : 0;
      });
      for (; ow < end; ++ow, dy += c_out) {
        Vec d[V];
        unroll<V>([&](auto v) __attribute__((always_inline)) {
          d[v.at] = v.at + 1 == V && t.last_lanes < kLanes ? load(dy + v.at * kLanes, t.last_lanes)
                                                           : load(dy + v.at * kLanes);
        });
        unroll<T>([&](auto k) __attribute__((always_inline)) {
          unroll<B>([&](auto b) __attribute__((always_inline)) {
            const Vec broadcast = splat(x[k.at][b.at]);
            unroll<V>([&](auto v) __attribute__((always_inline)) {
              Vec& a = acc[(k.at * B + b.at) * V + v.at];
              a = fma(broadcast, d[v.at], a);
            });
          });
          x[k.at] += advance[k.at];
        });
      }
    }
  }

  unroll<T>([&](auto k) __attribute__((always_inline)) {
    unroll<B>([&](auto b) __attribute__((always_inline)) {
      unroll<V>([&](auto v) __attribute__((always_inline)) {
        float* sum = t.sum + (k.at * c_in + b.at) * c_out + v.at * kLanes;
        const Vec a = acc[(k.at * B + b.at) * V + v.at];
        if (v.at + 1 == V && t.last_lanes < kLanes)
          store(sum, load(sum, t.last_lanes) + a, t.last_lanes);
        else
          store(sum, load(sum) + a);
      });
    });
  });
}

using RunTile = void (*)(const Tile&);

template <int T, int V>
struct Tiles {
  static constexpr int most = most_inputs(T, V);
  RunTile of[most];
  constexpr Tiles() : of() { fill<1>(); }
  template <int B>
  constexpr void fill() {
    of[B - 1] = run_tile<T, B, V>;
    if constexpr (B < most) fill<B + 1>();
  }
};
template <int T, int V>
constexpr Tiles<T, V> kTiles{};

struct Choice {
  const RunTile* tiles;
  Index most;
};

template <int T>
Choice choose(Index vectors) {
#if defined(PHASOR_ISA_avx512)
  if (vectors == 2) return {kTiles<T, 2>.of, most_inputs(T, 2)};
#endif
  static_cast<void>(vectors);
  return {kTiles<T, 1>.of, most_inputs(T, 1)};
}

/// One chain: every weight once.
void run_chain(const ConvShape& s, const float* x, const float* dy, float* sum, const float* zeros,
               Index first_row, Index end_row) {
  Tile t = {};
  t.shape = &s;
  t.zeros = zeros;
  t.first_row = first_row;
  t.end_row = end_row;
  const Index area = s.c_in * s.c_out;
  for (Index oc = 0; oc < s.c_out;) {
    const Index vectors_left = (s.c_out - oc + kLanes - 1) / kLanes;
    const Index vectors = vectors_left < kMaxVectors ? vectors_left : kMaxVectors;
    const Choice choice = s.kernel == 3 ? choose<3>(vectors) : choose<1>(vectors);
    const Index remaining = s.c_out - oc - (vectors - 1) * kLanes;
    t.last_lanes = remaining < kLanes ? remaining : kLanes;
    t.dy = dy + oc;
    for (t.kh = 0; t.kh < s.kernel; ++t.kh) {
      const Index tiles = (s.c_in + choice.most - 1) / choice.most;
      for (Index i = 0, ic = 0; i < tiles; ++i) {
        const Index inputs = s.c_in / tiles + (i < s.c_in % tiles ? 1 : 0);
        t.x = x + ic;
        t.sum = sum + t.kh * s.kernel * area + ic * s.c_out + oc;
        choice.tiles[inputs - 1](t);
        ic += inputs;
      }
    }
    oc += vectors * kLanes;
  }
}

bool supports(const ConvShape&) { return true; }
Index sum_size(const ConvShape&) { return 0; }
Index workspace_size(const ConvShape& s) { return s.c_in; }

void run(const ConvShape& s, const float* x, const float* dy, float* sum, float* workspace) {
  for (Index i = 0; i < s.c_in; ++i) workspace[i] = 0;
  const Index rows = s.n * s.out_h(), step = rows_per_chain(s.out_w());
  for (Index first = 0; first < rows; first += step)
    run_chain(s, x, dy, sum, workspace, first, rows < first + step ? rows : first + step);
}

}  // namespace

const ConvGradient<float> direct_gradient = {
    "direct", supports, sum_size, workspace_size, run, nullptr,
};

}  // namespace phasor::kernels::PHASOR_ISA
