#include "data/synthetic.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/sha256.h"

using namespace phasor;

namespace {

// Accuracy of naming the class whose mean training image is nearest.
double nearest_mean_accuracy(const std::vector<std::uint8_t>& train,
                             const std::vector<std::uint8_t>& test) {
  const auto count = [](const auto& bytes) { return bytes.size() / kCifar100RecordBytes; };
  std::vector<float> mean(static_cast<std::size_t>(kFineClasses * kImageBytes));
  const float share = static_cast<float>(kFineClasses) / static_cast<float>(count(train));
  for (std::size_t i = 0; i < count(train); ++i) {
    const std::uint8_t* record = train.data() + i * kCifar100RecordBytes;
    float* sum = mean.data() + static_cast<std::size_t>(record[1]) * kImageBytes;
    for (int p = 0; p < kImageBytes; ++p) sum[p] += share * record[2 + p];
  }
  int right = 0;
  for (std::size_t i = 0; i < count(test); ++i) {
    const std::uint8_t* record = test.data() + i * kCifar100RecordBytes;
    float best = 0;
    int nearest = -1;
    for (int label = 0; label < kFineClasses; ++label) {
      const float* centre = mean.data() + static_cast<std::size_t>(label) * kImageBytes;
      float distance = 0;
      for (int p = 0; p < kImageBytes; ++p)
        distance += (record[2 + p] - centre[p]) * (record[2 + p] - centre[p]);
      if (nearest < 0 || distance < best) best = distance, nearest = label;
    }
    right += nearest == record[1];
  }
  return right / static_cast<double>(count(test));
}

}  // namespace

TEST_CASE("the synthetic set has its golden digests") {
  const auto train = make_synthetic_split(kSyntheticSeed, Split::train, kSyntheticTrain);
  const auto test = make_synthetic_split(kSyntheticSeed, Split::test, kSyntheticTest);
  CHECK(sha256_hex(train.data(), train.size()) ==
        "9b69b15cb4e5bcbf1c25b012a6b55ddd249615af458175360157f19a386be9a2");
  CHECK(sha256_hex(test.data(), test.size()) ==
        "b960c1ced100ddb0f19856736a0e431e52fa60feeee3f69e8157402ac4d28c55");

  SUBCASE("its mean images say something, but little") {
    const double accuracy = nearest_mean_accuracy(train, test);
    MESSAGE("nearest class mean: ", accuracy);
    CHECK(accuracy > 0.03);
    CHECK(accuracy < 0.25);
  }
}

TEST_CASE("synthetic records depend on seed, split and number only") {
  const auto whole = make_synthetic_split(3, Split::train, 300);
  const auto part = make_synthetic_split(3, Split::train, 150);
  CHECK(std::equal(part.begin(), part.end(), whole.begin()));
  CHECK(make_synthetic_split(4, Split::train, 150) != part);
  CHECK(make_synthetic_split(3, Split::test, 150) != part);
}

TEST_CASE("every block of 100 synthetic records holds every class once, in varied order") {
  const auto bytes = make_synthetic_split(0, Split::train, 300);
  std::vector<int> labels;
  for (std::size_t i = 0; i < 300; ++i) {
    labels.push_back(bytes[i * kCifar100RecordBytes + 1]);
    CHECK(bytes[i * kCifar100RecordBytes] == labels.back() / 5);
  }
  for (std::ptrdiff_t block = 0; block < 3; ++block)
    CHECK(std::set<int>(labels.begin() + 100 * block, labels.begin() + 100 * block + 100).size() ==
          100);
  CHECK_FALSE(std::equal(labels.begin(), labels.begin() + 100, labels.begin() + 100));
}
