// The fuzz targets over their corpus and over many small changes of it: what the fuzzer does, in a
// second, with any compiler.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/targets.h"

using namespace phasor;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> corpus(const std::vector<const char*>& folders) {
  std::vector<std::string> inputs;
  for (const char* folder : folders) {
    for (const auto& entry :
         fs::directory_iterator(fs::path(std::getenv("PHASOR_SOURCE_DIR")) / "tests" / folder)) {
      std::ifstream file(entry.path(), std::ios::binary);
      inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  return inputs;
}

std::string changed(std::string bytes, std::mt19937& random) {
  for (unsigned change = 0; change <= random() % 3 && !bytes.empty(); ++change) {
    const std::size_t at = random() % bytes.size();
    switch (random() % 5) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes.erase(at, random() % 8);
        break;
      case 2:
        bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 8));
        break;
      case 3:
        bytes.insert(at, 1, "{}[]\",:0-e."[random() % 11]);
        break;
      default:
        bytes.resize(at);
    }
  }
  return bytes;
}

void try_all(fuzz::Target target, const std::vector<std::string>& inputs, int changes) {
  REQUIRE(inputs.size() >= 3);
  std::mt19937 random(1);
  const auto feed = [&](const std::string& bytes) {
    // Of its own size, so that a sanitizer sees every byte read too many.
    const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
    // A target throws where a reader failed in any other way than by one of our errors.
    CHECK_NOTHROW(target(exact.data(), exact.size()));
  };
  for (const std::string& input : inputs) feed(input);
  for (int i = 0; i < changes; ++i) feed(changed(inputs[random() % inputs.size()], random));
}

}  // namespace

TEST_CASE("fuzz: configurations") {
  try_all(fuzz::config,
          corpus({"fuzz/corpus/config", "config/corpus/valid", "config/corpus/invalid",
                  "config/corpus/reader_only", "../configs"}),
          2000);
}

TEST_CASE("fuzz: data sets") { try_all(fuzz::data_set, corpus({"fuzz/corpus/data"}), 300); }

TEST_CASE("fuzz: safetensors") {
  try_all(fuzz::safetensors, corpus({"fuzz/corpus/safetensors"}), 5000);
}
