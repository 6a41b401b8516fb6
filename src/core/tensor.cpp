#include "phasor/tensor.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace phasor {
namespace {

constexpr std::align_val_t kAlignment{64};

std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  bytes = std::max<std::size_t>((bytes + 63) / 64 * 64, 64);
  auto* data = static_cast<std::byte*>(::operator new[](bytes, kAlignment));
  std::memset(data, 0, bytes);
  return {data, [](std::byte* p) { ::operator delete[](p, kAlignment); }};
}

}  // namespace

Tensor::Tensor(Shape shape, DType dtype)
    : shape_(shape),
      dtype_(dtype),
      storage_(allocate(static_cast<std::size_t>(shape.size()) * size_of(dtype))) {}

Tensor::Tensor(Shape shape, std::span<const double> values, DType dtype) : Tensor(shape, dtype) {
  PHASOR_CHECK(static_cast<Index>(values.size()) == shape.size(), "[tensor] shape ", shape.str(),
               " needs ", shape.size(), " values; got ", values.size());
  for (Index i = 0; i < shape.size(); ++i) set(i, values[i]);
}

double Tensor::at(Index i) const {
  return dispatch(dtype_, [&](auto zero) -> double { return data<decltype(zero)>()[i]; });
}

void Tensor::set(Index i, double value) {
  dispatch(dtype_, [&](auto zero) {
    using T = decltype(zero);
    data<T>()[i] = static_cast<T>(value);
  });
}

std::vector<double> Tensor::values() const {
  std::vector<double> result(static_cast<std::size_t>(size()));
  for (Index i = 0; i < size(); ++i) result[i] = at(i);
  return result;
}

Tensor Tensor::clone() const {
  Tensor copy(shape_, dtype_);
  if (!empty()) std::memcpy(copy.raw(), raw(), static_cast<std::size_t>(size()) * size_of(dtype_));
  return copy;
}

Tensor Tensor::to(DType dtype) const {
  if (dtype == dtype_) return clone();
  Tensor copy(shape_, dtype);
  for (Index i = 0; i < size(); ++i) copy.set(i, at(i));
  return copy;
}

Tensor Tensor::reshaped(Shape shape) const {
  PHASOR_CHECK(shape.size() == size(), "[reshape] the number of elements must not change; got ",
               shape_.str(), " to ", shape.str());
  Tensor view = *this;
  view.shape_ = shape;
  return view;
}

}  // namespace phasor
