// Direct convolution: forward, and the gradient of the input, for 3x3 and 1x1, stride 1 and 2, by
// one microkernel.
//
// Every pass is a sum over *runs*: stretches of the (zero-padded) source, a fixed offset from each
// output pixel, times packed weights [depth][16 V] that are read straight through. A 3x3 forward
// pass is three runs of 3 c_in numbers (the taps of one kernel row lie side by side in NHWC);
// backward data of stride 1 is the same on dy with rotated, transposed weights; of stride 2 it
// splits by the parity of the output pixel into four grids with one or two runs of one or two taps
// each, so that no work is done on zeros.
//
//   for each block of V vectors of output channels      (weights packed per block)
//     for each chunk of the depth                       (its weights fit L1)
//       for each image, output row, tile of P pixels    (P x V accumulators in registers)
//         for each run, k:  acc[p][v] += splat(source[p][k]) * weights[k][v]
//
// Between chunks the accumulators rest in `to` as float, so chunking changes no bit: an output is
// one chain of fused multiply-adds over (kh, kw, ic) (backward: over oh, ow, oc), whatever the
// tile. Accumulation starts the chain at the number that is there. Zero padding takes part in the
// chain: a non-finite weight makes NaN at the rim.
#include "kernels/cpu/families.h"
#include "kernels/cpu/vec.h"

namespace phasor::kernels::PHASOR_ISA {
namespace {

#if defined(PHASOR_ISA_avx512)
constexpr int kMaxVectors = 4;
constexpr int kPixels[] = {16, 8, 8, 6};  // by vectors: the most pixels of a tile
#else
constexpr int kMaxVectors = 1;
constexpr int kPixels[] = {kAccumulators};
#endif

/// Floats of packed weights that one chunk may have: they stay in L1 while pixels stream past.
constexpr Index kChunkFloats = 9 * 1024;

struct Run {
  Index offset, length;
};

struct Tile {
  const float* from;  ///< first pixel
  Index from_pixel;   ///< floats from one output pixel to the next
  const Run* runs;
  int run_count;
  const float* weights;  ///< [sum of lengths][16 V]
  float* to;
  Index to_pixel;
  Index last_lanes;  ///< lanes of the last vector that exist
  bool continues;    ///< whether the chain starts at what `to` holds
};

template <int P, int V>
void run_tile(const Tile& t) {
  Vec acc[P * V];
  if (t.continues) {
    unroll<P>([&](auto p) __attribute__((always_inline)) {
      const float* to = t.to + p.at * t.to_pixel;
      unroll<V>([&](auto v) __attribute__((always_inline)) {
        acc[p.at * V + v.at] = v.at + 1 == V && t.last_lanes < kLanes
                                   ? load(to + v.at * kLanes, t.last_lanes)
                                   : load(to + v.at * kLanes);
      });
    });
  } else {
    unroll<P * V>([&](auto i) __attribute__((always_inline)) { acc[i.at] = zero(); });
  }

  constexpr int kGroups = (P + 3) / 4;
  const float* weights = t.weights;
  const Index pixel = t.from_pixel;
  for (int r = 0; r < t.run_count; ++r) {
    const float* x[kGroups];
    unroll<kGroups>([&](auto g) __attribute__((always_inline)) {
      x[g.at] = t.from + t.runs[r].offset + 4 * g.at * pixel;
    });
    for (const float* const end = weights + t.runs[r].length * V * kLanes; weights != end;
         weights += V * kLanes) {
      Vec w[V];
      unroll<V>([&](auto v)
                    __attribute__((always_inline)) { w[v.at] = load(weights + v.at * kLanes); });
      unroll<P>([&](auto p) __attribute__((always_inline)) {
        const Vec broadcast = splat(x[p.at / 4][p.at % 4 * pixel]);
        unroll<V>([&](auto v) __attribute__((always_inline)) {
          acc[p.at * V + v.at] = fma(broadcast, w[v.at], acc[p.at * V + v.at]);
        });
      });
      // Opaque to the compiler, or it would keep sixteen pointers instead of four and two strides.
      unroll<kGroups>([&](auto g) __attribute__((always_inline)) {
        ++x[g.at];
        asm("" : "+r"(x[g.at]));
      });
    }
  }

  unroll<P>([&](auto p) __attribute__((always_inline)) {
    float* to = t.to + p.at * t.to_pixel;
    unroll<V>([&](auto v) __attribute__((always_inline)) {
      if (v.at + 1 == V && t.last_lanes < kLanes)
        store(to + v.at * kLanes, acc[p.at * V + v.at], t.last_lanes);
      else
        store(to + v.at * kLanes, acc[p.at * V + v.at]);
    });
  });
}

using RunTile = void (*)(const Tile&);

/// tiles[P - 1] computes P pixels.
template <int V>
struct Tiles {
  RunTile of[kPixels[V - 1]];
  constexpr Tiles() : of() { fill<1>(); }
  template <int P>
  constexpr void fill() {
    of[P - 1] = run_tile<P, V>;
    if constexpr (P < kPixels[V - 1]) fill<P + 1>();
  }
};
template <int V>
constexpr Tiles<V> kTiles{};

const RunTile* tiles_of(int vectors) {
#if defined(PHASOR_ISA_avx512)
  if (vectors == 4) return kTiles<4>.of;
  if (vectors == 3) return kTiles<3>.of;
  if (vectors == 2) return kTiles<2>.of;
#endif
  static_cast<void>(vectors);
  return kTiles<1>.of;
}

/// Vectors of the next block when `left` remain: four at most, and not one alone if avoidable.
int block_vectors(Index left) {
  if (left > kMaxVectors) return left == kMaxVectors + 1 && kMaxVectors > 2 ? 3 : kMaxVectors;
  return static_cast<int>(left);
}

Index vectors_of(Index channels) { return (channels + kLanes - 1) / kLanes; }

constexpr int kMaxRuns = 3;

/// Output pixels that share their runs: all of them, or those of one parity.
struct Grid {
  Index rows = 0, columns = 0;
  Index from_row = 0, from_pixel = 0;            ///< floats in the source
  Index to_start = 0, to_row = 0, to_pixel = 0;  ///< floats in the result
  int run_count = 0;
  Run runs[kMaxRuns] = {};
  int tap_count = 0;
  int taps[9] = {};  ///< kh * kernel + kw in the order of the runs
};

/// A pass seen from the microkernel.
struct Pass {
  Index images, from_channels, to_channels;
  Index from_h, from_w, from_image;  ///< unpadded source
  Index top, left, padded_h, padded_w;
  bool padded;
  Index to_image;
  int grid_count;
  Grid grids[4];

