// Shape: the extents of a contiguous tensor, at most six of them, without heap storage.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "phasor/error.h"

namespace phasor {

using Index = std::int64_t;

/// Extents of a row-major tensor, outermost first. Images are NHWC, convolution weights HWIO.
/// A rank-0 shape is a scalar with one element. Extents may be zero.
class PHASOR_API Shape {
 public:
  static constexpr int kMaxRank = 6;

  Shape() = default;
  Shape(std::initializer_list<Index> extents)
      : Shape(std::span<const Index>(extents.begin(), extents.size())) {}
  explicit Shape(std::span<const Index> extents) : rank_(static_cast<int>(extents.size())) {
    PHASOR_CHECK(extents.size() <= kMaxRank, "[shape] at most ", kMaxRank, " axes; got ",
                 extents.size());
    for (int axis = 0; axis < rank_; ++axis) {
      PHASOR_CHECK(extents[axis] >= 0, "[shape] extents are not negative; got ", extents[axis],
                   " on axis ", axis);
      extents_[axis] = extents[axis];
    }
  }

  int rank() const { return rank_; }

  /// Extent of an axis; a negative axis counts from the last one.
  Index operator[](int axis) const { return extents_[axis < 0 ? axis + rank_ : axis]; }
  void set(int axis, Index extent) { extents_[axis < 0 ? axis + rank_ : axis] = extent; }

  /// Number of elements.
  Index size() const {
    Index product = 1;
    for (int axis = 0; axis < rank_; ++axis) product *= extents_[axis];
    return product;
  }

  bool operator==(const Shape& other) const {
    if (rank_ != other.rank_) return false;
    for (int axis = 0; axis < rank_; ++axis)
      if (extents_[axis] != other.extents_[axis]) return false;
    return true;
  }

  /// `[64,32,32,3]`.
  std::string str() const;

 private:
  int rank_ = 0;
  std::array<Index, kMaxRank> extents_{};
};

/// The shape of an elementwise result by NumPy's broadcasting rule; `op` names the caller in
/// errors.
PHASOR_API Shape broadcast(const Shape& a, const Shape& b, const char* op);

}  // namespace phasor
