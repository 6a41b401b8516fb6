// Vec: sixteen floats, the one vector type of the CPU kernels: 1 zmm, 2 ymm, or 4 xmm.
// Every set computes the same sixteen lanes with the same roundings, so a kernel written over Vec
// gives the same bits for AVX2+FMA and AVX-512 however it is tiled. Baseline multiplies, then adds.
//
// Only what all sets round alike: add, subtract, multiply, fused multiply-add, exact divide and
// square root, minimum and maximum, comparisons. No approximate reciprocals.
#pragma once

#include <cstdint>

#if defined(PHASOR_ISA_avx2) || defined(PHASOR_ISA_avx512)
#include <immintrin.h>
#endif

#define PHASOR_INLINE inline __attribute__((always_inline))

namespace phasor::kernels::PHASOR_ISA {

using Index = std::int64_t;
constexpr Index kLanes = 16;

template <int value>
struct Int {
  static constexpr int at = value;
  constexpr operator int() const { return value; }
};
/// body(Int<0>()), ..., body(Int<count - 1>()), written out: arrays of Vec that are indexed with
/// `at` alone stay in registers.
template <int count, int from = 0, class Body>
PHASOR_INLINE void unroll(Body&& body) {
  if constexpr (from < count) {
    body(Int<from>());
    unroll<count, from + 1>(body);
  }
}

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
/// Each lane plus the one `distance` (8, 4, 2 or 1) away by exclusive or: a step of the 16-way
/// tree.
template <int distance>
PHASOR_INLINE Vec add_across(Vec a) {
  if constexpr (distance == 8) return {_mm512_add_ps(a.v, _mm512_shuffle_f32x4(a.v, a.v, 0x4E))};
  if constexpr (distance == 4) return {_mm512_add_ps(a.v, _mm512_shuffle_f32x4(a.v, a.v, 0xB1))};
  if constexpr (distance == 2) return {_mm512_add_ps(a.v, _mm512_permute_ps(a.v, 0x4E))};
  return {_mm512_add_ps(a.v, _mm512_permute_ps(a.v, 0xB1))};
}
PHASOR_INLINE float first_lane(Vec a) { return _mm512_cvtss_f32(a.v); }
/// A step of the 16-way tree for two sums at once: the halves of each group of 2 * distance lanes
/// added, those of `a` in front of those of `b` within each group of 4 * distance (or 16) lanes.
template <int distance>
PHASOR_INLINE Vec fold(Vec a, Vec b) {
  if constexpr (distance == 8)
    return {
        _mm512_add_ps(_mm512_shuffle_f32x4(a.v, b.v, 0x44), _mm512_shuffle_f32x4(a.v, b.v, 0xEE))};
  if constexpr (distance == 4)
    return {
        _mm512_add_ps(_mm512_shuffle_f32x4(a.v, b.v, 0x88), _mm512_shuffle_f32x4(a.v, b.v, 0xDD))};
  if constexpr (distance == 2)
    return {_mm512_add_ps(_mm512_shuffle_ps(a.v, b.v, 0x44), _mm512_shuffle_ps(a.v, b.v, 0xEE))};
  return {_mm512_add_ps(_mm512_shuffle_ps(a.v, b.v, 0x88), _mm512_shuffle_ps(a.v, b.v, 0xDD))};
}
/// Even lanes of a, odd lanes of b.
PHASOR_INLINE Vec weave(Vec a, Vec b) { return {_mm512_mask_blend_ps(0xAAAA, a.v, b.v)}; }
/// Lanes 2i (or 2i + 1) in both lanes of pair i.
PHASOR_INLINE Vec twice_even(Vec a) { return {_mm512_moveldup_ps(a.v)}; }
PHASOR_INLINE Vec twice_odd(Vec a) { return {_mm512_movehdup_ps(a.v)}; }
/// p[0], p[0], p[1], p[1], ...: the first `count` (0..8) numbers, each for a pair; others zero.
PHASOR_INLINE Vec load_pairs(const float* p, Index count) {
  const __m512 x = _mm512_maskz_loadu_ps(first(count), p);
  return {
      _mm512_permutexvar_ps(_mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7), x)};
}
/// p[2i] = a[i], p[2i + 1] = b[i].
PHASOR_INLINE void store_pairs(float* p, Vec a, Vec b) {
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high =
      _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  _mm512_storeu_ps(p, _mm512_permutex2var_ps(a.v, low, b.v));
  _mm512_storeu_ps(p + 16, _mm512_permutex2var_ps(a.v, high, b.v));
}
/// Whether low <= a <= high in every lane (false where one is NaN).
PHASOR_INLINE bool all_within(Vec a, float low, float high) {
  return (_mm512_cmp_ps_mask(a.v, _mm512_set1_ps(low), _CMP_GE_OQ) &
          _mm512_cmp_ps_mask(a.v, _mm512_set1_ps(high), _CMP_LE_OQ)) == 0xFFFF;
}
/// a with the sign of s; where s is zero, zero.
PHASOR_INLINE Vec signed_like(Vec a, Vec s) {
  const __mmask16 negative = _mm512_cmp_ps_mask(s.v, _mm512_setzero_ps(), _CMP_LT_OQ);
  const __mmask16 other = _mm512_cmp_ps_mask(s.v, _mm512_setzero_ps(), _CMP_NEQ_UQ);
  return {_mm512_mask_sub_ps(_mm512_maskz_mov_ps(other, a.v), negative, _mm512_setzero_ps(), a.v)};
}

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
template <int distance>
PHASOR_INLINE Vec fold(Vec a, Vec b) {
  if constexpr (distance == 8) {
    return {_mm256_add_ps(a.lo, a.hi), _mm256_add_ps(b.lo, b.hi)};
  } else if constexpr (distance == 4) {
    return {_mm256_add_ps(_mm256_permute2f128_ps(a.lo, a.hi, 0x20),
                          _mm256_permute2f128_ps(a.lo, a.hi, 0x31)),
            _mm256_add_ps(_mm256_permute2f128_ps(b.lo, b.hi, 0x20),
                          _mm256_permute2f128_ps(b.lo, b.hi, 0x31))};
  } else {
    constexpr int front = distance == 2 ? 0x44 : 0x88, back = distance == 2 ? 0xEE : 0xDD;
    return {
        _mm256_add_ps(_mm256_shuffle_ps(a.lo, b.lo, front), _mm256_shuffle_ps(a.lo, b.lo, back)),
        _mm256_add_ps(_mm256_shuffle_ps(a.hi, b.hi, front), _mm256_shuffle_ps(a.hi, b.hi, back))};
  }
}
PHASOR_INLINE Vec weave(Vec a, Vec b) {
  return {_mm256_blend_ps(a.lo, b.lo, 0xAA), _mm256_blend_ps(a.hi, b.hi, 0xAA)};
}
PHASOR_INLINE Vec twice_even(Vec a) { return {_mm256_moveldup_ps(a.lo), _mm256_moveldup_ps(a.hi)}; }
PHASOR_INLINE Vec twice_odd(Vec a) { return {_mm256_movehdup_ps(a.lo), _mm256_movehdup_ps(a.hi)}; }
PHASOR_INLINE Vec load_pairs(const float* p, Index count) {
  const __m256 x = _mm256_maskload_ps(p, first8(count));
  return {_mm256_permutevar8x32_ps(x, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3)),
          _mm256_permutevar8x32_ps(x, _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7))};
}
PHASOR_INLINE void store_pairs(float* p, __m256 a, __m256 b) {
  const __m256 low = _mm256_unpacklo_ps(a, b), high = _mm256_unpackhi_ps(a, b);
  _mm256_storeu_ps(p, _mm256_permute2f128_ps(low, high, 0x20));
  _mm256_storeu_ps(p + 8, _mm256_permute2f128_ps(low, high, 0x31));
}
PHASOR_INLINE void store_pairs(float* p, Vec a, Vec b) {
  store_pairs(p, a.lo, b.lo);
  store_pairs(p + 16, a.hi, b.hi);
}
PHASOR_INLINE bool all_within(__m256 a, float low, float high) {
  return _mm256_movemask_ps(_mm256_and_ps(_mm256_cmp_ps(a, _mm256_set1_ps(low), _CMP_GE_OQ),
                                          _mm256_cmp_ps(a, _mm256_set1_ps(high), _CMP_LE_OQ))) ==
         0xFF;
}
PHASOR_INLINE bool all_within(Vec a, float low, float high) {
  return all_within(a.lo, low, high) && all_within(a.hi, low, high);
}
PHASOR_INLINE __m256 signed_like(__m256 a, __m256 s) {
  const __m256 none = _mm256_setzero_ps();
  const __m256 flip = _mm256_sub_ps(none, a);
  return _mm256_and_ps(_mm256_cmp_ps(s, none, _CMP_NEQ_UQ),
                       _mm256_blendv_ps(a, flip, _mm256_cmp_ps(s, none, _CMP_LT_OQ)));
}
PHASOR_INLINE Vec signed_like(Vec a, Vec s) {
  return {signed_like(a.lo, s.lo), signed_like(a.hi, s.hi)};
}

