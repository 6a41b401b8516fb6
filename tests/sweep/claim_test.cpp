#include "sweep/claim.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/file.h"
#include "phasor/error.h"
#include "sweep/folder.h"

using namespace phasor;
using namespace phasor::tests;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

nlohmann::json claim_of(const fs::path& folder) {
  return nlohmann::json::parse(std::ifstream(folder / "claim.json"));
}

}  // namespace

TEST_CASE("B47: a claim is exclusive, names its owner, and ends with the object") {
  const Folder folder;
  {
    const std::optional<Claim> claim = Claim::take(folder.path());
    REQUIRE(claim);
    claim->check();
    CHECK(claim_of(folder.path())["pid"] == ::getpid());
    CHECK_FALSE(Claim::take(folder.path()));
    CHECK(live_holder(folder.path())->starts_with("process " + std::to_string(::getpid())));
  }
  CHECK_FALSE(fs::exists(folder.path() / "claim.json"));
  CHECK(fs::is_empty(folder.path()));
  CHECK(Claim::take(folder.path()));
}

TEST_CASE("a dead owner on this host is replaced at once") {
  const Folder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    std::optional<Claim> claim = Claim::take(folder.path());
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  CHECK(claim_of(folder.path())["pid"] == child);
  CHECK_FALSE(live_holder(folder.path()));
  CHECK(Claim::take(folder.path()));
}

TEST_CASE("a process number that another process has now is no living owner") {
  const Folder folder;
  nlohmann::json claim;
  {
    const std::optional<Claim> own = Claim::take(folder.path());
    claim = claim_of(folder.path());
  }
  claim["start"] = "1";
  write(folder.path() / "claim.json", claim.dump() + "\n");
  CHECK(Claim::take(folder.path()));
}

TEST_CASE("an owner elsewhere is replaced only after the timeout, and then knows it") {
  const Folder folder;
  std::optional<Claim> mine = Claim::take(folder.path());
  nlohmann::json claim = claim_of(folder.path());
  claim["host"] = "elsewhere";
  write(folder.path() / "claim.json", claim.dump() + "\n");
  CHECK_THROWS_AS(mine->check(), ClaimLost);
  CHECK_FALSE(Claim::take(folder.path()));
  const auto old = fs::file_time_type::clock::now() - kClaimTimeout - std::chrono::seconds(5);
  fs::last_write_time(folder.path() / "claim.json", old);
  const std::optional<Claim> taken = Claim::take(folder.path());
  CHECK(taken);
  mine.reset();  // must not remove the new owner's claim
  CHECK(fs::exists(folder.path() / "claim.json"));
}

TEST_CASE("a damaged claim and a folder that is gone") {
  const Folder folder;
  write(folder.path() / "claim.json", "{\"pid\":");
  const auto old = fs::file_time_type::clock::now() - std::chrono::seconds(5);
  fs::last_write_time(folder.path() / "claim.json", old);
  std::optional<Claim> claim = Claim::take(folder.path());
  REQUIRE(claim);
  fs::remove_all(folder.path());
  try {
    claim->check();
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::io);
    CHECK(std::string(error.what()).find(folder.path().string()) != std::string::npos);
  }
}

TEST_CASE("B47: a paused owner that wakes after a takeover replaces nothing") {
  const Folder folder;
  const fs::path file = folder.path() / "last.safetensors";
  std::optional<Claim> sleeper = Claim::take(folder.path());
  AtomicFile stale(file);
  stale.write("old", 3);
  const auto asleep = [&] {
    // It has read its claim and is about to rename; another process takes the cell over now.
    sleeper->check();
    fs::remove(folder.path() / "claim.json");
    const std::optional<Claim> owner = Claim::take(folder.path());
    REQUIRE(owner);
    write_file_atomic(file, "new", [&] { owner->check(); });
  };
  try {
    stale.commit(asleep);
    FAIL("the old file was put in place");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::io);
  }
  CHECK(read_file(file) == "new");
  CHECK_THROWS_AS(write_file_atomic(file, "older", [&] { sleeper->check(); }), ClaimLost);
  CHECK(read_file(file) == "new");
}

TEST_CASE("a new owner clears what a killed one left half written") {
  const Folder folder;
  for (const char* name :
       {"last.safetensors.1.0.tmp", "claim.json.1.2.tmp", "claim.json.1.3.probe"})
    write(folder.path() / name, "x");
  write(folder.path() / "curve.jsonl", "x");
  { CHECK(Claim::take(folder.path())); }
  CHECK(fs::exists(folder.path() / "curve.jsonl"));
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
}
