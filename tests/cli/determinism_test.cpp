// The determinism matrix: a small sweep has the same bytes whatever runs it. Threads and jobs in
// every combination, taking turns with the kernel sets; then stopped and resumed, each part under
// other threads, jobs and kernels than the one before.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/process.h"
#include "kernels/kernels.h"
#include "report/compare.h"
#include "report/results.h"

using namespace phasor;
using namespace phasor::tests;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr int kMostThreads = 8, kMostJobs = 4;

/// Four cells of eight micro-batches and eight lanes, so that each thread has its own; both
/// convolutions, and one cell that blows up.
std::string matrix_sweep(const TemporaryFolder& folder) {
  const fs::path file = folder / "matrix.json";
  write_text(file, json{{"name", "matrix"},
                        {"data", {{"train_limit", 48}, {"test_limit", 20}}},
                        {"model", {{"arch", "resnet8"}}},
                        {"train",
                         {{"epochs", 1},
                          {"batch_size", 32},
                          {"lanes", 8},
                          {"micro_batch", 4},
                          {"checkpoint_minutes", 0}}},
                        {"sweep",
                         {{"variant",
                           {{{"norm.name", "layernorm"}},
                            {{"norm.name", "rmsnorm"}, {"norm.axes", "sample"}},
                            {{"norm.name", "mrsnorm"}, {"train.conv", "direct"}},
                            {{"norm.name", "mrsnorm"}, {"train.lr", 1e6}}}}}}}
                       .dump());
  return file.string();
}

/// The sets of the class `fma` that this processor has.
std::vector<std::string> kernel_sets() {
  std::vector<std::string> sets;
  for (const auto set : {kernels::KernelSet::avx2, kernels::KernelSet::avx512}) {
    if (kernels::available(set)) {
      sets.emplace_back(kernels::name_of(set));
    } else {
      MESSAGE("skipped: this processor has no " << std::string(kernels::name_of(set)));
    }
  }
  return sets;
}

std::vector<std::string> line(const std::string& config, const fs::path& out, int threads, int jobs,
                              const std::string& set) {
  return {"--config",  config,
          "--out",     out.string(),
          "--threads", std::to_string(threads),
          "--jobs",    std::to_string(jobs),
          "--set",     "run.kernels=" + set};
}

void check_same(const fs::path& a, const fs::path& b) {
  const std::vector<std::string> lines = result_differences(load_results(a), load_results(b));
  CHECK_MESSAGE(lines.empty(), (lines.empty() ? "" : lines.front()));
  for (const auto& cell : fs::directory_iterator(a / "cells")) {
    const fs::path other = b / "cells" / cell.path().filename();
    CAPTURE(other);
    for (const char* name : {"curve.jsonl", "curve.json", "last.safetensors"}) {
      CHECK(read_text(cell.path() / name) == read_text(other / name));
    }
  }
}

}  // namespace

TEST_CASE("B38: threads, jobs and instruction sets, resumed or not, give the same bytes") {
  const std::vector<std::string> sets = kernel_sets();
  if (sets.empty()) return;
  const TemporaryFolder folder;
  const std::string config = matrix_sweep(folder);
  const fs::path plain = folder / "plain", other = folder / "other";
  const ProcessResult first = run(line(config, plain, 1, 1, sets[0]));
  CAPTURE(first.err);
  REQUIRE(first.code == 0);
  REQUIRE(std::distance(fs::directory_iterator(plain / "cells"), {}) == 4);

  std::size_t turn = 0;
  for (int threads = 1; threads <= kMostThreads; ++threads) {
    for (int jobs = 1; jobs <= kMostJobs; ++jobs) {
      const std::string& set = sets[(turn++ + static_cast<std::size_t>(threads)) % sets.size()];
      CAPTURE(threads);
      CAPTURE(jobs);
      CAPTURE(set);
      CHECK(run(line(config, other, threads, jobs, set)).code == 0);
      check_same(plain, other);
      fs::remove_all(other);
    }
  }

  // Ever longer parts, so that it ends on a machine of any speed.
  int parts = 0, code = 8;
  for (double seconds = 0.05; code == 8; seconds *= 1.5, ++parts) {
    auto args = line(config, other, 1 + parts % kMostThreads, 1 + parts % 3,
                     sets[static_cast<std::size_t>(parts) % sets.size()]);
    args.insert(args.end(), {"--stop-after", std::to_string(seconds) + 's'});
    code = run(args).code;
  }
  CHECK(code == 0);
  CHECK(parts > 1);
  check_same(plain, other);
}