#else

/// Four floats by the compiler's vector extension: SSE, NEON or scalar code.
typedef float Quad __attribute__((vector_size(16)));
typedef int QuadBits __attribute__((vector_size(16)));

struct Vec {
  Quad a, b, c, d;
};
constexpr int kAccumulators = 2;

PHASOR_INLINE Quad quad_of(const float* p) {
  Quad x;
  __builtin_memcpy(&x, p, sizeof x);
  return x;
}
PHASOR_INLINE Vec zero() { return {Quad{}, Quad{}, Quad{}, Quad{}}; }
PHASOR_INLINE Vec splat(float x) {
  const Quad p = {x, x, x, x};
  return {p, p, p, p};
}
PHASOR_INLINE Vec load(const float* p) {
  return {quad_of(p), quad_of(p + 4), quad_of(p + 8), quad_of(p + 12)};
}
PHASOR_INLINE Vec load(const float* p, Index count) {
  float lane[16] = {};
  for (Index i = 0; i < count; ++i) lane[i] = p[i];
  return load(lane);
}
PHASOR_INLINE void store(float* p, Vec x) {
  __builtin_memcpy(p, &x.a, sizeof x.a);
  __builtin_memcpy(p + 4, &x.b, sizeof x.b);
  __builtin_memcpy(p + 8, &x.c, sizeof x.c);
  __builtin_memcpy(p + 12, &x.d, sizeof x.d);
}
PHASOR_INLINE void store(float* p, Vec x, Index count) {
  float lane[16];
  store(lane, x);
  for (Index i = 0; i < count; ++i) p[i] = lane[i];
}
/// each(part) of all four.
template <class Each>
PHASOR_INLINE Vec each_quad(Vec x, Each each) {
  return {each(x.a), each(x.b), each(x.c), each(x.d)};
}
template <class Each>
PHASOR_INLINE Vec each_quad(Vec x, Vec y, Each each) {
  return {each(x.a, y.a), each(x.b, y.b), each(x.c, y.c), each(x.d, y.d)};
}
PHASOR_INLINE Vec operator+(Vec x, Vec y) { return {x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d}; }
PHASOR_INLINE Vec operator-(Vec x, Vec y) { return {x.a - y.a, x.b - y.b, x.c - y.c, x.d - y.d}; }
PHASOR_INLINE Vec operator*(Vec x, Vec y) { return {x.a * y.a, x.b * y.b, x.c * y.c, x.d * y.d}; }
PHASOR_INLINE Vec operator/(Vec x, Vec y) { return {x.a / y.a, x.b / y.b, x.c / y.c, x.d / y.d}; }
PHASOR_INLINE Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
PHASOR_INLINE Vec fnma(Vec a, Vec b, Vec c) { return c - a * b; }
PHASOR_INLINE Vec sqrt(Vec x) {
  return each_quad(x, [](Quad p) {
    return Quad{__builtin_sqrtf(p[0]), __builtin_sqrtf(p[1]), __builtin_sqrtf(p[2]),
                __builtin_sqrtf(p[3])};
  });
}
/// p where the mask is set, else zero.
PHASOR_INLINE Quad keep(QuadBits mask, Quad p) { return (Quad)(mask & (QuadBits)p); }
PHASOR_INLINE Quad choose(QuadBits mask, Quad yes, Quad no) {
  return (Quad)((mask & (QuadBits)yes) | (~mask & (QuadBits)no));
}
PHASOR_INLINE Vec max(Vec x, Vec y) {
  return each_quad(x, y, [](Quad p, Quad q) { return choose(p > q, p, q); });
}
PHASOR_INLINE Vec min(Vec x, Vec y) {
  return each_quad(x, y, [](Quad p, Quad q) { return choose(p < q, p, q); });
}
PHASOR_INLINE Vec abs(Vec x) {
  return each_quad(x, [](Quad p) { return keep(QuadBits{} + 0x7FFFFFFF, p); });
}
PHASOR_INLINE Vec where_positive(Vec test, Vec x) {
  return each_quad(test, x, [](Quad p, Quad q) { return keep(p > Quad{}, q); });
}
PHASOR_INLINE Vec swap_pairs(Vec x) {
  return each_quad(x, [](Quad p) { return __builtin_shufflevector(p, p, 1, 0, 3, 2); });
}
template <int distance>
PHASOR_INLINE Vec add_across(Vec x) {
  if constexpr (distance == 8) return x + Vec{x.c, x.d, x.a, x.b};
  if constexpr (distance == 4) return x + Vec{x.b, x.a, x.d, x.c};
  if constexpr (distance == 2)
    return each_quad(x, [](Quad p) { return p + __builtin_shufflevector(p, p, 2, 3, 0, 1); });
  return x + swap_pairs(x);
}
PHASOR_INLINE float first_lane(Vec x) { return x.a[0]; }
template <int distance>
PHASOR_INLINE Vec fold(Vec x, Vec y) {
  if constexpr (distance == 8) return {x.a + x.c, x.b + x.d, y.a + y.c, y.b + y.d};
  if constexpr (distance == 4) return {x.a + x.b, x.c + x.d, y.a + y.b, y.c + y.d};
  if constexpr (distance == 2)
    return each_quad(x, y, [](Quad p, Quad q) {
      return __builtin_shufflevector(p, q, 0, 1, 4, 5) + __builtin_shufflevector(p, q, 2, 3, 6, 7);
    });
  return each_quad(x, y, [](Quad p, Quad q) {
    return __builtin_shufflevector(p, q, 0, 2, 4, 6) + __builtin_shufflevector(p, q, 1, 3, 5, 7);
  });
}
PHASOR_INLINE Vec weave(Vec x, Vec y) {
  return each_quad(x, y, [](Quad p, Quad q) { return __builtin_shufflevector(p, q, 0, 5, 2, 7); });
}
PHASOR_INLINE Vec twice_even(Vec x) {
  return each_quad(x, [](Quad p) { return __builtin_shufflevector(p, p, 0, 0, 2, 2); });
}
PHASOR_INLINE Vec twice_odd(Vec x) {
  return each_quad(x, [](Quad p) { return __builtin_shufflevector(p, p, 1, 1, 3, 3); });
}
PHASOR_INLINE Quad low_pairs(Quad p) { return __builtin_shufflevector(p, p, 0, 0, 1, 1); }
PHASOR_INLINE Quad high_pairs(Quad p) { return __builtin_shufflevector(p, p, 2, 2, 3, 3); }
PHASOR_INLINE Vec load_pairs(const float* p, Index count) {
  const Vec x = load(p, count);
  return {low_pairs(x.a), high_pairs(x.a), low_pairs(x.b), high_pairs(x.b)};
}
PHASOR_INLINE void store_pairs(float* p, Vec x, Vec y) {
  const Vec low =
      each_quad(x, y, [](Quad q, Quad r) { return __builtin_shufflevector(q, r, 0, 4, 1, 5); });
  const Vec high =
      each_quad(x, y, [](Quad q, Quad r) { return __builtin_shufflevector(q, r, 2, 6, 3, 7); });
  store(p, {low.a, high.a, low.b, high.b});
  store(p + 16, {low.c, high.c, low.d, high.d});
}
PHASOR_INLINE bool all_within(Vec x, float low, float high) {
  float lane[16];
  store(lane, x);
  bool within = true;
  for (float v : lane) within = within && v >= low && v <= high;
  return within;
}
PHASOR_INLINE Vec signed_like(Vec x, Vec s) {
  return each_quad(
      x, s, [](Quad p, Quad q) { return keep(q != Quad{}, choose(q < Quad{}, Quad{} - p, p)); });
}

#endif

/// Sum of the sixteen lanes by the fixed tree: distances 8, 4, 2, 1. In every lane.
PHASOR_INLINE Vec sum_lanes_of(Vec a) {
  return add_across<1>(add_across<2>(add_across<4>(add_across<8>(a))));
}

}  // namespace phasor::kernels::PHASOR_ISA
