// phasor-train new-norm: what it writes and what it refuses. tests/consumer builds the result.
#include <doctest/doctest.h>

#include <filesystem>

#include "cli/process.h"

using namespace phasor::tests;
namespace fs = std::filesystem;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("new-norm writes three files with the name filled in") {
  const TemporaryFolder folder;
  const fs::path out = folder / "project";
  const ProcessResult result = run({"new-norm", "softclip", "--out", out.string()});
  CAPTURE(result.err);
  REQUIRE(result.code == 0);
  CHECK(has(result.out, (out / "softclip.cpp").string()));
  CHECK(has(read_text(out / "CMakeLists.txt"), "phasor_add_norm_plugin(softclip softclip.cpp)"));
  CHECK(has(read_text(out / "softclip.cpp"), "namespace phasor::norms::softclip {"));
  CHECK(has(read_text(out / "softclip.cpp"), ".name = \"softclip\""));
  CHECK(has(read_text(out / "README.md"), "check-norm build/softclip.so"));
  for (const auto& entry : fs::directory_iterator(out)) {
    CHECK(!has(read_text(entry.path()), "@"));
  }

  const ProcessResult again = run({"new-norm", "softclip", "--out", out.string()});
  CHECK(again.code == 2);
  CHECK(has(again.err, "exists already"));
}

TEST_CASE("new-norm refuses names that cannot be") {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& name, const std::string& reason) {
    const ProcessResult result = run({"new-norm", name, "--out", (folder / "project").string()});
    CAPTURE(name);
    CHECK(result.code == 2);
    CHECK(has(result.err, reason));
    CHECK(!fs::exists(folder / "project"));
  };
  for (const char* name : {"Soft", "1st", "soft-clip", "a__b", "_a", "../x", "a b"}) {
    refuse(name, "a norm's name starts with a small letter");
  }
  refuse("class", "has taken the name class");
  refuse("sqrt", "has taken the name sqrt");
  refuse("mrsnorm", "there is a norm mrsnorm already");
  CHECK(run({"new-norm"}).code == 2);
  CHECK(run({"new-norm", "softclip", "--out", "/proc/nowhere"}).code == 5);
}
