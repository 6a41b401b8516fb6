#include "kernels/peak.h"

namespace phasor::kernels {

namespace baseline {
double fma_loop(Index rounds);
}
namespace avx2 {
double fma_loop(Index rounds);
}
namespace avx512 {
double fma_loop(Index rounds);
}

double fma_loop(KernelSet set, Index rounds) {
  switch (set) {
    case KernelSet::avx512: return avx512::fma_loop(rounds);
    case KernelSet::avx2: return avx2::fma_loop(rounds);
    default: return baseline::fma_loop(rounds);
  }
}

}  // namespace phasor::kernels
