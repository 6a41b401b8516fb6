#include "kernels/conv_plan.h"

#include <string_view>

#include "phasor/error.h"

namespace phasor::kernels {
namespace {

/// The kernel of that name where it supports the shape, else null.
template <class Kernel>
const Kernel* find(const Kernel* const* list, std::string_view algorithm, const ConvShape& shape) {
  for (; *list != nullptr; ++list)
    if (algorithm == (*list)->algorithm) return (*list)->supports(shape) ? *list : nullptr;
  return nullptr;
}

/// The first of the two that supports the shape, else direct, which heads every list.
template <class Kernel>
const Kernel* choose(const Kernel* const* list, const ConvShape& shape, std::string_view first,
                     std::string_view second) {
  if (const Kernel* kernel = find(list, first, shape)) return kernel;
  if (const Kernel* kernel = find(list, second, shape)) return kernel;
  return list[0];
}

/// Whether Winograd pays, by shape alone: 3x3, stride 1, 16 channels or more on both sides.
bool wants_winograd(const ConvShape& s) {
  return s.kernel == 3 && s.stride == 1 && s.c_in >= 16 && s.c_out >= 16;
}

/// F(2x2) where an image is at most one tile of F(4x4), or where F(4x4)'s weights (36 to a pair of
/// channels instead of 16) no longer fit a cache.
bool wants_small_tiles(const ConvShape& s) {
  return (s.in_h <= 4 && s.in_w <= 4) || s.c_in >= 512 || s.c_out >= 512;
}

template <class Kernel>
bool has_winograd(const Kernel* const* list) {
  for (; *list != nullptr; ++list)
    if (std::string_view((*list)->algorithm).substr(0, 8) == "winograd") return true;
  return false;
}

}  // namespace

template <class T>
ConvPlan<T> plan_conv(const Table<T>& table, const ConvShape& shape, ConvChoice choice) {
  PHASOR_CHECK(choice != ConvChoice::winograd || has_winograd(table.conv_forward),
               "[conv] train.conv winograd needs kernels that have it; got the ", table.name,
               " set; use direct or auto");
  if (choice == ConvChoice::direct || (choice == ConvChoice::automatic && !wants_winograd(shape)))
    return {table.conv_forward[0], table.conv_backward_data[0], table.conv_backward_weights[0]};
  const bool small = wants_small_tiles(shape);
  const std::string_view first = small ? "winograd2" : "winograd4";
  const std::string_view second = small ? "winograd4" : "winograd2";
  return {choose(table.conv_forward, shape, first, second),
          choose(table.conv_backward_data, shape, first, second),
          choose(table.conv_backward_weights, shape, first, second)};
}

template ConvPlan<float> plan_conv<float>(const Table<float>&, const ConvShape&, ConvChoice);
template ConvPlan<double> plan_conv<double>(const Table<double>&, const ConvShape&, ConvChoice);

}  // namespace phasor::kernels