  Index padded_image() const { return padded_h * padded_w * from_channels; }
  Index depth(const Grid& g) const { return g.tap_count * from_channels; }
  /// Images that are padded and computed together: all where the weights outgrow a part of L2, so
  /// that they stream from it once for all.
  Index group() const {
    const Index weights = 9 * from_channels * to_channels;
    return weights > 64 * 1024 ? images : 1;
  }
};

Pass forward_pass(const ConvShape& s) {
  Pass p = {};
  p.images = s.n;
  p.from_channels = s.c_in;
  p.to_channels = s.c_out;
  p.from_h = s.in_h;
  p.from_w = s.in_w;
  p.from_image = s.in_h * s.in_w * s.c_in;
  p.to_image = s.out_h() * s.out_w() * s.c_out;
  p.padded = s.kernel == 3;
  p.top = p.left = s.pad();
  p.padded_h = s.in_h + 2 * s.pad();
  p.padded_w = s.in_w + 2 * s.pad();
  p.grid_count = 1;
  Grid& g = p.grids[0];
  g.rows = s.out_h();
  g.columns = s.out_w();
  g.from_row = s.stride * p.padded_w * s.c_in;
  g.from_pixel = s.stride * s.c_in;
  g.to_row = s.out_w() * s.c_out;
  g.to_pixel = s.c_out;
  g.run_count = static_cast<int>(s.kernel);
  for (int kh = 0; kh < g.run_count; ++kh)
    g.runs[kh] = {kh * p.padded_w * s.c_in, s.kernel * s.c_in};
  g.tap_count = static_cast<int>(s.kernel * s.kernel);
  for (int tap = 0; tap < g.tap_count; ++tap) g.taps[tap] = tap;
  return p;
}

/// The taps of one axis that reach an input pixel of the given parity, in ascending order of the
/// output pixel they come from.
struct Reach {
  int count;
  int tap[3];
};

Reach reach_of(const ConvShape& s, int parity) {
  if (s.kernel == 1) return {parity == 0 ? 1 : 0, {0, 0, 0}};
  if (s.stride == 1) return {3, {2, 1, 0}};
  if (parity == 0) return {1, {1, 0, 0}};
  return {2, {2, 0, 0}};
}

Pass backward_pass(const ConvShape& s) {
  Pass p = {};
  p.images = s.n;
  p.from_channels = s.c_out;
  p.to_channels = s.c_in;
  p.from_h = s.out_h();
  p.from_w = s.out_w();
  p.from_image = s.out_h() * s.out_w() * s.c_out;
  p.to_image = s.in_h * s.in_w * s.c_in;
  p.padded = s.kernel == 3;
  const Index before = s.stride == 1 ? s.pad() : 0;
  p.top = p.left = before;
  p.padded_h = s.out_h() + before + s.pad();
  p.padded_w = s.out_w() + before + s.pad();
  const int steps = static_cast<int>(s.stride);
  for (int a = 0; a < steps; ++a)
    for (int b = 0; b < steps; ++b) {
      Grid& g = p.grids[p.grid_count++];
      const Reach down = reach_of(s, a), right = reach_of(s, b);
      g.rows = (s.in_h - a + steps - 1) / steps;
      g.columns = (s.in_w - b + steps - 1) / steps;
      g.from_row = p.padded_w * s.c_out;
      g.from_pixel = s.c_out;
      g.to_start = (a * s.in_w + b) * s.c_in;
      g.to_row = steps * s.in_w * s.c_in;
      g.to_pixel = steps * s.c_in;
      if (down.count == 0 || right.count == 0) continue;
      g.run_count = down.count;
      for (int i = 0; i < down.count; ++i) {
        g.runs[i] = {i * p.padded_w * s.c_out, right.count * s.c_out};
        for (int j = 0; j < right.count; ++j)
          g.taps[g.tap_count++] = down.tap[i] * static_cast<int>(s.kernel) + right.tap[j];
      }
    }
  return p;
}

Index prepared_size(const Pass& p) {
  Index depth = 0;
  for (int g = 0; g < p.grid_count; ++g) depth += p.depth(p.grids[g]);
  return depth * vectors_of(p.to_channels) * kLanes;
}

/// Packs [tap][from channel][to channel] as blocks of [depth][16 V], zero where no channel is.
/// `step_from` and `step_to` are the strides of the two in `weights`.
void pack(const Pass& p, const float* weights, Index step_from, Index step_to, float* packed) {
  const Index area = p.from_channels * p.to_channels;
  for (int i = 0; i < p.grid_count; ++i) {
    const Grid& g = p.grids[i];
    Index vector = 0;
    for (Index left = vectors_of(p.to_channels); left > 0;) {
      const int V = block_vectors(left);
      const Index width = V * kLanes, first_channel = vector * kLanes;
      const Index count =
          p.to_channels - first_channel < width ? p.to_channels - first_channel : width;
      for (int t = 0; t < g.tap_count; ++t)
        for (Index k = 0; k < p.from_channels; ++k, packed += width) {
          const float* w = weights + g.taps[t] * area + k * step_from + first_channel * step_to;
          if (step_to == 1)
            for (Index c = 0; c < count; ++c) packed[c] = w[c];
          else
            for (Index c = 0; c < count; ++c) packed[c] = w[c * step_to];
          for (Index c = count; c < width; ++c) packed[c] = 0;
        }
      vector += V;
      left -= V;
    }
  }
}

void copy_floats(const float* from, Index n, float* to) {
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) store(to + i, load(from + i));
  if (i < n) store(to + i, load(from + i, n - i), n - i);
}

void clear_floats(float* to, Index n) {
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) store(to + i, zero());
  if (i < n) store(to + i, zero(), n - i);
}

