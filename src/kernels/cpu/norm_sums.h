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

constexpr Index kBlock = 16;  ///< rows (or positions) that are worked on together

/// Ones in the first `count` lanes.
PHASOR_INLINE Vec ones(Index count) {
  alignas(64) static const float line[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  return load(line + kLanes - count);
}

/// Adds up term(acc, offset, lanes) over the vectors of one row.
template <class Term>
PHASOR_INLINE Vec over_row(const NormRows& s, Term term) {
  Vec acc = zero();
  const Index full = s.channels & ~(kLanes - 1), tail = s.channels - full;
  for (Index p = 0, start = 0; p < s.positions; ++p, start += s.channels) {
    for (Index c = 0; c < full; c += kLanes) acc = term(acc, start + c, c, kLanes);
    if (tail != 0) acc = term(acc, start + full, full, tail);
  }
  return acc;
}

PHASOR_INLINE Vec load_lanes(const float* p, Index lanes) {
  return lanes == kLanes ? load(p) : load(p, lanes);
}

/// Sums of sixteen rows, row i in lane i; lane_sums(i) gives the sixteen lanes of row i. The loop
/// is left rolled: the vectors wait on the stack, which costs less than sixteen copies of it do.
template <class LaneSums>
PHASOR_INLINE Vec sums_of_rows(LaneSums lane_sums) {
  Vec v[16];
  for (int i = 0; i < 16; ++i) v[i] = lane_sums(i);
  const Vec a = fold<4>(fold<8>(v[0], v[4]), fold<8>(v[8], v[12]));
  const Vec b = fold<4>(fold<8>(v[1], v[5]), fold<8>(v[9], v[13]));
  const Vec c = fold<4>(fold<8>(v[2], v[6]), fold<8>(v[10], v[14]));
  const Vec d = fold<4>(fold<8>(v[3], v[7]), fold<8>(v[11], v[15]));
  return fold<1>(fold<2>(a, b), fold<2>(c, d));
}

/// The same for moduli: lane_sums(i) gives row 2i in the even lanes and row 2i + 1 in the odd ones.
template <class LaneSums>
PHASOR_INLINE Vec sums_of_row_pairs(LaneSums lane_sums) {
  Vec v[8];
  for (int i = 0; i < 8; ++i) v[i] = lane_sums(i);
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
