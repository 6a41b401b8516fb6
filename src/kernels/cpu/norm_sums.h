// Sums over the rows of a norm by fixed trees, sixteen rows at a time.
//
// Elements: lane l of sixteen adds the channels l, l + 16, ... of each position in turn (lanes past
// the last channel add zero); the lanes are then added at distances 8, 4, 2, 1. Moduli of phasors:
// the same with eight lanes, distances 4, 2, 1, so that one vector serves two rows. For sixteen
// rows the tree transposes as it adds: 15 folds give the sixteen sums in one vector, with the bits
// that each row alone would give.
#pragma once

#include "kernels/cpu/vec.h"
#include "kernels/kernels.h"

namespace phasor::kernels::PHASOR_ISA {

/// Rows that are measured before they are finished: several vectors of sums in flight hide the
/// latency of the tree, the root and the divide. Wide rows go sixteen at a time, to stay in L1.
constexpr Index kBlock = 64;
inline Index block_rows(const NormRows& s) {
  if (s.positions > 1) return 1;
  return s.channels <= 64 ? kBlock : kLanes;
}

/// Widths (in vectors) that the loops are compiled for: one or two vectors of channels, or any.
template <class Body>
PHASOR_INLINE void with_width([[maybe_unused]] const NormRows& s, Body body) {
#if defined(PHASOR_ISA_avx512) || defined(PHASOR_ISA_avx2)
  if (s.positions == 1 && s.channels == kLanes) return body(Int<1>());
  if (s.positions == 1 && s.channels == 2 * kLanes) return body(Int<2>());
#endif
  body(Int<0>());
}

/// Ones in the first `count` lanes.
PHASOR_INLINE Vec ones(Index count) {
  alignas(64) static const float line[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  return load(line + kLanes - count);
}

/// each(offset, channel, lanes) for the vectors of one row of `width` vectors (0: any shape).
template <int width, class Each>
PHASOR_INLINE void over_row(const NormRows& s, Each each) {
  if constexpr (width > 0) {
    unroll<width>([&](auto v) __attribute__((always_inline)) {
      each(v.at * kLanes, v.at * kLanes, kLanes);
    });
  } else {
    const Index full = s.channels & ~(kLanes - 1), tail = s.channels - full;
    for (Index p = 0, start = 0; p < s.positions; ++p, start += s.channels) {
      for (Index c = 0; c < full; c += kLanes) each(start + c, c, kLanes);
      if (tail != 0) each(start + full, full, tail);
    }
  }
}

PHASOR_INLINE Vec load_lanes(const float* p, Index lanes) {
  return lanes == kLanes ? load(p) : load(p, lanes);
}

/// Rows i, i + 4, i + 8 and i + 12 of sixteen: a part of sums_of_rows.
PHASOR_INLINE Vec sums_of_quarter(Vec v0, Vec v4, Vec v8, Vec v12) {
  return fold<4>(fold<8>(v0, v4), fold<8>(v8, v12));
}
PHASOR_INLINE Vec sums_of_quarter(const Vec* v) { return sums_of_quarter(v[0], v[1], v[2], v[3]); }
PHASOR_INLINE Vec sums_of_quarters(const Vec* q) {
  return fold<1>(fold<2>(q[0], q[1]), fold<2>(q[2], q[3]));
}

/// Sums of sixteen rows, row i in lane i, from the sixteen lanes of each.
PHASOR_INLINE Vec sums_of_rows(const Vec* v) {
  const Vec quarters[4] = {
      sums_of_quarter(v[0], v[4], v[8], v[12]), sums_of_quarter(v[1], v[5], v[9], v[13]),
      sums_of_quarter(v[2], v[6], v[10], v[14]), sums_of_quarter(v[3], v[7], v[11], v[15])};
  return sums_of_quarters(quarters);
}

/// The same for moduli: v[i] has row 2i in its even lanes and row 2i + 1 in its odd ones.
PHASOR_INLINE Vec sums_of_row_pairs(const Vec* v) {
  const Vec a = fold<4>(fold<8>(v[0], v[2]), fold<8>(v[4], v[6]));
  const Vec b = fold<4>(fold<8>(v[1], v[3]), fold<8>(v[5], v[7]));
  return fold<2>(a, b);
}

/// |z|^2 of each phasor, in both of its lanes.
PHASOR_INLINE Vec squared_moduli(Vec x) {
  const Vec square = x * x;
  return square + swap_pairs(square);
}

/// sqrt(|z|^2 + eps) of the phasors of two vectors: even lanes a, odd lanes b.
PHASOR_INLINE Vec moduli(Vec a, Vec b, Vec eps) {
  return sqrt(weave(squared_moduli(a), squared_moduli(b)) + eps);
}

/// Where the fast path may be trusted: with 1 / statistic in this range no square that matters
/// under- or overflows, for rows of up to 2^20 elements.
constexpr float kLeastInverse = 0x1p-40f, kMostInverse = 0x1p40f;

}  // namespace phasor::kernels::PHASOR_ISA