/// One image with its rim of zeros.
void pad_image(const Pass& p, const float* from, float* to) {
  const Index c = p.from_channels, row = p.padded_w * c, inner = p.from_w * c, left = p.left * c;
  clear_floats(to, p.top * row);
  to += p.top * row;
  for (Index h = 0; h < p.from_h; ++h, to += row, from += inner) {
    clear_floats(to, left);
    copy_floats(from, inner, to + left);
    clear_floats(to + left + inner, row - left - inner);
  }
  clear_floats(to, (p.padded_h - p.top - p.from_h) * row);
}

/// The tiles of one output row, as equal as they can be.
void run_row(const RunTile* tiles, int most, Index columns, Tile& t) {
  const Index count = (columns + most - 1) / most;
  const Index small = columns / count, larger = columns % count;
  const float* from = t.from;
  float* to = t.to;
  for (Index i = 0; i < count; ++i) {
    const Index P = small + (i < larger ? 1 : 0);
    tiles[P - 1](t);
    t.from += P * t.from_pixel;
    t.to += P * t.to_pixel;
  }
  t.from = from;
  t.to = to;
}

void run_chunk(const Pass& p, const Grid& g, const RunTile* tiles, int most, Index images,
               const float* from, Index from_image, float* to, Tile& t) {
  for (Index n = 0; n < images; ++n)
    for (Index row = 0; row < g.rows; ++row) {
      t.from = from + n * from_image + row * g.from_row;
      t.to = to + n * p.to_image + row * g.to_row;
      run_row(tiles, most, g.columns, t);
    }
}

