// Tensor: a shape, a number type and shared, 64-byte aligned storage. It knows no graph.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "phasor/shape.h"

namespace phasor {

enum class DType : std::uint8_t { float32, float64 };

constexpr std::size_t size_of(DType dtype) { return dtype == DType::float32 ? 4 : 8; }
constexpr const char* name_of(DType dtype) {
  return dtype == DType::float32 ? "float32" : "float64";
}

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::float64;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

/// Calls `body(T{})` with T = float or double.
template <class Body>
decltype(auto) dispatch(DType dtype, Body&& body) {
  return dtype == DType::float32 ? body(float{}) : body(double{});
}

/// A contiguous row-major array. Copies share storage; `clone` does not.
/// Every tensor is contiguous: a view copies, or only reinterprets the shape.
class PHASOR_API Tensor {
 public:
  Tensor() = default;
  /// Zeros.
  Tensor(Shape shape, DType dtype);
  /// Takes the values in row-major order, converted to `dtype`; their number must fit the shape.
  Tensor(Shape shape, std::span<const double> values, DType dtype = DType::float64);

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  Index size() const { return shape_.size(); }
  bool empty() const { return storage_ == nullptr; }

  void* raw() { return storage_.get(); }
  const void* raw() const { return storage_.get(); }
  template <class T>
  T* data() {
    PHASOR_CHECK(dtype_of<T> == dtype_, "[tensor] asked for ", name_of(dtype_of<T>), " of a ",
                 name_of(dtype_), " tensor");
    return reinterpret_cast<T*>(storage_.get());
  }
  template <class T>
  const T* data() const {
    return const_cast<Tensor*>(this)->data<T>();
  }

  /// Element `i` in row-major order, as double.
  double at(Index i) const;
  void set(Index i, double value);
  std::vector<double> values() const;

  Tensor clone() const;
  Tensor to(DType dtype) const;
  /// The same storage under another shape of the same size.
  Tensor reshaped(Shape shape) const;

 private:
  Shape shape_;
  DType dtype_ = DType::float32;
  std::shared_ptr<std::byte> storage_;
};

}  // namespace phasor
