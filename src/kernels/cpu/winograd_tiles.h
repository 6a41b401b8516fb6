// The tile grid of a micro-batch and the transforms of a block of its tiles. The grid starts at
// each image's corner; tiles are numbered over (image, tile row, tile column).
#pragma once

#include "kernels/cpu/winograd_transforms.h"

namespace phasor::kernels::PHASOR_ISA {

/// Transformed values of a block of `capacity` tiles: [channel block of 16][points^2][tile][16],
/// with one line more for each position, so that the positions of a tile spread over the cache's
/// sets. Constant strides: 36 addresses computed at run time would not fit into the registers.
template <int capacity>
constexpr int kPositionStride = capacity* static_cast<int>(kLanes) + static_cast<int>(kLanes);
template <class F, int capacity>
constexpr Index kBlockStride = F::kPoints* F::kPoints* kPositionStride<capacity>;

template <class F>
struct Grid {
  Index height, width, rows, columns, count;

  Grid(Index n, Index h, Index w)
      : height(h),
        width(w),
        rows(ceil_div(h, F::kSide)),
        columns(ceil_div(w, F::kSide)),
        count(n * rows * columns) {}
};

/// Walks over the tiles of a grid in order.
template <class F>
struct TileWalk {
  const Grid<F>& grid;
  Index image, row, column;

  TileWalk(const Grid<F>& g, Index tile)
      : grid(g),
        image(tile / (g.rows * g.columns)),
        row(tile / g.columns % g.rows),
        column(tile % g.columns) {}

  void next() {
    if (++column < grid.columns) return;
    column = 0;
    if (++row < grid.rows) return;
    row = 0;
    ++image;
  }
  Index top() const { return row * F::kSide; }
  Index left() const { return column * F::kSide; }
};

/// Masks of the columns of a patch: `first_column` may lie left of the image.
template <int count>
PHASOR_INLINE void column_masks(Index first_column, Index width, Index lanes, Mask* mask) {
  unroll<count>([&](auto j) PHASOR_INLINE_LAMBDA {
    const Index x = first_column + j;
    mask[j] = first_lanes(x >= 0 && x < width ? lanes : 0);
  });
}

/// What reads a patch of a tile: the input with its border of one pixel, or an output gradient.
template <class F>
struct InputPatch {
  static constexpr int kSize = F::kPoints, kBorder = 1;
  template <bool masked, int stride>
  static PHASOR_INLINE void transform(const Patch& patch, Index channel, const Mask* mask,
                                      float* out) {
    transform_input<F, masked, stride>(patch, channel, mask, out);
  }
};
template <class F>
struct GradientPatch {
  static constexpr int kSize = F::kSide, kBorder = 0;
  template <bool masked, int stride>
  static PHASOR_INLINE void transform(const Patch& patch, Index channel, const Mask* mask,
                                      float* out) {
    transform_gradient<F, masked, stride>(patch, channel, mask, out);
  }
};

constexpr Index kTilesAhead = 2;

/// The channels of a tensor [n, height, width, channels] that a block takes: `from` points to the
/// first of them, `count` are transformed.
struct Channels {
  const float* from;
  Index step, count;
};

/// Fetches what a patch of a tile adds to the one before it: a square of kSide x kSide pixels.
/// Saved activations come from L3, and the rows of a patch are too short for the processor to
/// guess.
template <class F, class Kind>
PHASOR_INLINE void fetch_ahead(const TileWalk<F>& tile, const Channels& channels) {
  const Grid<F>& grid = tile.grid;
  const Index top = tile.top() + Kind::kBorder, left = tile.left() + Kind::kBorder;
  if (top + F::kSide > grid.height || left + F::kSide > grid.width) return;
  const float* pixel =
      channels.from + ((tile.image * grid.height + top) * grid.width + left) * channels.step;
  for (Index i = 0; i < F::kSide; ++i, pixel += grid.width * channels.step)
    for (Index j = 0; j < F::kSide; ++j)
      for (Index c = 0; c < channels.count; c += kLanes)
        __builtin_prefetch(pixel + j * channels.step + c);
}

/// Transforms the tiles [first, first + tiles), at most `capacity`, into blocks of 16 channels at
/// `out`. `zeros` is a line of kSize * step zeros for rows outside the image. Lanes beyond the last
/// channel become zero.
template <class F, class Kind, int capacity>
void transform_block(const Grid<F>& grid, Index first, Index tiles, const Channels& channels,
                     const float* zeros, float* out) {
  constexpr int size = Kind::kSize, stride = kPositionStride<capacity>;
  const Index whole = channels.count / kLanes * kLanes;
  const Index row_step = grid.width * channels.step;
  TileWalk<F> tile(grid, first), ahead(grid, first + kTilesAhead);
  for (Index t = 0; t < tiles; ++t, tile.next(), ahead.next()) {
    if (first + t + kTilesAhead < grid.count) fetch_ahead<F, Kind>(ahead, channels);
    const Index top = tile.top() - Kind::kBorder, left = tile.left() - Kind::kBorder;
    const float* corner =
        channels.from + ((tile.image * grid.height + top) * grid.width + left) * channels.step;
    Patch patch;
    patch.step = channels.step;
    for (Index i = 0; i < size; ++i) {
      const bool inside = top + i >= 0 && top + i < grid.height;
      patch.rows[i] = inside ? corner + i * row_step : zeros;
    }
    float* to = out + t * kLanes;
    const bool edge = left < 0 || left + size > grid.width;
    Mask mask[size] = {};
    if (edge) column_masks<size>(left, grid.width, kPartLanes, mask);
    for (Index c = 0; c < whole; c += kLanes, to += kBlockStride<F, capacity>) {
      for (Index part = 0; part < kLanes; part += kPartLanes) {
        if (edge) {
          Kind::template transform<true, stride>(patch, c + part, mask, to + part);
        } else {
          Kind::template transform<false, stride>(patch, c + part, mask, to + part);
        }
      }
    }
    if (whole < channels.count) {
      for (Index part = 0; part < kLanes; part += kPartLanes) {
        column_masks<size>(left, grid.width, channels.count - whole - part, mask);
        Kind::template transform<true, stride>(patch, whole + part, mask, to + part);
      }
    }
  }
}

}  // namespace phasor::kernels::PHASOR_ISA
