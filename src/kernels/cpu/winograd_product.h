// The small matrix products between transforms, in register tiles.
#pragma once

#include "kernels/cpu/winograd_part.h"

namespace phasor::kernels::PHASOR_ISA {

/// Rows (tiles, or input channels) and vectors of 16 output channels that accumulate in registers.
#if defined(PHASOR_ISA_avx512)
constexpr int kRows1 = 16, kRows2 = 8, kVectors = 2;
#elif defined(PHASOR_ISA_avx2)
constexpr int kRows1 = 6, kRows2 = 6, kVectors = 1;
#else
constexpr int kRows1 = 1, kRows2 = 1, kVectors = 1;
#endif

/// Continues one chain of multiply-adds over k = 0..depth-1 for each number of acc:
///   acc[r][v] += a[r * a_row + k * a_step] * b[k * b_step + v * b_vector + (0..15)]
/// With `ahead`, b is also fetched that many floats ahead (its lines follow each other).
template <int rows, int vectors, int a_row, int a_step, Index ahead = 0>
PHASOR_INLINE void multiply(Vec (&acc)[rows][vectors], Index depth, const float* a, const float* b,
                            Index b_step, Index b_vector) {
  for (Index k = 0; k < depth; ++k) {
    Vec line[vectors];
    unroll<vectors>([&](auto v) PHASOR_INLINE_LAMBDA {
      line[v] = load(b + v * b_vector);
      if constexpr (ahead > 0) __builtin_prefetch(b + v * b_vector + ahead);
    });
    unroll<rows>([&](auto r) PHASOR_INLINE_LAMBDA {
      const Vec number = splat(a[r * a_row]);
      unroll<vectors>([&](auto v)
                          PHASOR_INLINE_LAMBDA { acc[r][v] = fma(number, line[v], acc[r][v]); });
    });
    a += a_step;
    b += b_step;
  }
}

template <int rows, int vectors>
PHASOR_INLINE void clear(Vec (&acc)[rows][vectors]) {
  unroll<rows>([&](auto r) PHASOR_INLINE_LAMBDA {
    unroll<vectors>([&](auto v) PHASOR_INLINE_LAMBDA { acc[r][v] = zero(); });
  });
}

/// Calls each(Int<rows>, first row) so that `count` rows are covered: as many of `most` as fit,
/// then halves.
template <int most, class Each>
PHASOR_INLINE void cover_rows(Index count, Each each) {
  Index first = 0;
  for (; first + most <= count; first += most) each(Int<most>{}, first);
  if constexpr (most > 8) {
    if (first + 8 <= count) each(Int<8>{}, first), first += 8;
  }
  if constexpr (most > 4) {
    if (first + 4 <= count) each(Int<4>{}, first), first += 4;
  }
  if constexpr (most > 2) {
    if (first + 2 <= count) each(Int<2>{}, first), first += 2;
  }
  if constexpr (most > 1) {
    if (first < count) each(Int<1>{}, first);
  }
}

}  // namespace phasor::kernels::PHASOR_ISA
