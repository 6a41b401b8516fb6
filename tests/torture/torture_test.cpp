// The torture test: several processes share one results folder while they are killed, stopped,
// continued and interrupted at random, and while their disk fails now and then. However that goes,
// a quiet run on the same folder must then end with the bytes of a run that nobody disturbed.
//
// TORTURE_ROUNDS (default 3) says how often, TORTURE_SEED (default 1) where the numbers begin; a
// round depends on its number and on the machine's timing.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "cli/process.h"

using namespace phasor::tests;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

using Clock = std::chrono::steady_clock;
using Random = std::mt19937;

constexpr std::size_t kCells = 12;

int number_from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoi(text) : otherwise;
}

int between(Random& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
}

std::string twelve_cells(const TemporaryFolder& folder) {
  const fs::path file = folder / "torture.json";
  write_text(file, json{{"name", "torture"},
                        {"data", {{"train_limit", 64}, {"test_limit", 100}}},
                        {"model", {{"arch", "resnet8"}}},
                        {"train", {{"epochs", 3}, {"batch_size", 16}, {"checkpoint_minutes", 0}}},
                        {"sweep",
                         {{"norm", {"layernorm", "rmsnorm", "mrsnorm"}},
                          // The last blows up: its end is a result like any other.
                          {"lr", {0.1, 0.3, 0.4, 1e6}}}}}
                       .dump());
  return file.string();
}

/// What must be the same, by file: all but times, places and the environment.
std::map<std::string, std::string> essence(const fs::path& out) {
  std::map<std::string, std::string> files;
  for (const auto& cell : fs::directory_iterator(out / "cells")) {
    const std::string id = cell.path().filename().string();
    for (const char* name : {"curve.jsonl", "curve.json", "last.safetensors"}) {
      files[id + '/' + name] = read_text(cell.path() / name);
    }
    json document = json::parse(read_text(cell.path() / "cell.json"));
    document.erase("environment");
    files[id + "/cell.json"] = document.dump();
  }
  return files;
}

/// Files that only a cell at work may have, but for claims: a process that is killed between its
/// cell's result and the end of its claim, or while it asks who holds a cell, leaves a few bytes
/// that nobody needs to look at again.
std::vector<std::string> leftovers(const fs::path& out) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(out / "cells")) {
    static const std::set<std::string> kKept{"cell.json", "curve.json", "curve.jsonl",
                                             "timing.jsonl", "last.safetensors"};
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && kKept.count(name) == 0 && !name.starts_with("claim.json")) {
      found.push_back(entry.path().string());
    }
  }
  return found;
}

/// Every JSON file that a reader could meet at this moment is whole.
void check_readable(const fs::path& out) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(out, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".json" || at->path().filename() == "claim.json") continue;
    const std::string text = read_text(at->path());
    CAPTURE(at->path());
    CHECK((!fs::exists(at->path()) || json::accept(text)));
  }
}

/// The processes of one storm and what is done to them.
class Storm {
 public:
  Storm(std::vector<std::string> args, const fs::path& out, Random& random)
      : args_(std::move(args)), out_(out), random_(random) {}

  /// `count` processes at a time for some seconds; then all are killed.
  void rage(int count, double seconds) {
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (Clock::now() < end) {
      while (static_cast<int>(processes_.size()) < count) start();
      std::this_thread::sleep_for(std::chrono::milliseconds(between(random_, 10, 250)));
      strike();
      check_readable(out_);
    }
    for (const auto& process : processes_) process->signal(SIGKILL);
    for (const auto& process : processes_) process->wait();
    processes_.clear();
  }

  std::string story() const { return story_; }

