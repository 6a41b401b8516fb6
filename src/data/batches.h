// Which sample goes where, how it is cropped, and how it becomes numbers. Every random choice is a
// pure function of (seed, epoch, sample), so it depends on no thread, no batch size and no resume.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "config/config.h"
#include "data/records.h"

namespace phasor {

/// Zero pixels added on each side before the crop.
inline constexpr int kPad = 4;

/// The window of 32 x 32 pixels in the padded image of 40 x 40, and whether it is then mirrored
/// left to right. The default is the image itself.
struct Crop {
  int y = kPad;  ///< first row, 0 to 2 kPad
  int x = kPad;  ///< first column, 0 to 2 kPad
  bool flip = false;

  bool operator==(const Crop&) const = default;
};

/// Fills `order` with a permutation of 0 .. order.size() - 1: the samples in the order in which
/// `epoch` takes them. Fisher-Yates over one draw per position.
void epoch_order(std::uint64_t seed, std::uint32_t epoch, std::span<std::uint32_t> order);

/// The crop and flip of one sample (its number in the file) in one epoch.
Crop draw_crop(std::uint64_t seed, std::uint32_t epoch, std::uint32_t sample);

/// How an epoch of `samples` is cut into batches of `batch_size`; the last one holds what is left,
/// or is dropped. Throws (usage) when an epoch would have no batch.
class BatchPlan {
 public:
  BatchPlan(Index samples, Index batch_size, bool drop_last);

  Index batches() const { return batches_; }
  /// Position of the first sample of batch `b`, and its number of samples.
  Index first(Index b) const { return b * batch_size_; }
  Index size(Index b) const { return std::min(batch_size_, samples_ - first(b)); }
  /// Samples that an epoch really takes.
  Index samples() const { return first(batches_ - 1) + size(batches_ - 1); }

 private:
  Index samples_;
  Index batch_size_;
  Index batches_;
};

/// The samples of one epoch by position. `begin_epoch` is the only call that changes it; reading is
/// safe from any number of threads; nothing is allocated after construction.
class Sampler {
 public:
  struct Sample {
    std::uint32_t number;  ///< of the record in its file
    Crop crop;
  };

  Sampler(Index samples, std::uint64_t seed, SampleOrder order, Augment augment);

  void begin_epoch(std::uint32_t epoch);
  Sample operator[](Index position) const;

 private:
  std::vector<std::uint32_t> order_;
  std::uint64_t seed_;
  std::uint32_t epoch_ = 0;
  SampleOrder kind_;
  Augment augment_;
};

/// Mean and standard deviation of red, green and blue, on the scale 0 to 1.
struct Normalisation {
  std::array<double, 3> mean;
  std::array<double, 3> deviation;
};

inline constexpr Normalisation kCifar100Normalisation = {{.5071, .4865, .4409},
                                                         {.2673, .2564, .2762}};
inline constexpr Normalisation kCifar10Normalisation = {{.4914, .4822, .4465},
                                                        {.2470, .2435, .2616}};

/// (byte / 255 - mean) / deviation of every byte in every channel, each operation rounded in T:
/// the bits of torchvision's ToTensor and Normalize.
template <class T>
class PixelTable {
 public:
  explicit PixelTable(const Normalisation& normalisation);
  const T* channel(int c) const { return values_[static_cast<std::size_t>(c)].data(); }

 private:
  std::array<std::array<T, 256>, 3> values_;
};

/// Crops, mirrors and normalises one record's image (planar, kImageBytes bytes) into `out`
/// [32,32,3]. Padding is black *before* normalisation, so it becomes -mean / deviation, as with
/// torchvision's RandomCrop(32, padding=4) ahead of ToTensor and Normalize. Allocates nothing.
template <class T>
void gather(const std::uint8_t* image, Crop crop, const PixelTable<T>& table, T* out);

}  // namespace phasor
