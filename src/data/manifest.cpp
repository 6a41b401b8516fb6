#include "data/manifest.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "core/file.h"

namespace phasor {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr const char* kKeys[] = {"format", "version", "kind", "seed", "train", "test"};

// Reads one manifest; every complaint names the file.
class Reader {
 public:
  explicit Reader(std::filesystem::path path) : path_(std::move(path)) {}

  Manifest read() const {
    const std::string text = read_file(path_, ErrorKind::data);
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded() || !json.is_object()) complain("must hold one JSON object");
    for (const auto& item : json.items())
      if (std::find(std::begin(kKeys), std::end(kKeys), item.key()) == std::end(kKeys))
        complain("has an unknown key: ", item.key());
    if (json.value("format", Json()) != "phasor-data" || json.value("version", Json()) != kVersion)
      complain("must say \"format\": \"phasor-data\", \"version\": ", kVersion);

    Manifest manifest;
    const Json kind = json.value("kind", Json());
    if (kind != "synthetic" && kind != "cifar100")
      complain("must say \"kind\": \"synthetic\" or \"cifar100\"");
    manifest.kind = kind.get<std::string>();
    if (json.contains("seed")) {
      if (!json["seed"].is_number_unsigned()) complain("needs an unsigned integer as \"seed\"");
      manifest.seed = json["seed"].get<std::uint64_t>();
    }
    read_split(json, "train", manifest.train_records, manifest.train_sha256);
    read_split(json, "test", manifest.test_records, manifest.test_sha256);
    return manifest;
  }

 private:
  template <class... Parts>
  [[noreturn]] void complain(const Parts&... parts) const {
    fail(ErrorKind::data, "[data] ", path_.string(), " ", parts...,
         "; make the folder again with phasor-train make-data");
  }

  void read_split(const Json& json, const char* split, Index& records, std::string& digest) const {
    const Json section = json.value(split, Json());
    const Json count = section.is_object() ? section.value("records", Json()) : Json();
    if (!count.is_number_unsigned() || count.get<std::uint64_t>() < 1 ||
        count.get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max())
      complain("needs \"", split, "\": {\"records\": n} with n from 1 to 4294967295");
    records = count.get<Index>();
    for (const auto& item : section.items())
      if (item.key() != "records" && item.key() != "sha256")
        complain("has an unknown key: ", split, "/", item.key());
    if (!section.contains("sha256")) return;
    if (!section["sha256"].is_string()) complain("needs a string as ", split, "/sha256");
    digest = section["sha256"].get<std::string>();
  }

  std::filesystem::path path_;
};

Json split_json(Index records, const std::string& digest) {
  Json section = {{"records", records}};
  if (!digest.empty()) section["sha256"] = digest;
  return section;
}

}  // namespace

std::optional<Manifest> read_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "manifest.json";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  return Reader(path).read();
}

std::string manifest_text(const Manifest& manifest) {
  Json json = {{"format", "phasor-data"}, {"version", kVersion}, {"kind", manifest.kind}};
  if (manifest.seed) json["seed"] = *manifest.seed;
  json["train"] = split_json(manifest.train_records, manifest.train_sha256);
  json["test"] = split_json(manifest.test_records, manifest.test_sha256);
  return json.dump(2) + "\n";
}

}  // namespace phasor
