// Disassembles the product loops of the convolution kernels and looks for vector registers that go
// through the stack: a spilled accumulator costs a load and a store for every multiply-add.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Instruction {
  std::string address, text;
};

struct Loop {
  std::string function;
  int products = 0, spills = 0;
  bool masked = false;  ///< loads by an AVX2 mask, which is a vector that may wait on the stack
};

bool is_product(const std::string& text) {
  return text.starts_with("vfmadd") || text.starts_with("vfnmadd");
}

/// A vector register next to a fixed place of the stack frame. Places with an index register are
/// arrays of the program, not spills.
bool is_spill(const std::string& text) {
  const bool vector =
      text.find("%zmm") != std::string::npos || text.find("%ymm") != std::string::npos;
  return vector &&
         (text.find("(%rsp)") != std::string::npos || text.find("(%rbp)") != std::string::npos);
}

/// Adds the product loops of one function: straight runs of instructions that end in a jump back to
/// their beginning, without a jump in between, with `least` multiply-adds or more.
void add_loops(const std::string& function, const std::vector<Instruction>& code, int least,
               std::vector<Loop>& loops) {
  std::map<std::string, std::size_t> place;
  std::size_t straight_from = 0;  // no jump in [straight_from, i)
  for (std::size_t i = 0; i < code.size(); ++i) {
    const std::string& text = code[i].text;
    place[code[i].address] = i;
    if (!text.starts_with("j") && !text.starts_with("call") && !text.starts_with("ret")) continue;
    std::istringstream words(text);
    std::string name, target;
    words >> name >> target;
    const auto start = place.find(target);
    if (start != place.end() && start->second >= straight_from) {
      Loop loop{function};
      for (std::size_t k = start->second; k <= i; ++k) {
        loop.products += is_product(code[k].text);
        loop.spills += is_spill(code[k].text);
        loop.masked |= code[k].text.starts_with("vmaskmov");
      }
      if (loop.products >= least) loops.push_back(loop);
    }
    straight_from = i + 1;
  }
}

/// The product loops in the output of `objdump -d --no-show-raw-insn -C`.
std::vector<Loop> product_loops(std::istream& listing, int least) {
  std::vector<Loop> loops;
  std::string line, function;
  std::vector<Instruction> code;
  while (std::getline(listing, line)) {
    const std::size_t name = line.find(" <");
    if (!line.empty() && line[0] != ' ' && name != std::string::npos && line.ends_with(">:")) {
      add_loops(function, code, least, loops);
      code.clear();
      function = line.substr(name + 2, line.size() - name - 4);
      continue;
    }
    const std::size_t colon = line.find(":\t"), start = line.find_first_not_of(" ");
    if (colon == std::string::npos || start > colon) continue;
    code.push_back({line.substr(start, colon - start), line.substr(colon + 2)});
  }
  add_loops(function, code, least, loops);
  return loops;
}

[[maybe_unused]] std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  return pclose(pipe) == 0 ? text : "";
}

/// Loops that may spill: product loops of register tiles that no layer of the networks runs often.
/// A remainder of four or fewer tiles (or rows) has so few accumulators that the compiler unrolls
/// its sixteen channels and keeps lines of weights for later on the stack. With AVX2 the transform
/// of the weights, once a step, does not fit sixteen registers, and loops over the last few
/// channels load their mask.
[[maybe_unused]] bool may_spill(const Loop& loop) {
  return (loop.function.find("convolve<") != std::string::npos && loop.products == 64) ||
         loop.function.find("::avx2::(anonymous namespace)::prepare_lanes<") != std::string::npos ||
         (loop.masked && loop.spills == 1);
}

}  // namespace

