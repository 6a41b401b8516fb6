// What the Winograd kernels add to Vec: a part of sixteen channels small enough that a transform
// stays in registers, and masks for what lies outside an image or beyond the last channel.
#pragma once

#include "kernels/cpu/vec.h"

namespace phasor::kernels::PHASOR_ISA {

#define PHASOR_INLINE_LAMBDA __attribute__((always_inline))

PHASOR_INLINE Index smaller(Index a, Index b) { return a < b ? a : b; }
PHASOR_INLINE Index larger(Index a, Index b) { return a > b ? a : b; }
PHASOR_INLINE Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

#if defined(PHASOR_ISA_avx2)

/// Eight of sixteen channels: AVX2 has sixteen registers.
struct Part {
  __m256 v;
};
struct Mask {
  __m256i lanes;
};
constexpr Index kPartLanes = 8;

PHASOR_INLINE Mask first_lanes(Index count) { return {first8(count)}; }
PHASOR_INLINE Part part_splat(float x) { return {_mm256_set1_ps(x)}; }
PHASOR_INLINE Part part_load(const float* p) { return {_mm256_loadu_ps(p)}; }
PHASOR_INLINE Part part_load(const float* p, Mask mask) {
  return {_mm256_maskload_ps(p, mask.lanes)};
}
PHASOR_INLINE void store(float* p, Part a) { _mm256_storeu_ps(p, a.v); }
PHASOR_INLINE void store(float* p, Part a, Mask mask) { _mm256_maskstore_ps(p, mask.lanes, a.v); }
PHASOR_INLINE Mask in_register(Mask mask) { return mask; }
PHASOR_INLINE Part operator+(Part a, Part b) { return {_mm256_add_ps(a.v, b.v)}; }
PHASOR_INLINE Part operator-(Part a, Part b) { return {_mm256_sub_ps(a.v, b.v)}; }
PHASOR_INLINE Part operator*(Part a, Part b) { return {_mm256_mul_ps(a.v, b.v)}; }
PHASOR_INLINE Part fma(Part a, Part b, Part c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
PHASOR_INLINE Part fnma(Part a, Part b, Part c) { return {_mm256_fnmadd_ps(a.v, b.v, c.v)}; }

#else

using Part = Vec;
constexpr Index kPartLanes = kLanes;
PHASOR_INLINE Part part_splat(float x) { return splat(x); }
PHASOR_INLINE Part part_load(const float* p) { return load(p); }

#if defined(PHASOR_ISA_avx512)
struct Mask {
  __mmask16 lanes;
};
PHASOR_INLINE Mask first_lanes(Index count) { return {first(smaller(larger(count, 0), kLanes))}; }
PHASOR_INLINE Part part_load(const float* p, Mask mask) {
  return {_mm512_maskz_loadu_ps(mask.lanes, p)};
}
PHASOR_INLINE void store(float* p, Part a, Mask mask) { _mm512_mask_storeu_ps(p, mask.lanes, a.v); }
/// The same mask, in a mask register from here on (GCC would load it anew for every use).
PHASOR_INLINE Mask in_register(Mask mask) {
  asm("" : "+Yk"(mask.lanes));
  return mask;
}
#else
struct Mask {
  Index count;
};
PHASOR_INLINE Mask first_lanes(Index count) { return {smaller(larger(count, 0), kLanes)}; }
PHASOR_INLINE Part part_load(const float* p, Mask mask) { return load(p, mask.count); }
PHASOR_INLINE void store(float* p, Part a, Mask mask) { store(p, a, mask.count); }
PHASOR_INLINE Mask in_register(Mask mask) { return mask; }
#endif

#endif

PHASOR_INLINE Part fma(float a, Part b, Part c) { return fma(part_splat(a), b, c); }
PHASOR_INLINE Part fnma(float a, Part b, Part c) { return fnma(part_splat(a), b, c); }
PHASOR_INLINE Part operator*(float a, Part b) { return part_splat(a) * b; }

}  // namespace phasor::kernels::PHASOR_ISA
