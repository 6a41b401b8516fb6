// The entry that libFuzzer calls; PHASOR_FUZZ_TARGET names one of targets.h.
#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  phasor::fuzz::PHASOR_FUZZ_TARGET(data, size);
  return 0;
}
