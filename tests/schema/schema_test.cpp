// The files of a sweep against the published JSON Schemas, by a validator that is not ours.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/process.h"

using namespace phasor::tests;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

fs::path source_dir() {
  const char* named = std::getenv("PHASOR_SOURCE_DIR");
  return named != nullptr ? named : ".";
}

/// Exit code of the validator; 77 where it cannot run.
int validate(const fs::path& results) {
  const char* named = std::getenv("PHASOR_PYTHON");
  const std::string command = std::string("'") + (named != nullptr ? named : "python3") + "' '" +
                              (source_dir() / "tests/schema/validate_results.py").string() + "' '" +
                              (source_dir() / "results/schema").string() + "' '" +
                              results.string() + "'";
  const int status = std::system(command.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return code == 127 ? 77 : code;
}

}  // namespace

TEST_CASE("the files of a sweep, with diagnostics and without, keep to their schemas") {
  const TemporaryFolder folder;
  const json configuration = {
      {"name", "schema"},
      {"data", {{"train_limit", 64}, {"test_limit", 100}}},
      {"model", {{"arch", "resnet8"}}},
      {"train", {{"max_steps", 3}, {"batch_size", 32}, {"log_every", 2}}},
      {"sweep",
       {{"norm", {"mrsnorm", "none"}}, {"lr", {0.1, 1e6}}, {"train.diagnostics", {false, true}}}}};
  write_text(folder / "schema.json", configuration.dump());
  const fs::path out = folder / "out";
  const ProcessResult sweep =
      run({"--config", (folder / "schema.json").string(), "--out", out.string()});
  CAPTURE(sweep.err);
  REQUIRE(sweep.code == 0);
  const int code = validate(out);
  if (code == 77) {
    MESSAGE("skipped: python3 with the module jsonschema is not here");
    return;
  }
  CHECK(code == 0);
  CHECK(validate(source_dir() / "results/mini") == 0);

  // A number too few is found.
  for (const auto& cell : fs::directory_iterator(out / "cells")) {
    json curve = json::parse(read_text(cell.path() / "curve.json"));
    if (!curve.contains("diagnostics")) continue;
    curve["diagnostics"]["layers"]["grad_norm"][0].erase(0);
    write_text(cell.path() / "curve.json", curve.dump());
    break;
  }
  CHECK(validate(out) == 1);
}
