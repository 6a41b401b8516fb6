#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "layers/layer_rules.h"

namespace {

namespace fs = std::filesystem;
using phasor::tests::layer_breaches;
using phasor::tests::layer_order;
using phasor::tests::without_comments;

fs::path source_dir() {
  const char* path = std::getenv("PHASOR_SOURCE_DIR");
  REQUIRE_MESSAGE(path != nullptr, "PHASOR_SOURCE_DIR names the source tree (ctest sets it)");
  return path;
}

/// A copy of the tree in which faults are planted; removed with the object.
class Copy {
 public:
  Copy() {
    const fs::path source = source_dir();
    root_ = fs::temp_directory_path() / ("phasor-layers-" + std::to_string(::getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
    fs::copy(source / "src", root_ / "src", fs::copy_options::recursive);
    fs::copy(source / "include", root_ / "include", fs::copy_options::recursive);
    fs::copy(source / "CMakeLists.txt", root_ / "CMakeLists.txt");
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  ~Copy() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  void write(const fs::path& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  /// The breaches that `text` in a new file `path` makes, one a line.
  std::string plant(const fs::path& path, const std::string& text) const {
    const std::vector<std::string> before = layer_breaches(root_);
    write(path, text);
    std::string found;
    for (const std::string& breach : layer_breaches(root_)) {
      if (std::find(before.begin(), before.end(), breach) == before.end()) found += breach + "\n";
    }
    fs::remove(root_ / path);
    return found;
  }

 private:
  fs::path root_;
};

}  // namespace

TEST_CASE("the tree keeps the order of its layers") {
  for (const std::string& breach : layer_breaches(source_dir())) FAIL_CHECK(breach);
}

TEST_CASE("the order is read from CMakeLists.txt") {
  const auto order = layer_order(source_dir());
  REQUIRE(order.size() >= 4);
  CHECK(order.front() == "core");
  CHECK(order.back() == "cli");
}

TEST_CASE("planted breaches are found") {
  const Copy copy;
  SUBCASE("an upward include") {
    CHECK(copy.plant("src/core/planted.cpp", "#include <vector>\n#include \"nn/resnet.h\"\n") ==
          "src/core/planted.cpp:2: core includes upwards, nn/resnet.h\n");
  }
  SUBCASE("an upward include in angle brackets, oddly spaced, in a subfolder") {
    CHECK(copy.plant("src/kernels/deep/planted.h", "  #  include <train/trainer.h>\n") ==
          "src/kernels/deep/planted.h:1: kernels includes upwards, train/trainer.h\n");
  }
  SUBCASE("a path out of the layer") {
    CHECK(copy.plant("src/core/planted.h", "#include \"../nn/resnet.h\"\n") ==
          "src/core/planted.h:1: includes ../nn/resnet.h, which is not of the form "
          "\"layer/file.h\"\n");
  }
  SUBCASE("a layer in a public header") {
    CHECK(copy.plant("include/phasor/planted.h", "#include \"core/file.h\"\n") ==
          "include/phasor/planted.h:1: a public header includes core/file.h\n");
  }
  SUBCASE("a third-party library in a public header") {
    CHECK(copy.plant("include/phasor/planted.h", "#include <nlohmann/json_fwd.hpp>\n") ==
          "include/phasor/planted.h:1: a public header includes nlohmann/json_fwd.hpp\n");
    CHECK(copy.plant("include/phasor/planted.h", "#include <Eigen/Core>\n") ==
          "include/phasor/planted.h:1: a public header includes Eigen/Core\n");
    CHECK(copy.plant("include/phasor/planted.h", "#include <spdlog/spdlog.h>\n") ==
          "include/phasor/planted.h:1: a public header includes spdlog/spdlog.h\n");
    CHECK(copy.plant("include/phasor/planted.h", "#include <cxxopts.hpp>\n") ==
          "include/phasor/planted.h:1: a public header includes cxxopts.hpp\n");
  }
  SUBCASE("an upward dependency in CMake") {
    CHECK(copy.plant("src/core/deep/CMakeLists.txt",
                     "phasor_layer(deep\n  SOURCES a.cpp\n  DEPENDS cli\n  LIBRARIES nn)\n") ==
          "src/core/deep/CMakeLists.txt:0: depends upwards, on cli\n");
  }
  SUBCASE("a folder that is no layer") {
    CHECK(copy.plant("src/utils/planted.h", "") ==
          "src/utils:0: is not in the list of layers of CMakeLists.txt\n");
  }
}

TEST_CASE("a norm is named only where it lives") {
  const Copy copy;
  copy.write("src/norms/plantednorm.cpp", "NormSpec norm_spec() { return {}; }\n");
  const std::string breach = "names the norm plantednorm\n";
  CHECK(copy.plant("src/nn/a.cpp", "auto n = make(\"plantednorm\");\n") ==
        "src/nn/a.cpp:1: " + breach);
  CHECK(copy.plant("src/train/a.h", "\nvoid Planted_Norm();\n") == "src/train/a.h:2: " + breach);
  CHECK(copy.plant("include/phasor/a.h", "class PlantedNorm;\n") ==
        "include/phasor/a.h:1: " + breach);
  CHECK(copy.plant("src/nn/a.cpp", "// as plantednorm does\n") == "");
  CHECK(copy.plant("src/kernels/a.h", "void planted_norm_forward();\n") == "");
  CHECK(copy.plant("src/norms/deep/a.h", "#include \"norms/plantednorm.h\"\n") == "");
  CHECK(copy.plant("src/norms/ordinary.cpp", "NormSpec norm_spec();\n") == "");
}

TEST_CASE("comments are blanked out and nothing else") {
  CHECK(without_comments("a // b\nc") == "a     \nc");
  CHECK(without_comments("a /* b\nc */ d") == "a     \n     d");
  CHECK(without_comments("\"// no\" x") == "\"// no\" x");
  CHECK(without_comments("\"\\\"// no\" // yes") == "\"\\\"// no\"       ");
  CHECK(without_comments("R\"(// no)\" // yes") == "R\"(// no)\"       ");
  CHECK(without_comments("'\"' // yes") == "'\"'       ");
  CHECK(without_comments("1'000'000 // yes") == "1'000'000       ");
  CHECK(without_comments("/* open") == "       ");
}
