#include "cli/data_option.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "phasor/error.h"

namespace phasor {
namespace {

namespace fs = std::filesystem;

bool holds(const fs::path& folder, const char* name) {
  std::error_code ignored;
  return fs::exists(folder / name, ignored);
}

std::optional<std::string> kind_of(const fs::path& folder) {
  if (holds(folder, "train.bin") || holds(folder, "test.bin")) {
    return holds(folder, "manifest.json") ? "synthetic" : "cifar100";
  }
  if (holds(folder, "data_batch_1.bin")) return "cifar10";
  return std::nullopt;
}

}  // namespace

std::vector<Setting> data_settings(const std::string& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    fail(ErrorKind::data, "[data] --data takes a folder; got ", folder,
         fs::exists(folder, ignored) ? ", which is none" : ", which does not exist");
  }
  for (const char* inner : {"", "cifar-100-binary", "cifar-10-batches-bin"}) {
    const fs::path place = *inner == '\0' ? fs::path(folder) : fs::path(folder) / inner;
    if (const auto kind = kind_of(place)) {
      return {{"data.kind", *kind, "--data"},
              {"data.path", nlohmann::json(place.string()).dump(), "--data"}};
    }
  }
  fail(ErrorKind::data,
       "[data] expected train.bin and test.bin (CIFAR-100) or data_batch_1.bin "
       "(CIFAR-10) in the folder of --data; got ",
       folder, "; scripts/fetch_cifar100.sh fetches CIFAR-100");
}

}  // namespace phasor
