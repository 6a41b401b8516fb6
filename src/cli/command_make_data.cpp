// phasor-train make-data: the synthetic data set as files.
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/console.h"
#include "data/synthetic.h"

namespace phasor {

int run_make_data(const std::vector<std::string>& args) {
  const Usage usage{
      "phasor-train make-data",
      "DIR [options]",
      "Writes the synthetic data set in the layout of CIFAR-100: train.bin, test.bin, "
      "label names and\nmanifest.json. The same seed and counts give the same bytes "
      "everywhere.",
      {{"phasor-train make-data data/synthetic", "the data set that is built in"},
       {"phasor-train --config smoke.json --data data/synthetic", "trains on it"}},
      {{"seed", "N", "another data set (default 0)"},
       {"train", "N", "training images (default 5000)"},
       {"test", "N", "test images (default 1000)"}},
      1,
      1};
  const std::optional<Arguments> arguments = parse_arguments(usage, args);
  if (!arguments) return 0;
  constexpr std::int64_t kMostRecords = 10'000'000;
  constexpr std::int64_t kLargestSeed = (std::int64_t{1} << 53) - 1;
  const std::string& folder = arguments->positional()[0];
  const auto seed = arguments->integer("seed", 0, kLargestSeed);
  const Index train = arguments->integer("train", 1, kMostRecords).value_or(kSyntheticTrain);
  const Index test = arguments->integer("test", 1, kMostRecords).value_or(kSyntheticTest);
  write_dataset(folder, seed ? static_cast<std::uint64_t>(*seed) : kSyntheticSeed, train, test);
  Console().note("wrote " + std::to_string(train) + " training and " + std::to_string(test) +
                 " test images of synthetic data to " + folder);
  return 0;
}

}  // namespace phasor
