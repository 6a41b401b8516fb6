// Whole sweeps by the real program: what is run, what never runs again, and that results are the
// same bytes however they came about.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/process.h"
#include "report/compare.h"
#include "report/results.h"

using namespace phasor;
using namespace phasor::tests;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Six cells of a moment each.
std::string small_sweep(const TemporaryFolder& folder, int steps = 2) {
  const fs::path file = folder / "small.json";
  const json norms = json::parse(run({"norms", "--json"}).out);
  json names = json::array();
  for (std::size_t i = 0; i < 3; ++i) names.push_back(norms[i]["name"]);
  write_text(file, json{{"name", "small"},
                        {"data", {{"train_limit", 64}, {"test_limit", 100}}},
                        {"model", {{"arch", "resnet8"}}},
                        {"train", {{"epochs", 100}, {"max_steps", steps}, {"batch_size", 32}}},
                        {"sweep", {{"norm", names}, {"lr", {0.1, 0.4}}}}}
                       .dump());
  return file.string();
}

std::vector<fs::path> cell_folders(const fs::path& out) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(out / "cells")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

bool strict_json(const std::string& text) {
  return json::accept(text) && text.find("NaN") == std::string::npos &&
         text.find("Infinity") == std::string::npos;
}

void check_same(const fs::path& a, const fs::path& b) {
  const Results left = load_results(a), right = load_results(b);
  const std::vector<std::string> lines = result_differences(left, right);
  CAPTURE(lines.size());
  if (!lines.empty()) MESSAGE(lines.front());
  CHECK(lines.empty());
}

}  // namespace

TEST_CASE("B46: finished cells never run again; a deleted one runs alone") {
  const TemporaryFolder folder;
  const std::string config = small_sweep(folder);
  const fs::path out = folder / "out";
  const ProcessResult first = run({"--config", config, "--out", out.string()});
  CAPTURE(first.err);
  REQUIRE(first.code == 0);
  const std::vector<fs::path> cells = cell_folders(out);
  REQUIRE(cells.size() == 6);
  for (const fs::path& cell : cells) {
    CHECK(strict_json(read_text(cell / "cell.json")));
    CHECK(strict_json(read_text(cell / "curve.json")));
    CHECK_FALSE(fs::exists(cell / "claim.json"));
    CHECK(json::parse(read_text(cell / "cell.json"))["state"] == "done");
  }
  CHECK(strict_json(read_text(out / "sweep.json")));
  CHECK(first.out.find("Synthetic data") != std::string::npos);
  CHECK(first.out.find("Extreme regime") != std::string::npos);

  std::vector<fs::file_time_type> times;
  for (const fs::path& cell : cells) times.push_back(fs::last_write_time(cell / "cell.json"));
  CHECK(run({"--config", config, "--out", out.string()}).code == 0);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    CHECK(fs::last_write_time(cells[i] / "cell.json") == times[i]);
  }

  const std::string before = read_text(cells[2] / "curve.json");
  fs::remove_all(cells[2]);
  CHECK(run({"--config", config, "--out", out.string()}).code == 0);
  CHECK(cell_folders(out) == cells);
  CHECK(read_text(cells[2] / "curve.json") == before);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i != 2) CHECK(fs::last_write_time(cells[i] / "cell.json") == times[i]);
  }

  SUBCASE("only cell.json and curve.json are needed") {
    const fs::path copy = folder / "copy";
    write_text(copy / "sweep.json", read_text(out / "sweep.json"));
    for (const fs::path& cell : cells) {
      for (const char* name : {"cell.json", "curve.json"}) {
        write_text(copy / ("cells/" + cell.filename().string()) / name, read_text(cell / name));
      }
    }
    CHECK(run({"--config", config, "--out", copy.string()}).code == 0);
    CHECK_FALSE(fs::exists(copy / "cells" / cells[0].filename() / "last.safetensors"));
  }
  SUBCASE("another configuration is refused with its keys; --fresh moves the folder aside") {
    const ProcessResult other =
        run({"--config", config, "--out", out.string(), "--set", "train.momentum=0.8"});
    CHECK(other.code == 2);
    CHECK(other.err.find("train.momentum: 0.9 there, 0.8 here") != std::string::npos);
    CHECK(read_text(cells[2] / "curve.json") == before);
    const ProcessResult lr = run({"--config", config, "--out", out.string(), "--set", "lr=0.3"});
    CHECK(lr.code == 2);
    CHECK(lr.err.find("train.lr: 0.1 there, 0.3 here; an axis there: to add values, --set "
                      "sweep.lr=[...]") != std::string::npos);
    CHECK(run({"--config", config, "--out", out.string(), "--set", "train.momentum=0.8", "--fresh"})
              .code == 0);
    CHECK(fs::exists(folder / "out.old-1/sweep.json"));
  }
  SUBCASE("axes may grow") {
    CHECK(
        run({"--config", config, "--out", out.string(), "--set", "sweep.lr=[0.1,0.2,0.4]"}).code ==
        0);
    CHECK(cell_folders(out).size() == 9);
    CHECK(fs::last_write_time(cells[0] / "cell.json") == times[0]);
  }
  SUBCASE("eval repeats the recorded test accuracy; compare says equal") {
    const json cell = json::parse(read_text(cells[0] / "cell.json"));
    const ProcessResult eval = run({"eval", (cells[0] / "last.safetensors").string(), "--json"});
    CAPTURE(eval.err);
    CHECK(eval.code == 0);
    CHECK(json::parse(eval.out)["accuracy"] == cell["result"]["test_accuracy"]);
    CHECK(run({"compare", out.string(), out.string(), "--equal"}).code == 0);
  }
  SUBCASE("eval heeds --set without --config, and names a file that is none or does not fit") {
    const std::string weights = (cells[0] / "last.safetensors").string();
    const ProcessResult fewer = run({"eval", weights, "--set", "data.test_limit=10", "--json"});
    CHECK(json::parse(fewer.out)["images"] == 10);
    CHECK(run({"eval", weights, "--set", "data.test_limt=10"}).code == 2);
    const ProcessResult other = run({"eval", weights, "--set", "model.arch=resnet14"});
    CHECK(other.code == 3);
    CHECK(other.err.find(weights) != std::string::npos);
    const ProcessResult none = run({"eval", (cells[0] / "first.safetensors").string()});
    CHECK(none.code == 5);
    CHECK(none.err.find("first.safetensors, which does not exist") != std::string::npos);
    CHECK(run({"eval", cells[0].string()}).code == 5);
  }
}

