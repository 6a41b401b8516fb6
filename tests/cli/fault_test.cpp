// Disks that are full, folders that are not ours: an exit code, a path, a cause, and what was there
// before stays.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/process.h"

using namespace phasor::tests;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::vector<std::string> tiny(const fs::path& out) {
  return {"--config", "smoke.json",        "--out", out.string(),
          "--set",    "train.max_steps=2", "--set", "data.train_limit=64",
          "--set",    "data.test_limit=64"};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("B51: a file size limit is exit 5 with path and cause; the other cells go on") {
  const TemporaryFolder folder;
  const fs::path out = folder / "out";
  // Above every JSON file and the 512 KiB that ThreadSanitizer maps, below a checkpoint.
  constexpr rlim_t kLimit = 600'000;
  const ProcessResult result = run(tiny(out), {.before_exec = [] {
                                     const rlimit limit{kLimit, kLimit};
                                     ::setrlimit(RLIMIT_FSIZE, &limit);
                                   }});
  CAPTURE(result.err);
  CHECK(result.code == 5);
  CHECK(has(result.err, "File too large"));
  CHECK(has(result.err, "last.safetensors"));
  int failed = 0;
  for (const auto& cell : fs::directory_iterator(out / "cells")) {
    const json document = json::parse(read_text(cell.path() / "cell.json"));
    failed += document["state"] == "failed";
    CHECK(has(document["error"].get<std::string>(), "File too large"));
  }
  CHECK(failed == 3);
  CHECK(run(tiny(out)).code == 0);  // with room again, everything is run
}

TEST_CASE("B51: an --out that cannot be is exit 5 and names the path") {
  const TemporaryFolder folder;
  write_text(folder / "file", "not a folder");
  const ProcessResult result = run(tiny(folder / "file"));
  CHECK(result.code == 5);
  CHECK(has(result.err, (folder / "file").string()));
  CHECK(read_text(folder / "file") == "not a folder");
  CHECK(run(tiny("/proc/phasor-out")).code == 5);
}

TEST_CASE("B51: a read-only folder is exit 5") {
  const TemporaryFolder folder;
  const fs::path out = folder / "out";
  fs::create_directory(out);
  fs::permissions(out, fs::perms::owner_read | fs::perms::owner_exec);
  const ProcessResult result = run(tiny(out), {.before_exec = obey_permissions});
  CAPTURE(result.err);
  CHECK(result.code == 5);
  CHECK(has(result.err, "Permission denied"));
}

TEST_CASE(
    "B51: a memory limit is said, fails no more than it must, and leaves a folder to continue") {
#ifdef PHASOR_SANITIZED
  MESSAGE("skipped: sanitizers need all addresses");
#else
  const TemporaryFolder folder;
  const fs::path out = folder / "out";
  std::vector<std::string> args = tiny(out);
  args.insert(args.end(), {"--jobs", "1", "--threads", "1"});
  for (const rlim_t megabytes : {24, 40, 80, 120, 140, 160}) {
    const ProcessResult result = run(args, {.before_exec = [&] {
                                       const rlimit limit{megabytes << 20, megabytes << 20};
                                       ::setrlimit(RLIMIT_AS, &limit);
                                     }});
    CAPTURE(megabytes);
    CAPTURE(result.err);
    if (result.code == 127) continue;  // not even the libraries fit
    CHECK((result.code == 0 || result.code == 5 || result.code == 6));
    if (megabytes <= 80) CHECK(result.code != 0);
    if (result.code != 0) CHECK(has(result.err, "emory"));
    CHECK_FALSE(has(result.err, "bug"));
  }
  CHECK(run(args).code == 0);
#endif
}

TEST_CASE("B51: threads that the memory limit forbids are exit 5, not an end inside of OpenMP") {
#ifdef PHASOR_SANITIZED
  MESSAGE("skipped: sanitizers need all addresses");
#else
  const TemporaryFolder folder;
  const fs::path out = folder / "out";
  std::vector<std::string> args = tiny(out);
  args.insert(args.end(), {"--jobs", "1", "--threads", "64"});
  const ProcessResult result = run(args, {.before_exec = [] {
                                     constexpr rlim_t kStack = 8 << 20, kAll = 300 << 20;
                                     const rlimit stack{kStack, kStack}, all{kAll, kAll};
                                     ::setrlimit(RLIMIT_STACK, &stack);
                                     ::setrlimit(RLIMIT_AS, &all);
                                   }});
  CAPTURE(result.err);
  CHECK(result.code == 5);
  CHECK(has(result.err, "[threads] cannot start 64 threads for a cell; got "));
  int failed = 0;
  for (const auto& cell : fs::directory_iterator(out / "cells")) {
    failed += json::parse(read_text(cell.path() / "cell.json"))["state"] == "failed";
  }
  CHECK(failed == 3);
  CHECK(run(args).code == 0);
#endif
}

TEST_CASE("B45: a cell whose folder cannot be used fails alone, is named, and is run again later") {
  const TemporaryFolder folder;
  const fs::path out = folder / "out";
  REQUIRE(run(tiny(out)).code == 0);
  fs::path victim;
  for (const auto& cell : fs::directory_iterator(out / "cells")) victim = cell.path();
  fs::remove_all(victim);
  fs::create_directories(victim / "curve.json" / "x");  // a folder where a file must be
  const ProcessResult result = run(tiny(out));
  CAPTURE(result.err);
  CHECK(result.code == 5);
  CHECK(has(result.err, victim.filename().string()));
  CHECK(json::parse(read_text(victim / "cell.json"))["state"] == "failed");
  fs::remove_all(victim / "curve.json");
  CHECK(run(tiny(out)).code == 0);
}

TEST_CASE("B51: a results folder that is removed under a running sweep is exit 5") {
  const TemporaryFolder folder;
  const fs::path out = folder / "out";
  std::vector<std::string> args = tiny(out);
  args[5] = "train.max_steps=4000";
  args.insert(args.end(), {"--set", "train.epochs=4000", "--set", "train.checkpoint_minutes=0"});
  Process process(args);
  REQUIRE(
      wait_until([&] { return fs::exists(out / "cells") && !fs::is_empty(out / "cells"); }, 20));
  fs::rename(out, folder / "gone");  // at one stroke, unlike a recursive removal
  fs::remove_all(folder / "gone");
  process.signal(SIGINT);  // in case it went unnoticed so far
  const ProcessResult result = process.wait();
  CAPTURE(result.err);
  CHECK((result.code == 5 || result.code == 130));
  CHECK(has(result.err, out.string()));
}

TEST_CASE("B51: stdout on a full device is exit 5, and the results are safe") {
  if (!fs::exists("/dev/full")) {
    MESSAGE("skipped: there is no /dev/full");
    return;
  }
  const TemporaryFolder folder;
  const ProcessResult result = run(tiny(folder / "out"), {.stdout_file = "/dev/full"});
  CHECK(result.code == 5);
  CHECK(has(result.err, "3 cells have a result; everything is in"));
  CHECK(fs::exists(folder / "out/report/tables.md"));
  CHECK(run({"report", (folder / "out").string()}).out.find("3 of 3 cells") != std::string::npos);
}

TEST_CASE("streams that the caller closed are not written into files that take their numbers") {
  const TemporaryFolder folder;
  REQUIRE(run(tiny(folder / "quiet")).code == 0);
  const auto same = [&](const char* name) {
    return run({"compare", (folder / "quiet").string(), (folder / name).string(), "--equal"}).code;
  };
  CHECK(run(tiny(folder / "no-err"), {.before_exec = [] { ::close(STDERR_FILENO); }}).code == 0);
  CHECK(same("no-err") == 0);
  const ProcessResult no_out =
      run(tiny(folder / "no-out"), {.before_exec = [] { ::close(STDOUT_FILENO); }});
  CHECK(no_out.code == 5);
  CHECK(has(no_out.err, "[stdout] cannot write"));
  CHECK(same("no-out") == 0);
  CHECK(run(tiny(folder / "none"), {.before_exec =
                                        [] {
                                          for (const int stream : {0, 1, 2}) ::close(stream);
                                        }})
            .code == 5);
  CHECK(same("none") == 0);
}

TEST_CASE(
    "B51: an --out that is a link to nothing is exit 5; --fresh never moves where one stands") {
  const TemporaryFolder folder;
  fs::create_symlink(folder / "nowhere", folder / "link");
  const ProcessResult dangling = run(tiny(folder / "link"));
  CHECK(dangling.code == 5);
  CHECK(has(dangling.err, "Not a directory"));
  const std::string place = folder.path().string();
  const ProcessOptions inside{.before_exec = [&] {
    if (::chdir(place.c_str()) != 0) ::_exit(126);
  }};
  REQUIRE(run(tiny("."), inside).code == 0);
  std::vector<std::string> fresh = tiny(".");
  fresh.push_back("--fresh");
  const ProcessResult refused = run(fresh, inside);
  CHECK(refused.code == 2);
  CHECK(has(refused.err, "cannot move the folder one works in"));
  CHECK(fs::exists(folder / "sweep.json"));
}

TEST_CASE("--fresh through a link moves the folder, and the link leads to the new one") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "real");
  fs::create_directory_symlink(folder / "real", folder / "link");
  std::vector<std::string> args = tiny(folder / "link");
  REQUIRE(run(args).code == 0);
  const std::string old = read_text(folder / "real/sweep.json");
  args.insert(args.end(), {"--fresh", "--set", "train.momentum=0.8"});
  const ProcessResult result = run(args);
  CAPTURE(result.err);
  CHECK(result.code == 0);
  CHECK(has(result.err, (folder / "real.old-1").string()));
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(read_text(folder / "real.old-1/sweep.json") == old);
  CHECK(json::parse(read_text(folder / "real/sweep.json"))["result"]["train"]["momentum"] == 0.8);
}
