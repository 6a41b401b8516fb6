#include "data/batches.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/folder.h"

using namespace phasor;
using test::error_of;

namespace {

// FNV-1a over the samples of an epoch, taken in batches of one size by `Sampler`s of their own.
std::uint64_t checksum(Index samples, std::uint64_t seed, std::uint32_t epoch, Index batch_size) {
  std::uint64_t sum = 0xcbf29ce484222325;
  const BatchPlan plan(samples, batch_size, false);
  for (Index b = 0; b < plan.batches(); ++b) {
    Sampler resumed(samples, seed, SampleOrder::shuffle, Augment::crop_flip);
    resumed.begin_epoch(epoch);
    for (Index i = 0; i < plan.size(b); ++i) {
      const auto [number, crop] = resumed[plan.first(b) + i];
      for (const std::uint64_t value : {std::uint64_t{number}, std::uint64_t(crop.y),
                                        std::uint64_t(crop.x), std::uint64_t(crop.flip)})
        sum = (sum ^ value) * 0x100000001b3;
    }
  }
  return sum;
}

// The plainest form of pad, crop and flip.
template <class T>
T gathered(const std::uint8_t* image, Crop crop, const Normalisation& n, int y, int x, int c) {
  const int source_y = y + crop.y - kPad;
  const int source_x = (crop.flip ? kSide - 1 - x : x) + crop.x - kPad;
  const bool inside = source_y >= 0 && source_y < kSide && source_x >= 0 && source_x < kSide;
  const T value = inside ? T(image[c * kPlane + source_y * kSide + source_x]) : T(0);
  const auto channel = static_cast<std::size_t>(c);
  return (value / T(255) - T(n.mean[channel])) / T(n.deviation[channel]);
}

template <class T>
int mismatches() {
  std::vector<std::uint8_t> image(kImageBytes);
  for (std::size_t i = 0; i < image.size(); ++i)
    image[i] = static_cast<std::uint8_t>(i * 89 + i / 251);
  const PixelTable<T> table(kCifar100Normalisation);
  std::vector<T> out(kImageBytes + 1, T(-99));
  int wrong = 0;
  for (int y = 0; y <= 2 * kPad; ++y)
    for (int x = 0; x <= 2 * kPad; ++x)
      for (const bool flip : {false, true}) {
        const Crop crop{y, x, flip};
        gather(image.data(), crop, table, out.data());
        for (int row = 0; row < kSide; ++row)
          for (int column = 0; column < kSide; ++column)
            for (int c = 0; c < 3; ++c)
              wrong += out[static_cast<std::size_t>((row * kSide + column) * 3 + c)] !=
                       gathered<T>(image.data(), crop, kCifar100Normalisation, row, column, c);
      }
  return wrong + (out.back() != T(-99));
}

}  // namespace

TEST_CASE("B36: samples and crops of an epoch are the same however it is split or resumed") {
  for (const std::uint32_t epoch : {0u, 1u, 7u}) {
    const std::uint64_t whole = checksum(500, 3, epoch, 500);
    for (const Index batch_size : {1, 32, 64, 499})
      CHECK(checksum(500, 3, epoch, batch_size) == whole);
  }
  CHECK(checksum(500, 3, 0, 500) != checksum(500, 3, 1, 500));
  CHECK(checksum(500, 3, 0, 500) != checksum(500, 4, 0, 500));
  // Golden: orders and crops never change silently.
  CHECK(checksum(500, 3, 1, 500) == 3352492520319173516u);
}

