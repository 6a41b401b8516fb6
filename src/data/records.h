// The CIFAR record: label bytes, then one image as 1024 red, 1024 green and 1024 blue bytes.
#pragma once

#include <cstdint>

#include "phasor/shape.h"

namespace phasor {

inline constexpr int kSide = 32;                              ///< pixels per row and column
inline constexpr int kPlane = kSide * kSide;                  ///< bytes per colour
inline constexpr int kImageBytes = 3 * kPlane;                ///< planar R, G, B
inline constexpr int kCifar100RecordBytes = 2 + kImageBytes;  ///< coarse, fine, image
inline constexpr int kCifar10RecordBytes = 1 + kImageBytes;   ///< label, image
inline constexpr int kFineClasses = 100;
inline constexpr int kCoarseClasses = 20;
inline constexpr int kFinePerCoarse = kFineClasses / kCoarseClasses;

inline constexpr Index kMaxRecords = 0xffffffff;  ///< sample numbers have 32 bits

enum class Split : int { train = 0, test = 1 };

}  // namespace phasor
