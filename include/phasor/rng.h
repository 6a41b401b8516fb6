// Counter-based random numbers: every draw is a pure function of (seed, purpose, epoch, sample).
#pragma once

#include <array>
#include <cstdint>

#include "phasor/api.h"

namespace phasor {

/// Philox-4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11): ten rounds
/// of a keyed bijection on 128-bit counters. No state, so nothing depends on order or threads.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                              std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// What a draw is for; two purposes never share a number.
enum class Purpose : std::uint32_t {
  init = 1,       ///< initial weights: epoch = FNV-1a of the parameter's name, sample = element
  order = 2,      ///< order of the samples within an epoch
  augment = 3,    ///< crop and flip of one sample in one epoch
  synthetic = 4,  ///< the synthetic data set
  check = 5,      ///< inputs of tests and conformance checks
  pairing = 6,    ///< pairs of channels: epoch = number of channels, sample = position
};

/// Four independent 32-bit numbers for (seed, purpose, epoch, sample).
/// The key is the seed; the counter holds sample (64 bits), epoch and purpose.
constexpr std::array<std::uint32_t, 4> draw(std::uint64_t seed, Purpose purpose,
                                            std::uint32_t epoch, std::uint64_t sample) {
  return philox({static_cast<std::uint32_t>(sample), static_cast<std::uint32_t>(sample >> 32),
                 epoch, static_cast<std::uint32_t>(purpose)},
                {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

/// Uniform in the open interval (0, 1), symmetric about 1/2, exact in double.
constexpr double uniform(std::uint32_t bits) { return (bits + 0.5) * 0x1p-32; }

/// Uniform integer in [0, bound), by the high word of a product (bias below bound / 2^32).
constexpr std::uint32_t uniform_below(std::uint32_t bits, std::uint32_t bound) {
  return static_cast<std::uint32_t>((std::uint64_t{bits} * bound) >> 32);
}

/// Inverse of the standard normal distribution function for p in (0, 1), relative error below
/// 1.2e-9. Only + - * / and sqrt, so that every machine gives the same bits.
PHASOR_API double normal_quantile(double p);

}  // namespace phasor
