// A register-resident multiply-add loop: enough independent chains to cover the latency (4 cycles,
// 2 a cycle on the widest machines), no memory operand. What no convolution counted as direct and
// computed as direct can pass.
#include "kernels/cpu/vec.h"

namespace phasor::kernels::PHASOR_ISA {

double fma_loop(Index rounds) {
#if defined(PHASOR_ISA_avx2)
  constexpr int kChains = 6;  // of two ymm registers each
#else
  constexpr int kChains = 12;
#endif
  const Vec factor = splat(0.999999f), term = splat(1e-6f);
  Vec chain[kChains];
#pragma GCC unroll 16
  for (int c = 0; c < kChains; ++c) chain[c] = splat(static_cast<float>(c));
  for (Index round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int c = 0; c < kChains; ++c) chain[c] = fma(chain[c], factor, term);
  }
  Vec total = chain[0];
#pragma GCC unroll 16
  for (int c = 1; c < kChains; ++c) total = total + chain[c];
  volatile float sink = first_lane(total);  // keeps the loop alive
  static_cast<void>(sink);
  return static_cast<double>(rounds) * kChains * kLanes * 2;
}

}  // namespace phasor::kernels::PHASOR_ISA
