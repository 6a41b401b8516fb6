// What the kernel tests share: the sets of this machine, numbers, guarded buffers, errors by norm.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/kernels.h"

namespace phasor::kernels::test {

inline std::vector<KernelSet> available_sets() {
  std::vector<KernelSet> sets;
  for (KernelSet set :
       {KernelSet::reference, KernelSet::baseline, KernelSet::avx2, KernelSet::avx512})
    if (available(set)) sets.push_back(set);
  return sets;
}

inline std::vector<float> random_numbers(Index n, unsigned seed, float scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> x(n);
  for (float& v : x) v = normal(engine);
  return x;
}

inline std::vector<double> widened(const std::vector<float>& x) { return {x.begin(), x.end()}; }

/// A buffer between two runs of a sentinel, off the alignment of a cache line.
class Guarded {
 public:
  explicit Guarded(Index n, float fill = 0) : size_(n), store_(n + 2 * kGuard, kSentinel) {
    std::fill_n(data(), n, fill);
  }
  explicit Guarded(const std::vector<float>& x) : Guarded(static_cast<Index>(x.size())) {
    std::copy(x.begin(), x.end(), data());
  }
  float* data() { return store_.data() + kGuard; }
  std::vector<float> values() { return {data(), data() + size_}; }
  bool intact() const {
    for (Index i = 0; i < kGuard; ++i)
      if (store_[i] != kSentinel || store_[store_.size() - 1 - i] != kSentinel) return false;
    return true;
  }

 private:
  static constexpr Index kGuard = 37;
  static constexpr float kSentinel = -7.25e11f;
  Index size_;
  std::vector<float> store_;
};

/// |a - b| / |b| in the Euclidean norm.
inline double error_by_norm(const std::vector<float>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return size == 0 ? std::sqrt(difference) : std::sqrt(difference / size);
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace phasor::kernels::test