TEST_CASE("B36: the order of an epoch is a permutation, uniform at both ends") {
  constexpr std::uint32_t kSamples = 10;
  std::vector<int> first(kSamples), last(kSamples);
  std::vector<std::uint32_t> order(kSamples);
  for (std::uint32_t epoch = 0; epoch < 5000; ++epoch) {
    epoch_order(1, epoch, order);
    ++first[order.front()];
    ++last[order.back()];
  }
  for (std::size_t i = 0; i < kSamples; ++i) {  // 500 +- 5 sigma
    CHECK(std::abs(first[i] - 500) < 107);
    CHECK(std::abs(last[i] - 500) < 107);
  }
  std::vector<std::uint32_t> large(50000);
  epoch_order(0, 0, large);
  CHECK_FALSE(std::is_sorted(large.begin(), large.end()));
  std::sort(large.begin(), large.end());
  for (std::uint32_t i = 0; i < large.size(); ++i) REQUIRE(large[i] == i);
}

TEST_CASE("B37: crops and flips are uniform and change from epoch to epoch") {
  constexpr std::uint32_t kSamples = 50000;
  int differ = 0, flips = 0;
  std::array<int, 9> rows{}, columns{};
  for (std::uint32_t i = 0; i < kSamples; ++i) {
    const Crop crop = draw_crop(0, 0, i);
    REQUIRE((crop.y >= 0 && crop.y <= 8 && crop.x >= 0 && crop.x <= 8));
    differ += crop != draw_crop(0, 1, i);
    flips += crop.flip;
    ++rows[static_cast<std::size_t>(crop.y)];
    ++columns[static_cast<std::size_t>(crop.x)];
  }
  CHECK(differ > 0.9 * kSamples);  // 161/162 expected
  CHECK(std::abs(flips - 0.5 * kSamples) < 3 * std::sqrt(0.25 * kSamples));
  double chi_rows = 0, chi_columns = 0;
  for (std::size_t i = 0; i < 9; ++i) {
    chi_rows += std::pow(rows[i] - kSamples / 9.0, 2) / (kSamples / 9.0);
    chi_columns += std::pow(columns[i] - kSamples / 9.0, 2) / (kSamples / 9.0);
  }
  CHECK(chi_rows < 26.1);  // 99.9% of chi squared with 8 degrees of freedom
  CHECK(chi_columns < 26.1);
}

TEST_CASE("file order without augmentation is the plain file") {
  Sampler sampler(100, 5, SampleOrder::file, Augment::none);
  sampler.begin_epoch(3);
  for (std::uint32_t i = 0; i < 100; ++i) {
    CHECK(sampler[i].number == i);
    CHECK(sampler[i].crop == Crop{4, 4, false});
  }
}

TEST_CASE("batches: the last one is short or dropped, and an epoch has at least one") {
  const BatchPlan keep(50000, 64, false);
  CHECK(keep.batches() == 782);
  CHECK(keep.size(0) == 64);
  CHECK(keep.size(781) == 16);
  CHECK(keep.samples() == 50000);
  const BatchPlan drop(50000, 64, true);
  CHECK(drop.batches() == 781);
  CHECK(drop.samples() == 49984);
  CHECK(BatchPlan(5, 64, false).size(0) == 5);
  CHECK(error_of([] { BatchPlan(5, 64, true); }) ==
        "2: [batches] an epoch needs at least one batch; got 5 samples in batches of 64; lower "
        "train.batch_size or set data.drop_last to false");
}

TEST_CASE("gather equals pad, crop, flip and normalise done one after the other, bit for bit") {
  CHECK(mismatches<float>() == 0);
  CHECK(mismatches<double>() == 0);
}

TEST_CASE("normalisation uses the decimal constants in the run's type") {
  const PixelTable<float> narrow(kCifar100Normalisation);
  const PixelTable<double> wide(kCifar100Normalisation);
  CHECK(narrow.channel(0)[0] == (0.0f - .5071f) / .2673f);
  CHECK(narrow.channel(1)[128] == (128.0f / 255.0f - .4865f) / .2564f);
  CHECK(narrow.channel(2)[255] == (1.0f - .4409f) / .2762f);
  CHECK(wide.channel(0)[255] == (1.0 - .5071) / .2673);
}
