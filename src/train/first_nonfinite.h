// Where a step went non-finite: the first value that is NaN or infinite, in the order of passes.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "phasor/autograd.h"
#include "train/trainer.h"

namespace phasor {

/// "nan", "+inf" or "-inf".
template <class T>
std::string kind_of(T value) {
  return std::isnan(value) ? "nan" : value > 0 ? "+inf" : "-inf";
}

/// The first of `count` values that is not finite; null where all are.
template <class T>
const T* first_nonfinite(const void* data, Index count) {
  const T* values = static_cast<const T*>(data);
  const T* found = std::find_if(values, values + count, [](T v) { return !std::isfinite(v); });
  return found == values + count ? nullptr : found;
}

/// Notes the first non-finite value or gradient that a tape produces.
template <class T>
class FirstNonFinite final : public TapeObserver {
 public:
  void on_forward(const Tape&, const Node& node) override { note(node, node.data, "forward"); }
  void on_backward(const Tape&, const Node& node) override { note(node, node.grad, "backward"); }
  const std::optional<NonFinite>& found() const { return found_; }

 private:
  void note(const Node& node, const void* data, const char* pass) {
    if (found_ || node.op == nullptr) return;
    if (const T* bad = first_nonfinite<T>(data, node.shape.size()))
      found_ = NonFinite{node.scope[0] != '\0' ? node.scope : "loss", node.op->name, pass,
                         kind_of(*bad)};
  }

  std::optional<NonFinite> found_;
};

}  // namespace phasor
