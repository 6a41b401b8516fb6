// Vec: sixteen floats, the one vector type of the CPU kernels: 1 zmm, 2 ymm, or a plain array.
// Every set computes the same sixteen lanes with the same roundings, so a kernel written over Vec
// gives the same bits for AVX2+FMA and AVX-512 however it is tiled. Baseline multiplies, then adds.
//
// Only what all sets round alike: add, subtract, multiply, fused multiply-add, exact divide and
// square root, minimum and maximum, comparisons. No approximate reciprocals.
#pragma once

#include <cstdint>

#if defined(PHASOR_ISA_avx2) || defined(PHASOR_ISA_avx512)
#include <immintrin.h>
#else
#include <math.h>
#endif

#define PHASOR_INLINE inline __attribute__((always_inline))

namespace phasor::kernels::PHASOR_ISA {

using Index = std::int64_t;
constexpr Index kLanes = 16;

#if defined(PHASOR_ISA_avx512)

struct Vec {
  __m512 v;
};
/// The number of Vec accumulators a kernel can hold in registers beside its operands.
constexpr int kAccumulators = 24;

PHASOR_INLINE __mmask16 first(Index count) { return static_cast<__mmask16>((1u << count) - 1u); }

PHASOR_INLINE Vec zero() { return {_mm512_setzero_ps()}; }
PHASOR_INLINE Vec splat(float x) { return {_mm512_set1_ps(x)}; }
PHASOR_INLINE Vec load(const float* p) { return {_mm512_loadu_ps(p)}; }
/// The first `count` lanes (0..16) from memory, the others zero; reads nothing beyond.
PHASOR_INLINE Vec load(const float* p, Index count) {
  return {_mm512_maskz_loadu_ps(first(count), p)};
}
PHASOR_INLINE void store(float* p, Vec a) { _mm512_storeu_ps(p, a.v); }
PHASOR_INLINE void store(float* p, Vec a, Index count) {
  _mm512_mask_storeu_ps(p, first(count), a.v);
}
PHASOR_INLINE Vec operator+(Vec a, Vec b) { return {_mm512_add_ps(a.v, b.v)}; }
PHASOR_INLINE Vec operator-(Vec a, Vec b) { return {_mm512_sub_ps(a.v, b.v)}; }
PHASOR_INLINE Vec operator*(Vec a, Vec b) { return {_mm512_mul_ps(a.v, b.v)}; }
PHASOR_INLINE Vec operator/(Vec a, Vec b) { return {_mm512_div_ps(a.v, b.v)}; }
/// a * b + c, rounded once.
PHASOR_INLINE Vec fma(Vec a, Vec b, Vec c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
/// c - a * b, rounded once.
PHASOR_INLINE Vec fnma(Vec a, Vec b, Vec c) { return {_mm512_fnmadd_ps(a.v, b.v, c.v)}; }
PHASOR_INLINE Vec sqrt(Vec a) { return {_mm512_sqrt_ps(a.v)}; }
/// a > b ? a : b in each lane (b where either is NaN).
PHASOR_INLINE Vec max(Vec a, Vec b) { return {_mm512_max_ps(a.v, b.v)}; }
PHASOR_INLINE Vec min(Vec a, Vec b) { return {_mm512_min_ps(a.v, b.v)}; }
PHASOR_INLINE Vec abs(Vec a) {
  return {_mm512_castsi512_ps(
      _mm512_and_si512(_mm512_castps_si512(a.v), _mm512_set1_epi32(0x7FFFFFFF)))};
}
/// test > 0 ? a : 0 in each lane.
PHASOR_INLINE Vec where_positive(Vec test, Vec a) {
  return {_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(test.v, _mm512_setzero_ps(), _CMP_GT_OQ), a.v)};
}
/// Lanes 2i and 2i+1 exchanged.
PHASOR_INLINE Vec swap_pairs(Vec a) { return {_mm512_permute_ps(a.v, 0xB1)}; }
/// Each lane plus the one `distance` (8, 4, 2 or 1) away by exclusive or: a step of the 16-way tree.
template <int distance>
PHASOR_INLINE Vec add_across(Vec a) {
  if constexpr (distance == 8) return {_mm512_add_ps(a.v, _mm512_shuffle_f32x4(a.v, a.v, 0x4E))};
  if constexpr (distance == 4) return {_mm512_add_ps(a.v, _mm512_shuffle_f32x4(a.v, a.v, 0xB1))};
  if constexpr (distance == 2) return {_mm512_add_ps(a.v, _mm512_permute_ps(a.v, 0x4E))};
  return {_mm512_add_ps(a.v, _mm512_permute_ps(a.v, 0xB1))};
}
PHASOR_INLINE float first_lane(Vec a) { return _mm512_cvtss_f32(a.v); }

#elif defined(PHASOR_ISA_avx2)

struct Vec {
  __m256 lo, hi;
};
constexpr int kAccumulators = 6;

PHASOR_INLINE __m256i first8(Index count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

PHASOR_INLINE Vec zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
PHASOR_INLINE Vec splat(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
PHASOR_INLINE Vec load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
PHASOR_INLINE Vec load(const float* p, Index count) {
  return {_mm256_maskload_ps(p, first8(count)), _mm256_maskload_ps(p + 8, first8(count - 8))};
}
PHASOR_INLINE void store(float* p, Vec a) {
  _mm256_storeu_ps(p, a.lo);
  _mm256_storeu_ps(p + 8, a.hi);
}
PHASOR_INLINE void store(float* p, Vec a, Index count) {
  _mm256_maskstore_ps(p, first8(count), a.lo);
  _mm256_maskstore_ps(p + 8, first8(count - 8), a.hi);
}
PHASOR_INLINE Vec operator+(Vec a, Vec b) {
  return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}
PHASOR_INLINE Vec operator-(Vec a, Vec b) {
  return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}
PHASOR_INLINE Vec operator*(Vec a, Vec b) {
  return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}
PHASOR_INLINE Vec operator/(Vec a, Vec b) {
  return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
}
PHASOR_INLINE Vec fma(Vec a, Vec b, Vec c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
PHASOR_INLINE Vec fnma(Vec a, Vec b, Vec c) {
  return {_mm256_fnmadd_ps(a.lo, b.lo, c.lo), _mm256_fnmadd_ps(a.hi, b.hi, c.hi)};
}
PHASOR_INLINE Vec sqrt(Vec a) { return {_mm256_sqrt_ps(a.lo), _mm256_sqrt_ps(a.hi)}; }
PHASOR_INLINE Vec max(Vec a, Vec b) {
  return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}
PHASOR_INLINE Vec min(Vec a, Vec b) {
  return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)};
}
PHASOR_INLINE Vec abs(Vec a) {
  const __m256 mask = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF));
  return {_mm256_and_ps(a.lo, mask), _mm256_and_ps(a.hi, mask)};
}
PHASOR_INLINE Vec where_positive(Vec test, Vec a) {
  const __m256 none = _mm256_setzero_ps();
  return {_mm256_and_ps(_mm256_cmp_ps(test.lo, none, _CMP_GT_OQ), a.lo),
          _mm256_and_ps(_mm256_cmp_ps(test.hi, none, _CMP_GT_OQ), a.hi)};
}
PHASOR_INLINE Vec swap_pairs(Vec a) {
  return {_mm256_permute_ps(a.lo, 0xB1), _mm256_permute_ps(a.hi, 0xB1)};
}
template <int distance>
PHASOR_INLINE Vec add_across(Vec a) {
  if constexpr (distance == 8) {
    return {_mm256_add_ps(a.lo, a.hi), _mm256_add_ps(a.hi, a.lo)};
  } else if constexpr (distance == 4) {
    return {_mm256_add_ps(a.lo, _mm256_permute2f128_ps(a.lo, a.lo, 1)),
            _mm256_add_ps(a.hi, _mm256_permute2f128_ps(a.hi, a.hi, 1))};
  } else {
    constexpr int order = distance == 2 ? 0x4E : 0xB1;
    return {_mm256_add_ps(a.lo, _mm256_permute_ps(a.lo, order)),
            _mm256_add_ps(a.hi, _mm256_permute_ps(a.hi, order))};
  }
}
PHASOR_INLINE float first_lane(Vec a) { return _mm256_cvtss_f32(a.lo); }