TEST_CASE("B38: jobs, threads, filter and shards give the same bytes") {
  const TemporaryFolder folder;
  const std::string config = small_sweep(folder);
  const fs::path plain = folder / "plain";
  REQUIRE(
      run({"--config", config, "--out", plain.string(), "--jobs", "1", "--threads", "1"}).code ==
      0);
  const fs::path threads = folder / "threads";
  CHECK(
      run({"--config", config, "--out", threads.string(), "--jobs", "3", "--threads", "3"}).code ==
      0);
  check_same(plain, threads);

  const fs::path parts = folder / "parts";
  CHECK(run({"--config", config, "--out", parts.string(), "--filter", "lr=0.4", "--shard", "0/2"})
            .code == 0);
  CHECK(cell_folders(parts).size() == 2);
  CHECK(run({"--config", config, "--out", parts.string(), "--shard", "1/2"}).code == 0);
  CHECK(run({"--config", config, "--out", parts.string(), "--shard", "0/2"}).code == 0);
  CHECK(cell_folders(parts).size() == 6);
  check_same(plain, parts);
  CHECK(run({"compare", plain.string(), parts.string(), "--equal"}).code == 0);
  fs::remove(cell_folders(parts)[0] / "curve.json");
  CHECK(run({"compare", plain.string(), parts.string(), "--equal"}).code == 7);
}

TEST_CASE("B47: two processes share a folder; ids tell close numbers apart") {
  const TemporaryFolder folder;
  const std::string config = small_sweep(folder);
  const fs::path out = folder / "out", quiet = folder / "quiet";
  Process a({"--config", config, "--out", out.string(), "--jobs", "1"});
  Process b({"--config", config, "--out", out.string(), "--jobs", "1"});
  CHECK(a.wait().code == 0);
  CHECK(b.wait().code == 0);
  CHECK(cell_folders(out).size() == 6);
  CHECK(run({"--config", config, "--out", quiet.string()}).code == 0);
  check_same(quiet, out);

  const ProcessResult close = run({"--config", config, "--out", (folder / "close").string(),
                                   "--set", "sweep.lr=[0.3,0.30000000000000004]"});
  CHECK(close.code == 0);
  CHECK(cell_folders(folder / "close").size() == 6);
}