/// All output pixels of one grid for `images` images.
void run_grid(const Pass& p, const Grid& g, Index images, const float* from, Index from_image,
              const float* weights, float* to, bool accumulate) {
  if (g.rows <= 0 || g.columns <= 0 || (accumulate && g.run_count == 0)) return;
  Index channel = 0;
  for (Index left = vectors_of(p.to_channels); left > 0;) {
    const int V = block_vectors(left);
    const RunTile* tiles = tiles_of(V);
    const int most = kPixels[V - 1];
    const Index remaining = p.to_channels - channel - (V - 1) * kLanes;
    float* block_to = to + g.to_start + channel;
    Tile t = {};
    t.from_pixel = g.from_pixel;
    t.to_pixel = g.to_pixel;
    t.last_lanes = remaining < kLanes ? remaining : kLanes;
    t.continues = accumulate;

    const Index limit = kChunkFloats / (V * kLanes);
    if (p.depth(g) <= limit) {
      t.runs = g.runs;
      t.run_count = g.run_count;
      t.weights = weights;
      run_chunk(p, g, tiles, most, images, from, from_image, block_to, t);
      weights += p.depth(g) * V * kLanes;
    } else {
      for (int r = 0; r < g.run_count; ++r) {
        const Index length = g.runs[r].length, pieces = (length + limit - 1) / limit;
        for (Index i = 0; i < pieces; ++i) {
          const Index start = length * i / pieces, end = length * (i + 1) / pieces;
          const Run piece = {g.runs[r].offset + start, end - start};
          t.runs = &piece;
          t.run_count = 1;
          t.weights = weights;
          run_chunk(p, g, tiles, most, images, from, from_image, block_to, t);
          weights += (end - start) * V * kLanes;
          t.continues = true;
        }
      }
    }
    channel += V * kLanes;
    left -= V;
  }
}

/// The whole pass without padding, as one long row where pixels follow each other evenly.
void run_unpadded(const Pass& p, const float* from, const float* prepared, float* to,
                  bool accumulate) {
  for (int i = 0; i < p.grid_count; ++i) {
    Grid g = p.grids[i];
    Index images = p.images;
    const bool even = g.from_row == g.columns * g.from_pixel &&
                      g.to_row == g.columns * g.to_pixel && p.from_image == g.rows * g.from_row &&
                      p.to_image == g.rows * g.to_row;
    if (even) {
      g.columns *= g.rows * images;
      g.rows = images = 1;
    }
    run_grid(p, g, images, from, p.from_image, prepared, to, accumulate);
    prepared += p.depth(g) * vectors_of(p.to_channels) * kLanes;
  }
}

void run_pass(const Pass& p, const float* from, const float* prepared, float* to, bool accumulate,
              float* workspace) {
  if (!p.padded) {
    run_unpadded(p, from, prepared, to, accumulate);
    return;
  }
  const Index group = p.group();
  for (Index first = 0; first < p.images; first += group) {
    const Index images = p.images - first < group ? p.images - first : group;
    for (Index n = 0; n < images; ++n)
      pad_image(p, from + (first + n) * p.from_image, workspace + n * p.padded_image());
    const float* weights = prepared;
    for (int i = 0; i < p.grid_count; ++i) {
      const Grid& g = p.grids[i];
      run_grid(p, g, images, workspace, p.padded_image(), weights, to + first * p.to_image,
               accumulate);
      weights += p.depth(g) * vectors_of(p.to_channels) * kLanes;
    }
  }
}

Index workspace_size(const Pass& p) { return p.padded ? p.group() * p.padded_image() : 0; }

bool supports(const ConvShape&) { return true; }

Index forward_prepared_size(const ConvShape& s) { return prepared_size(forward_pass(s)); }
void forward_prepare(const ConvShape& s, const float* weights, float* prepared) {
  pack(forward_pass(s), weights, s.c_out, 1, prepared);
}
Index forward_workspace_size(const ConvShape& s) { return workspace_size(forward_pass(s)); }
void forward_run(const ConvShape& s, const float* x, const float* prepared, float* y,
                 bool accumulate, float* workspace) {
  run_pass(forward_pass(s), x, prepared, y, accumulate, workspace);
}

Index backward_prepared_size(const ConvShape& s) { return prepared_size(backward_pass(s)); }
void backward_prepare(const ConvShape& s, const float* weights, float* prepared) {
  pack(backward_pass(s), weights, 1, s.c_out, prepared);
}
Index backward_workspace_size(const ConvShape& s) { return workspace_size(backward_pass(s)); }
void backward_run(const ConvShape& s, const float* dy, const float* prepared, float* dx,
                  bool accumulate, float* workspace) {
  run_pass(backward_pass(s), dy, prepared, dx, accumulate, workspace);
}

}  // namespace

const ConvPass<float> direct_forward = {
    "direct", supports, forward_prepared_size, forward_prepare, forward_workspace_size, forward_run,
};
const ConvPass<float> direct_backward_data = {
    "direct",     supports, backward_prepared_size, backward_prepare, backward_workspace_size,
    backward_run,
};

}  // namespace phasor::kernels::PHASOR_ISA
