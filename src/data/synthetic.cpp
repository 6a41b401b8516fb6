#include "data/synthetic.h"

#include <algorithm>
#include <array>
#include <system_error>

#include "core/file.h"
#include "core/sha256.h"
#include "data/manifest.h"
#include "phasor/rng.h"

namespace phasor {
namespace {

// 127 cos(2 pi k / 32), rounded.
constexpr std::array<int, 32> kCosine = {
    127,  125,  117,  106,  90,  71,  49,  25,  0, -25, -49, -71, -90, -106, -117, -125,
    -127, -125, -117, -106, -90, -71, -49, -25, 0, 25,  49,  71,  90,  106,  117,  125};

// Cycles per 32 pixels along x and y; no two are mirror images of each other.
struct Wave {
  int x, y;
};
constexpr std::array<Wave, 10> kWaves = {
    {{2, 0}, {0, 2}, {2, 2}, {4, 0}, {0, 4}, {4, 2}, {2, 4}, {4, 4}, {6, 0}, {0, 6}}};

// How a wave enters red, green and blue.
using Colour = std::array<int, 3>;
constexpr Colour kLuminance = {1, 1, 1};
constexpr std::array<Colour, 4> kDistractors = {{{1, 1, 1}, {1, 0, -1}, {1, -2, 1}, {0, 1, 1}}};

// What a class adds to red, green and blue, in grey levels.
constexpr std::array<Colour, 10> kTints = {{{-24, -24, -24},
                                            {24, -24, -24},
                                            {-24, 24, -24},
                                            {-24, -24, 24},
                                            {24, 24, -24},
                                            {24, -24, 24},
                                            {-24, 24, 24},
                                            {24, 24, 24},
                                            {48, 0, -48},
                                            {-48, 0, 48}}};

// Grey levels: full amplitude of the class's wave and of the meaningless one, bound of the colour
// cast per channel, range of the (triangular) noise.
constexpr int kAmplitude = 56;
constexpr int kDistractorAmplitude = 20;
constexpr int kCast = 34;
constexpr int kNoise = 40;

// The counter's epoch field keeps the streams apart: pixels of train and test, labels of each.
std::uint32_t pixel_stream(Split split) { return static_cast<std::uint32_t>(split); }
std::uint32_t label_stream(Split split) { return 2 + static_cast<std::uint32_t>(split); }

// Counters of one record: kParameterDraws for its parameters, then one per eight noise values.
constexpr std::uint64_t kParameterDraws = 8;
constexpr std::uint64_t kDrawsPerRecord = kParameterDraws + kImageBytes / 8;

// Fine labels come in shuffled blocks of all 100 classes.
int synthetic_label(std::uint64_t seed, Split split, Index number) {
  std::array<std::uint8_t, kFineClasses> block;
  for (int i = 0; i < kFineClasses; ++i)
    block[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i);
  const auto first = static_cast<std::uint64_t>(number / kFineClasses * kFineClasses);
  for (std::uint32_t i = kFineClasses - 1; i > 0; --i) {
    const auto bits = draw(seed, Purpose::synthetic, label_stream(split), first + i)[0];
    std::swap(block[i], block[uniform_below(bits, i + 1)]);
  }
  return block[static_cast<std::size_t>(number % kFineClasses)];
}

struct Grating {
  Wave wave;
  int phase;
  int amplitude;
  Colour colour;

