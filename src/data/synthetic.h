// The synthetic data set: 100 classes in CIFAR-100's layout, made by integer arithmetic from a
// seed.
//
// Every image is a plane wave on a coloured ground, under noise. Class 10 i + j has wave i of ten
// low frequencies and tint j of ten. The phase (a random shift), the contrast, a colour cast and a
// second, meaningless wave differ from image to image, so the mean image of a class shows its tint
// and no wave (nearest mean: about one in five), while a small convolutional network learns both
// quickly. All frequencies lie in one quadrant: a mirrored image keeps its class.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "data/records.h"

namespace phasor {

inline constexpr std::uint64_t kSyntheticSeed = 0;
inline constexpr Index kSyntheticTrain = 5000;
inline constexpr Index kSyntheticTest = 1000;

/// Writes record `number` of a split: kCifar100RecordBytes bytes, a pure function of its arguments.
/// Any 100 consecutive records that start at a multiple of 100 hold every class once.
void make_synthetic_record(std::uint64_t seed, Split split, Index number, std::uint8_t* record);

/// The first `count` records of a split, as the bytes of a train.bin or test.bin.
std::vector<std::uint8_t> make_synthetic_split(std::uint64_t seed, Split split, Index count);

/// Names of the classes (`wave0-tint0` to `wave9-tint9`) and of the 20 coarse classes.
std::vector<std::string> synthetic_fine_names();
std::vector<std::string> synthetic_coarse_names();

/// Writes train.bin, test.bin, the two files of label names and manifest.json to `folder`, which is
/// made if it is missing. Every file is replaced as a whole, the manifest last. Refuses (usage) a
/// folder whose train.bin came without a manifest: that is somebody's real data set.
void write_dataset(const std::filesystem::path& folder, std::uint64_t seed, Index train_records,
                   Index test_records);

}  // namespace phasor
