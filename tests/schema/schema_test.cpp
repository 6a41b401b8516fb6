// The files of a sweep against the published JSON Schemas, by a validator that is not ours.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
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

TEST_CASE(
    "B48: files of cells that failed, were interrupted, killed or blew up keep to the schemas") {
  const TemporaryFolder folder;
  const auto sweep = [&](const char* out, const char* lr, int steps) {
    return std::vector<std::string>{"--config", "smoke.json",
                                    "--out",    (folder / out).string(),
                                    "--set",    "data.train_limit=64",
                                    "--set",    "data.test_limit=64",
                                    "--set",    "train.epochs=1000",
                                    "--set",    "train.max_steps=" + std::to_string(steps),
                                    "--set",    std::string("lr=") + lr,
                                    "--jobs",   "1"};
  };
  constexpr int kLong = 2000;
  const ProcessOptions small_files{.before_exec = [] {
    // Above every JSON file and the 512 KiB that ThreadSanitizer maps, below a checkpoint.
    const rlimit limit{600'000, 600'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }};
  CHECK(run(sweep("failed", "0.1", 2), small_files).code == 5);
  std::vector<std::string> blown = sweep("nonfinite", "1e6", 4);
  blown.insert(blown.end(), {"--set", "norm=none"});
  CHECK(run(blown).code == 0);
  for (const int number : {SIGINT, SIGKILL}) {
    const char* out = number == SIGINT ? "interrupted" : "running";
    Process process(sweep(out, "0.1", kLong));
    REQUIRE(wait_until(
        [&] {
          std::error_code error;
          for (const auto& cell : fs::directory_iterator(folder / out / "cells", error)) {
            if (fs::exists(cell.path() / "curve.jsonl")) return true;
          }
          return false;
        },
        60));
    process.signal(number);
    CHECK(process.wait().code == 128 + number);
  }
  for (const std::string state : {"failed", "nonfinite", "interrupted", "running"}) {
    CAPTURE(state);
    int seen = 0;
    for (const auto& cell : fs::directory_iterator(folder / state / "cells")) {
      const json document = json::parse(read_text(cell.path() / "cell.json"));
      seen += document["state"] == state ||
              (document["state"] == "done" && document["result"]["verdict"]["kind"] == state);
    }
    CHECK(seen >= 1);
    const int code = validate(folder / state);
    if (code == 77) {
      MESSAGE("skipped: python3 with the module jsonschema is not here");
      return;
    }
    CHECK(code == 0);
  }
}
