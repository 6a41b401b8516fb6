// A register-resident multiply-add loop: enough independent chains to cover the latency (4 cycles,
// 2 a cycle on the widest machines), no memory operand. What no convolution counted as direct and
// computed as direct can pass.
//
// Every lane of every chain must be seen to begin and to end differently: where the two registers
// of an AVX2 Vec hold the same numbers, or only one of them is read, the compiler computes one of
// the two, and the loop claims half again more than the machine can do. tests/bench counts the
// multiply-adds in the object code.
#include "kernels/cpu/vec.h"

namespace phasor::kernels::PHASOR_ISA {

double fma_loop(Index rounds) {
#if defined(PHASOR_ISA_avx512)
  constexpr int kChains = 12;
#elif defined(PHASOR_ISA_avx2)
  constexpr int kChains = 6;  // of two registers each
#else
  constexpr int kChains = 3;  // of four
#endif
  const Vec factor = splat(0.999999f), term = splat(1e-6f);
  alignas(64) float lanes[kLanes];
  for (Index i = 0; i < kLanes; ++i) lanes[i] = static_cast<float>(i);
  asm volatile("" : : "r"(lanes) : "memory");
  Vec chain[kChains];
#pragma GCC unroll 16
  for (int c = 0; c < kChains; ++c) chain[c] = load(lanes) + splat(static_cast<float>(c));
  for (Index round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int c = 0; c < kChains; ++c) chain[c] = fma(chain[c], factor, term);
  }
  Vec total = chain[0];
#pragma GCC unroll 16
  for (int c = 1; c < kChains; ++c) total = total + chain[c];
  store(lanes, total);
  asm volatile("" : : "r"(lanes) : "memory");  // keeps the loop alive
  return static_cast<double>(rounds) * kChains * kLanes * 2;
}

}  // namespace phasor::kernels::PHASOR_ISA
