#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catalog.h"
#include "config/config_file.h"
#include "config/document.h"
#include "config/expand.h"
#include "config/identity.h"
#include "config/keys.h"
#include "core/nearest_name.h"

using namespace phasor;
using namespace phasor::testing;
namespace fs = std::filesystem;

namespace {

fs::path source_dir() {
  const char* folder = std::getenv("PHASOR_SOURCE_DIR");
  REQUIRE(folder != nullptr);
  return folder;
}

fs::path corpus() { return source_dir() / "tests/config/corpus"; }

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A folder of its own that goes with the object.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "phasor-config-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

std::string message_of(const std::string& path, ErrorKind kind) {
  try {
    load_config_text(path);
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("every row of the table: default passes its own check and survives set and get") {
  const Config defaults;
  for (const Key& key : key_table()) {
    CAPTURE(key.path);
    CHECK(find_key(key.path) == &key);
    CHECK_FALSE(key.help.empty());
    nlohmann::json value = key.get(defaults);
    if (key.path != "norm.name") CHECK_FALSE(check_value(key, value).has_value());
    Config config;
    for (const std::string& name : key.limits.names) {
      key.set(config, name);
      CHECK(key.get(config) == name);
    }
    key.set(config, value);
    CHECK(key.get(config) == value);
  }
  CHECK(config_json(defaults) == config_json(Config()));
}

TEST_CASE("every key is documented and in the schema") {
  const std::string help = config_help();
  const nlohmann::json schema = nlohmann::json::parse(config_schema(catalog()));
  CHECK(schema["$schema"] == "http://json-schema.org/draft-07/schema#");
  for (const Key& key : key_table()) {
    CAPTURE(key.path);
    CHECK(help.find("| `" + key.path + "` |") != std::string::npos);
    std::string pointer;
    std::istringstream parts(key.path);
    for (std::string part; std::getline(parts, part, '.');) pointer += "/properties/" + part;
    const nlohmann::json::json_pointer place(pointer);
    REQUIRE(schema.contains(place));
    CHECK(schema[place]["description"] == key.help);
  }
  CHECK(schema["properties"]["norm"]["properties"]["name"]["enum"].size() == 5);
  CHECK(schema["properties"]["norm"]["properties"].contains("groups"));
}

TEST_CASE("the corpus: valid documents are taken, wrong ones refused as usage errors") {
  int files = 0;
  for (const char* folder : {"valid", "invalid", "reader_only"}) {
    for (const auto& entry : fs::directory_iterator(corpus() / folder)) {
      CAPTURE(entry.path().string());
      const bool accepted = refusal(slurp(entry.path())) == "accepted";
      CHECK(accepted == (std::string(folder) == "valid"));
      ++files;
    }
  }
  CHECK(files > 80);
}

TEST_CASE("the corpus: an independent JSON Schema validator agrees") {
  const Folder folder;
  const fs::path schema = folder.path / "schema.json";
  std::ofstream(schema) << config_schema(catalog());
  const char* named = std::getenv("PHASOR_PYTHON");
  const std::string python = named != nullptr ? named : "python3";
  const std::string command = "'" + python + "' '" +
                              (source_dir() / "tests/config/validate_corpus.py").string() + "' '" +
                              schema.string() + "' '" + corpus().string() + "'";
  const int status = std::system(command.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == 77 || code == 127) {
    MESSAGE("skipped: python3 with the module jsonschema is not here");
    return;
  }
  CHECK(code == 0);
}

TEST_CASE("shipped configurations are valid, commented by description, and embedded as they are") {
  NormCatalog norms = catalog();
  for (const char* name : {"rms_pair", "mrs_channel"}) norms.norms.push_back({name, {}});
  int files = 0;
  for (const auto& entry : fs::directory_iterator(source_dir() / "configs")) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    const std::string text = slurp(entry.path());
    CHECK(nlohmann::json::accept(text));  // strict: no comments
    const Config config = read_config({text, name, {}}, norms).config;
    CHECK(config.name + ".json" == name);
    CHECK_FALSE(config.description.empty());
    const ConfigText embedded = load_config_text(name);
    CHECK(embedded.text == text);
  }
  CHECK(files == static_cast<int>(shipped_configs().size()));
  CHECK(files >= 4);
  const Config stress =
      read_config({load_config_text("stress").text, "stress.json", {}}, catalog()).config;
  CHECK(expand(stress, catalog()).size() == 27);
}

TEST_CASE("a file on disk comes before a shipped one; files that are none are explained") {
  const Folder folder;
  const fs::path old = fs::current_path();
  fs::current_path(folder.path);
  CHECK(load_config_text("smoke.json").shipped);
  std::ofstream("smoke.json") << "{}";
  std::ofstream("binary.json") << std::string(
      "\x7f"
      "ELF\0\0",
      6);
  std::ofstream("blank.json") << " \n";
  fs::create_directory("dir.json");
  const ConfigText own = load_config_text("smoke.json");
  CHECK(own.text == "{}");
  CHECK_FALSE(own.shipped);
  CHECK(message_of("binary.json", ErrorKind::usage) ==
        "[config] binary.json: expected JSON text; got binary data");
  CHECK(message_of("blank.json", ErrorKind::usage) ==
        "[config] blank.json: expected a JSON object; got an empty file");
  CHECK(message_of("dir.json", ErrorKind::usage) ==
        "[config] dir.json: expected a file; got a folder");
  CHECK(message_of("stres.json", ErrorKind::usage) ==
        "[config] stres.json: no such file; did you mean stress.json?; shipped configurations: "
        "controls.json, conv.json, depth.json, half.json, map.json, mini.json, "
        "smoke.json, stress-resnet18.json, stress.json");
  CHECK(message_of("nowhere/smoke.json", ErrorKind::usage)
            .starts_with("[config] nowhere/smoke.json: no such file"));
  CHECK(message_of("smoke.json/x", ErrorKind::usage).starts_with("[config] smoke.json/x: no such"));
  fs::current_path(old);
}

TEST_CASE("nearest names") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("momentun", "momentum") == 1);
  CHECK(edit_distance("mrsnrom", "mrsnorm") == 1);  // neighbours swapped
  CHECK(edit_distance("LR", "lr") == 0);
  CHECK(nearest_name("lrr", {"lr", "seed"}) == "lr");
  CHECK_FALSE(nearest_name("x", {"seed", "epochs"}).has_value());
  CHECK_FALSE(nearest_name("", {"a"}).has_value());
  CHECK_FALSE(nearest_name(std::string(1000, 'a'), {"a"}).has_value());
  CHECK(did_you_mean("sed", {"seed"}) == "; did you mean seed?");
  CHECK(did_you_mean("quux", {"seed"}).empty());
}

TEST_CASE("paths of the data set") {
  DataConfig data;
  CHECK(data_path(data).empty());
  data.kind = DataKind::cifar100;
  CHECK(data_path(data) == "data/cifar-100-binary");
  data.path = "x";
  CHECK(data_path(data) == "x");
}
