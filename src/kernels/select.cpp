// Which kernels this processor runs.
#include <xmmintrin.h>

#include <cstdlib>
#include <string_view>

#include "kernels/cpu/tables.h"
#include "kernels/kernels.h"
#include "kernels/reference/reference.h"
#include "phasor/error.h"

namespace phasor::kernels {
namespace {

constexpr KernelSet kSets[] = {KernelSet::reference, KernelSet::baseline, KernelSet::avx2,
                               KernelSet::avx512};

KernelSet best_available() {
  KernelSet best = KernelSet::reference;
  for (KernelSet set : kSets)
    if (available(set)) best = set;
  return best;
}

KernelSet named_set(std::string_view name) {
  for (KernelSet set : kSets)
    if (name == name_of(set)) {
      PHASOR_CHECK(available(set),
                   "[kernels] PHASOR_KERNELS must name a set that this processor "
                   "runs; got ",
                   name, "; the best here is ", name_of(best_available()));
      return set;
    }
  fail(ErrorKind::usage,
       "[kernels] PHASOR_KERNELS must be reference, baseline, avx2 or avx512; got ", name,
       "; unset it for the best available set");
}

}  // namespace

const char* name_of(KernelSet set) {
  switch (set) {
    case KernelSet::reference:
      return "reference";
    case KernelSet::baseline:
      return "baseline";
    case KernelSet::avx2:
      return "avx2";
    case KernelSet::avx512:
      return "avx512";
  }
  return "unknown";
}

// __builtin_cpu_supports asks the operating system too: it reads XCR0 before it reports AVX.
bool available(KernelSet set) {
  switch (set) {
    case KernelSet::reference:
    case KernelSet::baseline:
      return true;
    case KernelSet::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case KernelSet::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("fma");
  }
  return false;
}

KernelSet default_set() {
  const char* name = std::getenv("PHASOR_KERNELS");
  return name != nullptr && *name != '\0' ? named_set(name) : best_available();
}

template <>
const Table<float>& table<float>(KernelSet set) {
  switch (set) {
    case KernelSet::baseline:
      return baseline::kernels;
    case KernelSet::avx2:
      return avx2::kernels;
    case KernelSet::avx512:
      return avx512::kernels;
    default:
      return reference::Kernels<float>::table;
  }
}

template <>
const Table<double>& table<double>(KernelSet) {
  return reference::Kernels<double>::table;
}

namespace {
constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
}

FlushSubnormals::FlushSubnormals() : saved_(_mm_getcsr()) {
  _mm_setcsr(saved_ | kFlushToZero | kDenormalsAreZero);
}

FlushSubnormals::~FlushSubnormals() { _mm_setcsr(saved_); }

}  // namespace phasor::kernels