TEST_CASE("B36, B46: kill -9 at any moment and resume gives the bytes of a quiet run") {
  const TemporaryFolder folder;
  const std::string config = small_sweep(folder, 12);
  const std::vector<std::string> base{
      "--config", config, "--jobs", "2", "--set", "train.checkpoint_minutes=0", "--out"};
  const auto with = [&](const fs::path& out) {
    std::vector<std::string> args = base;
    args.push_back(out.string());
    return args;
  };
  const fs::path quiet = folder / "quiet", out = folder / "out";
  REQUIRE(run(with(quiet)).code == 0);
  for (int kill = 0; kill < 4; ++kill) {
    Process process(with(out));
    const std::size_t before = fs::exists(out / "cells") ? cell_folders(out).size() : 0;
    wait_until([&] { return fs::exists(out / "cells") && cell_folders(out).size() > before; }, 5);
    process.signal(SIGKILL);
    CHECK(process.wait().code == 128 + SIGKILL);
  }
  CHECK(run(with(out)).code == 0);
  check_same(quiet, out);
}

TEST_CASE("B54: SIGINT is exit 130, SIGTERM 143, SIGHUP 129, --stop-after 8; all continue") {
  const TemporaryFolder folder;
  const std::string config = small_sweep(folder, 2000);
  const fs::path out = folder / "out";
  const std::vector<std::string> args{"--config", config, "--out", out.string(), "--jobs", "1"};
  const auto training = [&] {
    if (!fs::exists(out / "cells")) return false;
    for (const fs::path& cell : cell_folders(out)) {
      if (fs::exists(cell / "claim.json") && fs::exists(cell / "curve.jsonl")) return true;
    }
    return false;
  };
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    Process process(args);
    REQUIRE(wait_until(training, 20));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    process.signal(number);
    CHECK(process.wait().code == 128 + number);
    const std::vector<fs::path> cells = cell_folders(out);
    CHECK(cells.size() == 1);  // no further cell was started
    CHECK(json::parse(read_text(cells[0] / "cell.json"))["state"] == "interrupted");
    CHECK(fs::exists(cells[0] / "last.safetensors"));
    CHECK_FALSE(fs::exists(cells[0] / "claim.json"));
  }
  std::vector<std::string> limited = args;
  limited.insert(limited.end(), {"--stop-after", "1s"});
  const ProcessResult stopped = run(limited);
  CHECK(stopped.code == 8);
  CHECK(stopped.err.find("run again to continue") != std::string::npos);
}

TEST_CASE("B54: a hang-up that the caller ignored stops nothing") {
  const TemporaryFolder folder;
  const fs::path out = folder / "out";
  Process process({"--config", small_sweep(folder, 10), "--out", out.string()},
                  {.before_exec = [] { ::signal(SIGHUP, SIG_IGN); }});
  REQUIRE(wait_until([&] { return fs::exists(out / "cells") && !cell_folders(out).empty(); }, 20));
  process.signal(SIGHUP);
  CHECK(process.wait().code == 0);
}

TEST_CASE("B54: a second SIGINT ends the process at once") {
  const TemporaryFolder folder;
  const std::string config = small_sweep(folder, 2000);
  const fs::path out = folder / "out";
  Process process({"--config", config, "--out", out.string()});
  REQUIRE(wait_until([&] { return fs::exists(out / "cells") && !cell_folders(out).empty(); }, 20));
  process.signal(SIGINT);
  process.signal(SIGINT);
  CHECK(process.wait().code == 130);
}

TEST_CASE("B47: a stopped owner is replaced after the timeout, and wakes without harm") {
  const TemporaryFolder folder;
  const std::string config = small_sweep(folder, 40);
  const fs::path out = folder / "out", quiet = folder / "quiet";
  const std::vector<std::string> args{"--config", config, "--out", out.string(), "--jobs", "1"};
  const ProcessOptions short_timeout{
      .before_exec = [] { ::setenv("PHASOR_CLAIM_TIMEOUT", "1", 1); }};
  Process sleeper(args, short_timeout);
  REQUIRE(wait_until(
      [&] {
        return fs::exists(out / "cells") && !cell_folders(out).empty() &&
               fs::exists(cell_folders(out)[0] / "curve.jsonl");
      },
      20));
  sleeper.signal(SIGSTOP);
  const ProcessResult other = run(args, short_timeout);
  CAPTURE(other.err);
  CHECK(other.code == 0);
  sleeper.signal(SIGCONT);
  CHECK(sleeper.wait().code == 0);
  CHECK(run({"--config", config, "--out", quiet.string()}).code == 0);
  check_same(quiet, out);
}

TEST_CASE("B56: stderr to a file has no control characters and a line per epoch at most") {
  const TemporaryFolder folder;
  const std::string config = small_sweep(folder, 10);
  const ProcessResult result = run({"--config", config, "--out", (folder / "out").string()});
  CHECK(result.code == 0);
  CHECK(result.err.find('\r') == std::string::npos);
  CHECK(result.err.find('\033') == std::string::npos);
  // 6 cells of 5 epochs, and a few lines of notices.
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') <= 6 * 5 + 8);
}