 private:
  void start() {
    const bool faulty = random_() % 2 == 0;
    const std::string seed = std::to_string(random_() % 100000);
    const std::string every = std::to_string(between(random_, 20, 400));
    const std::string burst = std::to_string(random_() % 3 == 0 ? 30 : 1);
    const std::string library =
        (fs::path(std::getenv("PHASOR_BINARY_DIR")) / "lib" / "libphasor_faulty_write.so").string();
    ProcessOptions options;
    options.before_exec = [=, this] {
      ::setenv("PHASOR_CLAIM_TIMEOUT", "1", 1);
      if (!faulty) return;
      ::setenv("LD_PRELOAD", library.c_str(), 1);
      ::setenv("FAULTY_UNDER", out_.c_str(), 1);
      ::setenv("FAULTY_SEED", seed.c_str(), 1);
      ::setenv("FAULTY_EVERY", every.c_str(), 1);
      ::setenv("FAULTY_BURST", burst.c_str(), 1);
    };
    processes_.push_back(std::make_unique<Process>(args_, options));
    story_ += faulty ? " start-faulty-" + seed + '/' + every + '/' + burst : " start";
  }

  void strike() {
    const std::size_t victim = random_() % processes_.size();
    Process& process = *processes_[victim];
    switch (random_() % 8) {
      case 0:
      case 1:
        return end(victim, SIGKILL, " kill");
      case 2:
        return end(victim, SIGTERM, " term");
      case 3:
        return end(victim, SIGINT, " int");
      case 4:
      case 5:  // long enough, sometimes, to count as gone
        process.signal(SIGSTOP);
        std::this_thread::sleep_for(std::chrono::milliseconds(between(random_, 1, 1500)));
        process.signal(SIGCONT);
        story_ += " pause";
        return;
      default:
        return;  // let them work
    }
  }

  void end(std::size_t victim, int signal, const char* name) {
    processes_[victim]->signal(signal);
    const ProcessResult result = processes_[victim]->wait();
    story_ += name + std::to_string(result.code);
    // It may have ended by itself before: done, disk trouble, or a failed cell.
    static const std::set<int> kCodes{0, 5, 6, 130, 143, 128 + SIGKILL};
    CAPTURE(result.err);
    CHECK(kCodes.count(result.code) == 1);
    processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(victim));
  }

  std::vector<std::string> args_;
  fs::path out_;
  Random& random_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::string story_;
};

}  // namespace

TEST_CASE("torture: kills, pauses, many processes and failing disks change no byte") {
  const int rounds = number_from_environment("TORTURE_ROUNDS", 3);
  const int seed = number_from_environment("TORTURE_SEED", 1);
  const TemporaryFolder folder;
  const std::string config = twelve_cells(folder);
  const auto with = [&](const fs::path& out) {
    return std::vector<std::string>{"--config", config, "--out", out.string()};
  };
  const fs::path quiet = folder / "quiet";
  const auto begun = Clock::now();
  REQUIRE(run(with(quiet)).code == 0);
  const double quiet_seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  std::cout << "a quiet run takes " << quiet_seconds << " s" << std::endl;
  const auto expected = essence(quiet);
  REQUIRE(expected.size() == 4 * kCells);
  CHECK(leftovers(quiet).empty());

  for (int round = seed; round < seed + rounds; ++round) {
    Random random(static_cast<unsigned>(round));
    const fs::path out = folder / ("round-" + std::to_string(round));
    std::vector<std::string> args = with(out);
    args.insert(args.end(), {"--jobs", std::to_string(between(random, 1, 2))});
    Storm storm(args, out, random);
    // About as long as the work takes, so that each part of it is hit in some round.
    storm.rage(between(random, 2, 3), std::clamp(quiet_seconds, 3.0, 60.0));
    const ProcessResult last = run(with(out));
    CAPTURE(round);
    CAPTURE(storm.story());
    CAPTURE(last.err);
    CHECK(last.code == 0);
    for (const auto& file : essence(out)) {
      CAPTURE(file.first);
      const auto found = expected.find(file.first);
      CHECK((found != expected.end() && found->second == file.second));
    }
    CHECK(essence(out).size() == expected.size());
    for (const std::string& file : leftovers(out)) FAIL_CHECK("left over: " << file);
    std::cout << "round " << round << " of " << seed + rounds - 1 << ':' << storm.story()
              << std::endl;
    fs::remove_all(out);
  }
}