#else

struct Vec {
  float lane[16];
};
constexpr int kAccumulators = 2;

template <class Each>
PHASOR_INLINE Vec each_lane(Each each) {
  Vec r;
  for (int i = 0; i < 16; ++i) r.lane[i] = each(i);
  return r;
}
PHASOR_INLINE Vec zero() {
  return each_lane([](int) { return 0.0f; });
}
PHASOR_INLINE Vec splat(float x) {
  return each_lane([&](int) { return x; });
}
PHASOR_INLINE Vec load(const float* p) {
  return each_lane([&](int i) { return p[i]; });
}
PHASOR_INLINE Vec load(const float* p, Index count) {
  return each_lane([&](int i) { return i < count ? p[i] : 0.0f; });
}
PHASOR_INLINE void store(float* p, Vec a) {
  for (int i = 0; i < 16; ++i) p[i] = a.lane[i];
}
PHASOR_INLINE void store(float* p, Vec a, Index count) {
  for (int i = 0; i < 16; ++i)
    if (i < count) p[i] = a.lane[i];
}
PHASOR_INLINE Vec operator+(Vec a, Vec b) {
  return each_lane([&](int i) { return a.lane[i] + b.lane[i]; });
}
PHASOR_INLINE Vec operator-(Vec a, Vec b) {
  return each_lane([&](int i) { return a.lane[i] - b.lane[i]; });
}
PHASOR_INLINE Vec operator*(Vec a, Vec b) {
  return each_lane([&](int i) { return a.lane[i] * b.lane[i]; });
}
PHASOR_INLINE Vec operator/(Vec a, Vec b) {
  return each_lane([&](int i) { return a.lane[i] / b.lane[i]; });
}
PHASOR_INLINE Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
PHASOR_INLINE Vec fnma(Vec a, Vec b, Vec c) { return c - a * b; }
PHASOR_INLINE Vec sqrt(Vec a) {
  return each_lane([&](int i) { return ::sqrtf(a.lane[i]); });
}
PHASOR_INLINE Vec max(Vec a, Vec b) {
  return each_lane([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
PHASOR_INLINE Vec min(Vec a, Vec b) {
  return each_lane([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}
PHASOR_INLINE Vec abs(Vec a) {
  return each_lane([&](int i) { return __builtin_fabsf(a.lane[i]); });
}
PHASOR_INLINE Vec where_positive(Vec test, Vec a) {
  return each_lane([&](int i) { return test.lane[i] > 0 ? a.lane[i] : 0.0f; });
}
PHASOR_INLINE Vec swap_pairs(Vec a) {
  return each_lane([&](int i) { return a.lane[i ^ 1]; });
}
template <int distance>
PHASOR_INLINE Vec add_across(Vec a) {
  return each_lane([&](int i) { return a.lane[i] + a.lane[i ^ distance]; });
}
PHASOR_INLINE float first_lane(Vec a) { return a.lane[0]; }

#endif

/// Sum of the sixteen lanes by the fixed tree: distances 8, 4, 2, 1. In every lane.
PHASOR_INLINE Vec sum_lanes_of(Vec a) {
  return add_across<1>(add_across<2>(add_across<4>(add_across<8>(a))));
}

}  // namespace phasor::kernels::PHASOR_ISA