TEST_CASE("B28, B48: a cell that goes non-finite is a result, in strict JSON") {
  const TemporaryFolder folder;
  const std::string config = small_sweep(folder, 30);
  const fs::path out = folder / "out";
  const ProcessResult result =
      run({"--config", config, "--out", out.string(), "--set", "sweep.lr=[1e6,0.1]"});
  CHECK(result.code == 0);
  int blown = 0;
  for (const fs::path& cell : cell_folders(out)) {
    const std::string text = read_text(cell / "cell.json");
    CHECK(strict_json(text));
    CHECK(strict_json(read_text(cell / "curve.json")));
    const json verdict = json::parse(text)["result"]["verdict"];
    if (verdict["kind"] != "nonfinite") continue;
    ++blown;
    CHECK(verdict["step"].is_number_integer());
    CHECK(verdict["nonfinite"]["layer"].is_string());
  }
  MESSAGE(blown << " of 3 cells at lr 1e6 went non-finite");
}

TEST_CASE("max-lr bisects by ordinary cells, goes on where it stopped, and says what it tried") {
  const TemporaryFolder folder;
  const std::string config = small_sweep(folder), out = (folder / "out").string();
  const std::vector<std::string> line{"max-lr", "--config", config,    "--out", out,
                                      "--from", "1e-3",     "--ratio", "20"};
  const ProcessResult first = run(line);
  CAPTURE(first.err);
  REQUIRE(first.code == 0);
  const json document = json::parse(read_text(folder / "out/max-lr.json"));
  CHECK(document["groups"].size() == 3);
  CHECK(document["budget"] == "100 epochs, at most 2 steps");
  for (const json& group : document["groups"]) {
    // Two steps teach nothing: every trial falls, down to the end of the range.
    CHECK(group["largest_trained"].is_null());
    CHECK(group["smallest_untrained"] == 0.001);
    REQUIRE(group["trials"].size() >= 3);
    CHECK(group["trials"][0]["lr"] == 0.1);
    CHECK(group["trials"][0]["verdicts"] == json::array({"stalled"}));
  }
  CHECK(first.out.find("0.1 stalled") != std::string::npos);
  const std::size_t cells = cell_folders(out).size();
  std::vector<std::string> closer = line;
  closer.back() = "5";
  const ProcessResult second = run(closer);
  CHECK(second.code == 0);
  CHECK(cell_folders(out).size() >= cells);
  CHECK(run({"report", out}).code == 0);
  CHECK(run({"max-lr", "--config", config, "--from", "2", "--to", "1"}).code == 2);
  const ProcessResult word = run({"max-lr", "--config", config, "--ratio", "big"});
  CHECK(word.code == 2);
  CHECK(word.err.find("--ratio takes a number above 0") != std::string::npos);
}

TEST_CASE("weights of another pairing of channels are refused by both names") {
  const TemporaryFolder folder;
  const std::vector<std::string> small{
      "--config", "smoke.json",         "--set", "norm=mrsnorm",
      "--set",    "train.max_steps=2",  "--set", "data.train_limit=64",
      "--set",    "data.test_limit=50", "--set", "norm.pairing=half"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> line = small;
    line.insert(line.end(), more.begin(), more.end());
    return line;
  };
  const fs::path out = folder / "half";
  const ProcessResult first = run(with({"--out", out.string()}));
  INFO(first.err);
  REQUIRE(first.code == 0);
  const fs::path cell = cell_folders(out).at(0);
  CHECK(cell.filename().string().find("pairing") == std::string::npos);  // no axis
  const std::string weights = (cell / "last.safetensors").string();
  CHECK(run({"eval", weights}).code == 0);
  const ProcessResult eval = run({"eval", weights, "--set", "norm.pairing=adjacent"});
  CHECK(eval.code == 3);
  CHECK(eval.err.find("pairs channels as half, this network as adjacent") != std::string::npos);
  CHECK(run(with({"--out", (folder / "same").string(), "--set", "train.init_from=" + weights}))
            .code == 0);
  std::vector<std::string> other =
      with({"--out", (folder / "other").string(), "--set", "train.init_from=" + weights});
  other[11] = "norm.pairing=random:1";
  const ProcessResult refused = run(other);
  CHECK(refused.code == 6);
  CHECK(refused.err.find("pairs channels as half, this network as random:1") != std::string::npos);
}
