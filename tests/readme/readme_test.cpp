// What the README shows works as it stands there.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "cli/process.h"

using namespace phasor::tests;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::string readme() {
  const char* root = std::getenv("PHASOR_SOURCE_DIR");
  REQUIRE(root != nullptr);
  return read_text(fs::path(root) / "README.md");
}

/// The fenced blocks of a language.
std::vector<std::string> blocks(const std::string& language) {
  const std::string text = readme(), open = "```" + language + "\n";
  std::vector<std::string> found;
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    at += open.size();
    found.push_back(text.substr(at, text.find("```", at) - at));
  }
  return found;
}

std::set<std::string> matches(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at)
    found.insert((*at)[1]);
  return found;
}

}  // namespace

TEST_CASE("the norm of the README passes the conformance kit, composed and fused") {
  for (const char* plugin : {PHASOR_COMPOSED, PHASOR_FUSED}) {
    const ProcessResult result = run({"check-norm", plugin});
    INFO(plugin, "\n", result.out, result.err);
    CHECK(result.code == 0);
    CHECK(result.out.find("all passed") != std::string::npos);
  }
}

TEST_CASE("both forms of the README's norm train to nearly the same loss") {
  const TemporaryFolder folder;
  double losses[2] = {};
  for (int i = 0; i < 2; ++i) {
    const std::string out = (folder / std::to_string(i)).string();
    const ProcessResult result =
        run({"--config", "smoke.json", "--plugin", i == 0 ? PHASOR_COMPOSED : PHASOR_FUSED, "--set",
             "norm=my_rms", "--set", "train.max_steps=20", "--out", out});
    INFO(result.err);
    REQUIRE(result.code == 0);
    for (const auto& cell : fs::directory_iterator(fs::path(out) / "cells"))
      losses[i] = json::parse(read_text(cell.path() / "curve.json"))["train"]["loss"].back();
  }
  CHECK(losses[0] > 0);
  CHECK(losses[1] == doctest::Approx(losses[0]).epsilon(1e-3));
}

TEST_CASE("the configuration of the README is valid") {
  const TemporaryFolder folder;
  const std::vector<std::string> found = blocks("json");
  REQUIRE(found.size() == 1);
  const fs::path file = folder / "readme.json";
  write_text(file, found[0]);
  const ProcessResult result = run({"--config", file.string(), "--print-config"});
  INFO(result.err);
  CHECK(result.code == 0);
  CHECK(result.out.find("sweep.lr = [0.1,0.3,0.4]") != std::string::npos);
}

TEST_CASE("commands, options, configurations and files that the README names exist") {
  const std::string text = readme();
  for (const std::string& name : matches(text, "phasor-train ([a-z]+(?:-[a-z]+)?)\\b")) {
    INFO(name);
    CHECK(run({name, "--help"}).code == 0);
  }
  std::string help = run({"--help"}).out;
  for (const char* command : {"max-lr", "report", "compare", "verify", "check-norm"})
    help += run({command, "--help"}).out;
  for (const std::string& option : matches(text, "`(--[a-z][a-z-]+)")) {
    INFO(option);
    CHECK((help.find(option) != std::string::npos || option == "--install"));
  }
  for (const std::string& config : matches(text, "--config ([a-z0-9-]+\\.json)")) {
    INFO(config);
    CHECK(run({"--config", config, "--print-config"}).code == 0);
  }
  const fs::path root = std::getenv("PHASOR_SOURCE_DIR");
  for (const std::string& link : matches(text, "\\]\\(([^)#h ][^) ]*)\\)")) {
    INFO(link);
    CHECK(fs::exists(root / link));
  }
}