  // Sum of all gratings is scaled by 127 (kCosine) * 256 (contrast).
  int at(int y, int x, int channel) const {
    return colour[static_cast<std::size_t>(channel)] * amplitude *
           kCosine[static_cast<std::size_t>((wave.x * x + wave.y * y + phase) & 31)];
  }
};

// Writes record by record, so that a large set needs no memory; returns the digest.
std::string write_split(const std::filesystem::path& path, std::uint64_t seed, Split split,
                        Index records) {
  AtomicFile file(path);
  Sha256 digest;
  for (Index first = 0; first < records; first += kFineClasses) {
    std::vector<std::uint8_t> bytes;
    const Index count = std::min<Index>(kFineClasses, records - first);
    bytes.resize(static_cast<std::size_t>(count * kCifar100RecordBytes));
    for (Index i = 0; i < count; ++i)
      make_synthetic_record(seed, split, first + i, bytes.data() + i * kCifar100RecordBytes);
    digest.update(bytes.data(), bytes.size());
    file.write(bytes.data(), bytes.size());
  }
  file.commit();
  return digest.hex();
}

std::string lines(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

}  // namespace

void make_synthetic_record(std::uint64_t seed, Split split, Index number, std::uint8_t* record) {
  const int label = synthetic_label(seed, split, number);
  record[0] = static_cast<std::uint8_t>(label / kFinePerCoarse);
  record[1] = static_cast<std::uint8_t>(label);

  const auto first = static_cast<std::uint64_t>(number) * kDrawsPerRecord;
  std::array<std::uint32_t, 4 * kParameterDraws> random;
  for (std::uint64_t i = 0; i < kParameterDraws; ++i) {
    const auto four = draw(seed, Purpose::synthetic, pixel_stream(split), first + i);
    std::copy(four.begin(), four.end(), random.begin() + static_cast<std::ptrdiff_t>(4 * i));
  }
  std::size_t used = 0;
  const auto below = [&](int bound) {
    return static_cast<int>(uniform_below(random[used++], static_cast<std::uint32_t>(bound)));
  };
  const int contrast = 154 + below(103);  // of 256: 60% to 100%
  const std::array<Grating, 2> gratings = {
      {{kWaves[static_cast<std::size_t>(label / 10)], below(32), kAmplitude * contrast, kLuminance},
       {kWaves[static_cast<std::size_t>(below(10))], below(32), kDistractorAmplitude * below(257),
        kDistractors[static_cast<std::size_t>(below(4))]}}};
  const Colour& tint = kTints[static_cast<std::size_t>(label % 10)];

  std::uint8_t* pixel = record + 2;
  std::uint64_t counter = first + kParameterDraws;
  for (int channel = 0; channel < 3; ++channel) {
    const int cast = below(2 * kCast + 1) - kCast;
    const int base = 128 + tint[static_cast<std::size_t>(channel)] + cast;
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; x += 8) {
        const auto bits = draw(seed, Purpose::synthetic, pixel_stream(split), counter++);
        for (int i = 0; i < 8; ++i) {
          const std::uint32_t half = bits[static_cast<std::size_t>(i / 2)] >> 16 * (i % 2);
          const int noise = static_cast<int>(half & 255) + static_cast<int>(half >> 8 & 255) - 255;
          int waves = 0;
          for (const Grating& grating : gratings) waves += grating.at(y, x + i, channel);
          const int value = base + (waves >> 15) + (noise * kNoise >> 8);
          *pixel++ = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
        }
      }
    }
  }
}

std::vector<std::uint8_t> make_synthetic_split(std::uint64_t seed, Split split, Index count) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count) * kCifar100RecordBytes);
  for (Index i = 0; i < count; ++i)
    make_synthetic_record(seed, split, i, bytes.data() + i * kCifar100RecordBytes);
  return bytes;
}

std::vector<std::string> synthetic_fine_names() {
  std::vector<std::string> names;
  for (int label = 0; label < kFineClasses; ++label)
    names.push_back(concat("wave", label / 10, "-tint", label % 10));
  return names;
}

std::vector<std::string> synthetic_coarse_names() {
  std::vector<std::string> names;
  for (int label = 0; label < kCoarseClasses; ++label)
    names.push_back(concat("wave", label / 2, label % 2 == 0 ? "-tint0to4" : "-tint5to9"));
  return names;
}

void write_dataset(const std::filesystem::path& folder, std::uint64_t seed, Index train_records,
                   Index test_records) {
  for (const Index records : {train_records, test_records})
    PHASOR_CHECK(records >= 1 && records <= kMaxRecords, "[make-data] 1 to ", kMaxRecords,
                 " records; got ", records);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder))
    fail(ErrorKind::io, "[make-data] cannot make the folder ", folder.string(), "; got ",
         error ? error.message() : "a file of that name");
  const bool ours = std::filesystem::exists(folder / "manifest.json", error);
  for (const char* name : {"train.bin", "test.bin"})
    PHASOR_CHECK(ours || !std::filesystem::exists(folder / name, error), "[make-data] ",
                 folder.string(), " holds a ", name,
                 " that make-data did not write; choose another folder");

  Manifest manifest{.kind = "synthetic",
                    .train_records = train_records,
                    .test_records = test_records,
                    .seed = seed,
                    .train_sha256 = {},
                    .test_sha256 = {}};
  manifest.train_sha256 = write_split(folder / "train.bin", seed, Split::train, train_records);
  manifest.test_sha256 = write_split(folder / "test.bin", seed, Split::test, test_records);
  write_file_atomic(folder / "fine_label_names.txt", lines(synthetic_fine_names()));
  write_file_atomic(folder / "coarse_label_names.txt", lines(synthetic_coarse_names()));
  write_file_atomic(folder / "manifest.json", manifest_text(manifest));
}

}  // namespace phasor
