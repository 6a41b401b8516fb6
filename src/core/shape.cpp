#include "phasor/shape.h"

#include <algorithm>

namespace phasor {

std::string Shape::str() const {
  std::string text = "[";
  for (int axis = 0; axis < rank_; ++axis) {
    if (axis > 0) text += ',';
    text += std::to_string(extents_[axis]);
  }
  return text + "]";
}

Shape broadcast(const Shape& a, const Shape& b, const char* op) {
  const int rank = std::max(a.rank(), b.rank());
  std::array<Index, Shape::kMaxRank> extents{};
  for (int axis = 1; axis <= rank; ++axis) {
    const Index left = axis <= a.rank() ? a[-axis] : 1;
    const Index right = axis <= b.rank() ? b[-axis] : 1;
    PHASOR_CHECK(left == right || left == 1 || right == 1, "[", op, "] shapes must broadcast; got ",
                 a.str(), " and ", b.str(), "; extents from the last axis on must be equal or 1");
    extents[rank - axis] = left == 1 ? right : left;
  }
  return Shape(std::span<const Index>(extents.data(), rank));
}

}  // namespace phasor