TEST_CASE("the search for spills finds a planted one and passes a clean loop") {
  const auto loops_of = [](const char* place) {
    std::istringstream listing(std::string("0000000000000000 <kernel(float*)>:\n"
                                           "   0:\txor    %eax,%eax\n"
                                           "   4:\tvmovups (%rsi),%zmm1\n"
                                           "   a:\tvmovaps %zmm0,") +
                               place +
                               "\n"
                               "  10:\tvfmadd231ps (%rdi){1to16},%zmm1,%zmm0\n"
                               "  16:\tjne    4 <kernel(float*)+0x4>\n"
                               "  18:\tvmovaps 0x40(%rsp),%zmm3\n"
                               "  1c:\tret\n");
    return product_loops(listing, 1);
  };
  const std::vector<Loop> spilled = loops_of("0x40(%rsp)"), framed = loops_of("-0x130(%rbp)"),
                          clean = loops_of("0x40(%rsp,%rax,4)");
  REQUIRE(spilled.size() == 1);
  CHECK(spilled[0].function == "kernel(float*)");
  CHECK(spilled[0].products == 1);
  CHECK(spilled[0].spills == 1);
  REQUIRE(framed.size() == 1);
  CHECK(framed[0].spills == 1);
  REQUIRE(clean.size() == 1);
  CHECK(clean[0].spills == 0);
}

namespace {

/// The product loops with `least` multiply-adds or more of one kernel family in the object files of
/// one instruction set; empty where this build has none to look at.
[[maybe_unused]] std::vector<Loop> loops_of(const std::string& set, const std::string& family,
                                            int least) {
  const std::filesystem::path object =
      std::filesystem::path(std::getenv("PHASOR_BINARY_DIR")) / "src" / "kernels" / "CMakeFiles" /
      ("phasor_kernels_" + set + ".dir") / "cpu" / (family + ".cpp.o");
  std::istringstream listing(
      output_of("objdump -d --no-show-raw-insn -C '" + object.string() + "' 2>/dev/null"));
  return product_loops(listing, least);
}

/// Says why object code is not looked at, or nothing.
const char* reason_to_skip() {
#if defined(__clang__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "the register tiles are laid out for GCC without sanitizers";
#else
  const char* build = std::getenv("PHASOR_BINARY_DIR");
  if (build == nullptr || output_of("objdump --version 2>/dev/null").empty())
    return "needs objdump and PHASOR_BINARY_DIR";
  if (!std::filesystem::exists(std::filesystem::path(build) / "src/kernels/CMakeFiles"))
    return "this build keeps its object files elsewhere";
  return nullptr;
#endif
}

}  // namespace

TEST_CASE("no vector register is spilled in the product loops of the convolutions") {
  if (const char* reason = reason_to_skip()) {
    std::printf("skipped: %s\n", reason);
    return;
  }
  const struct {
    const char* name;
    int full_products;        ///< of the loop of a full register tile
    std::size_t least_loops;  ///< with 8 products or more
    int least_full;
  } sets[] = {{"avx2", 12, 3, 1}, {"avx512", 16, 4, 2}};
  for (const auto& set : sets)
    for (const char* family :
         {"conv_direct", "conv_direct_gradient", "winograd", "winograd_gradient"}) {
      const std::vector<Loop> loops = loops_of(set.name, family, 8);
      CAPTURE(set.name);
      CAPTURE(family);
      CHECK(loops.size() >= set.least_loops);
      int full = 0;
      for (const Loop& loop : loops) {
        CAPTURE(loop.function);
        CAPTURE(loop.products);
        CHECK((loop.spills == 0 || may_spill(loop)));
        full += loop.products >= set.full_products;
      }
      CHECK(full >= set.least_full);
    }
}

TEST_CASE("the loop that measures the peak computes every multiply-add that it counts") {
  if (const char* reason = reason_to_skip()) {
    std::printf("skipped: %s\n", reason);
    return;
  }
  for (const char* set : {"avx2", "avx512"}) {
    const std::vector<Loop> loops = loops_of(set, "peak", 1);
    CAPTURE(set);
    REQUIRE(loops.size() == 1);
    CHECK(loops[0].products == 12);  // 6 chains of two ymm registers, 12 of one zmm
    CHECK(loops[0].spills == 0);
  }
}
