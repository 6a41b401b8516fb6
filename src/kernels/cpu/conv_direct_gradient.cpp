// Direct weight gradient of 3x3 and 1x1 convolutions, stride 1 and 2.
//
//   for each chain of at most 1,024 output positions          (rows_per_chain; whole rows)
//     copy its rows of x with a zero on either side           (3x3 only)
//     for each kernel row kh, V vectors of c_out, B of c_in   (T x B x V accumulators in registers)
//       for each output row of the chain, output pixel
//         acc[t][b][v] += splat(x[pixel + t][b]) * dy[pixel][v]      (t: the taps of a kernel row)
//       sum += acc
//
// The accumulators stay in registers for a whole chain, so each weight is one chain of fused
// multiply-adds over (image, row, column), and the chains are added to `sum` in order. A kernel row
// outside the image is left out; a tap outside a row reads the zero of the copy, so that all pixels
// of a row take one loop.
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

/// Rows of x, padded by their zeros: `x` points to row `first_row` of all images' rows.
struct Rows {
  const float* x;
  Index first_row, length;  ///< length: floats of a row
};

struct Tile {
  const ConvShape* shape;
  Rows rows;        ///< from the first input channel of the tile on
  const float* dy;  ///< first output channel of the tile
  float* sum;       ///< [kernel row's taps, c_in, c_out] at the tile's channels
  Index kh;
  Index first_row, end_row;  ///< of the chain, over all images
  Index last_lanes;
};

template <int T, int B, int V>
void run_tile(const Tile& t) {
  const ConvShape& s = *t.shape;
  const Index c_in = s.c_in, c_out = s.c_out, width = s.out_w(), height = s.out_h();
  const Index step = s.stride * c_in;
  Vec acc[T * B * V];
  unroll<T * B * V>([&](auto i) __attribute__((always_inline)) { acc[i.at] = zero(); });

  Index image = t.first_row / height, oh = t.first_row % height;
  for (Index row = t.first_row; row < t.end_row; ++row, ++oh) {
    if (oh == height) oh = 0, ++image;
    const Index ih = oh * s.stride + t.kh - s.pad();
    if (ih < 0 || ih >= s.in_h) continue;
    const float* x = t.rows.x + (image * s.in_h + ih - t.rows.first_row) * t.rows.length;
    const float* dy = t.dy + row * width * c_out;
    for (const float* const end = dy + width * c_out; dy != end; dy += c_out, x += step) {
      Vec d[V];
      unroll<V>([&](auto v) __attribute__((always_inline)) {
        d[v.at] = v.at + 1 == V && t.last_lanes < kLanes ? load(dy + v.at * kLanes, t.last_lanes)
                                                         : load(dy + v.at * kLanes);
      });
      unroll<T>([&](auto k) __attribute__((always_inline)) {
        unroll<B>([&](auto b) __attribute__((always_inline)) {
          const Vec broadcast = splat(x[k.at * c_in + b.at]);
          unroll<V>([&](auto v) __attribute__((always_inline)) {
            Vec& a = acc[(k.at * B + b.at) * V + v.at];
            a = fma(broadcast, d[v.at], a);
          });
        });
      });
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

Index smaller(Index a, Index b) { return a < b ? a : b; }

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
void run_chain(const ConvShape& s, const Rows& x, const float* dy, float* sum, Index first_row,
               Index end_row) {
  Tile t = {};
  t.shape = &s;
  t.rows = x;
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
        t.rows.x = x.x + ic;
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

/// Floats of a row of x with its zeros.
Index padded_row(const ConvShape& s) { return (s.in_w + 2 * s.pad()) * s.c_in; }

/// Output rows of a chain, and the most input rows that they reach.
Index chain_rows(const ConvShape& s) { return smaller(s.n * s.out_h(), rows_per_chain(s.out_w())); }
Index most_input_rows(const ConvShape& s) {
  return smaller(s.n * s.in_h, chain_rows(s) * s.stride + 2);
}

Index workspace_size(const ConvShape& s) {
  return s.pad() == 0 ? 0 : most_input_rows(s) * padded_row(s);
}

void copy_row(const float* from, Index n, float* to) {
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) store(to + i, load(from + i));
  for (; i < n; ++i) to[i] = from[i];
}

/// Copies the input rows that the output rows [first, end) reach between zeros.
Rows pad_rows(const ConvShape& s, const float* x, Index first, Index end, float* workspace) {
  const Index height = s.out_h(), line = s.in_w * s.c_in, rim = s.pad() * s.c_in;
  const auto input_row = [&](Index row, Index tap) {
    const Index ih = row % height * s.stride + tap - s.pad();
    return row / height * s.in_h + (ih < 0 ? 0 : smaller(ih, s.in_h - 1));
  };
  const Rows rows = {workspace, input_row(first, 0), padded_row(s)};
  float* to = workspace;
  for (Index row = rows.first_row; row <= input_row(end - 1, s.kernel - 1); ++row) {
    for (Index i = 0; i < rim; ++i) to[i] = to[rim + line + i] = 0;
    copy_row(x + row * line, line, to + rim);
    to += rows.length;
  }
  return rows;
}

void run(const ConvShape& s, const float* x, const float* dy, float* sum, float* workspace) {
  const Index rows = s.n * s.out_h(), step = chain_rows(s);
  for (Index first = 0; first < rows; first += step) {
    const Index end = smaller(first + step, rows);
    const Rows input =
        s.pad() == 0 ? Rows{x, 0, padded_row(s)} : pad_rows(s, x, first, end, workspace);
    run_chain(s, input, dy, sum, first, end);
  }
}

}  // namespace

const ConvGradient<float> direct_gradient = {
    "direct", supports, sum_size, workspace_size, run, nullptr,
};

}  // namespace phasor::kernels::PHASOR_ISA
