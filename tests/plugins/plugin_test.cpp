// Norms in shared objects, as a user meets them: every way to load one, and every way to fail.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/process.h"
#include "core/file.h"
#include "core/sha256.h"

using namespace phasor;
using namespace phasor::tests;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string plugin(const std::string& name) {
  return fs::path(std::getenv("PHASOR_BINARY_DIR")) / "tests" / "plugins" /
         ("plugin_" + name + ".so");
}

/// Loading `path` must be exit code 4, say the path and `reason`, and print no result.
void check_refused(const std::string& path, const std::string& reason) {
  const ProcessResult result = run({"norms", "--plugin", path});
  CAPTURE(path);
  CAPTURE(result.err);
  CHECK(result.code == 4);
  CHECK(result.out.empty());
  CHECK(has(result.err, path));
  CHECK(has(result.err, reason));
}

json describe(const std::vector<std::string>& more) {
  std::vector<std::string> args{"describe", "--json", "--set", "model.arch=resnet8"};
  args.insert(args.end(), more.begin(), more.end());
  const ProcessResult result = run(args);
  CAPTURE(result.err);
  REQUIRE(result.code == 0);
  return json::parse(result.out);
}

/// The only cell of a results folder.
json only_cell(const fs::path& out) {
  std::vector<fs::path> cells;
  for (const auto& entry : fs::directory_iterator(out / "cells")) cells.push_back(entry.path());
  REQUIRE(cells.size() == 1);
  return json::parse(read_text(cells[0] / "cell.json"));
}

/// Two steps of a small network with the norm every_op.
ProcessResult train(const fs::path& out, const std::string& config,
                    const std::string& plugin_file) {
  std::vector<std::string> args{"--config", config, "--out", out.string()};
  if (!plugin_file.empty()) args.insert(args.end(), {"--plugin", plugin_file});
  return run(args);
}

std::string small_config(const std::string& plugins) {
  return R"({"name": "p", "data": {"kind": "synthetic", "train_limit": 32, "test_limit": 16},
             "model": {"arch": "resnet8", "width": 0.25},
             "norm": {"name": "every_op"},
             "train": {"epochs": 1, "max_steps": 2, "batch_size": 8}, "plugins": )" +
         plugins + "}";
}

}  // namespace

TEST_CASE("a plugin is listed, described and checked like any norm") {
  const ProcessResult list = run({"norms", "every_op", "--json", "--plugin", plugin("every_op")});
  CAPTURE(list.err);
  REQUIRE(list.code == 0);
  const json norm = json::parse(list.out)[0];
  CHECK(norm["name"] == "every_op");
  CHECK(norm["formula"] == "gamma x");
  CHECK(norm["keys"].size() == 4);

  const ProcessResult all = run({"norms", "--plugin", plugin("every_op")});
  CHECK(all.out.find("every_op\n") < all.out.find("mrsnorm\n"));
  CHECK(!has(run({"norms"}).out, "every_op"));

  const json network = describe({"--plugin", plugin("every_op"), "--set", "norm.name=every_op"})[0];
  CHECK(network["norm"]["name"] == "every_op");
  CHECK(network["parameters"]["norm"] ==
        describe({"--set", "norm.name=rmsnorm"})[0]["parameters"]["norm"]);

  const ProcessResult checked = run({"check-norm", plugin("every_op")});
  CAPTURE(checked.out);
  CHECK(checked.code == 0);
  CHECK(has(checked.out, "every_op: "));
  CHECK(has(checked.out, "all passed"));
  CHECK(run({"check-norm", "every_op", "--plugin", plugin("every_op")}).code == 0);
  CHECK(has(run({"schema", "--plugin", plugin("every_op")}).out, "every_op"));
}

TEST_CASE("a plugin trains, and its file is part of the cell's identity") {
  const TemporaryFolder folder;
  write_text(folder / "by_key.json", small_config('"' + plugin("every_op") + '"'));
  CHECK(train(folder / "wrong", folder / "by_key.json", "").code == 2);  // a list is meant
  write_text(folder / "by_key.json", small_config("[\"" + plugin("every_op") + "\"]"));
  write_text(folder / "by_option.json", small_config("[]"));

  const ProcessResult by_key = train(folder / "a", folder / "by_key.json", "");
  CAPTURE(by_key.err);
  REQUIRE(by_key.code == 0);
  const ProcessResult by_option =
      train(folder / "b", folder / "by_option.json", plugin("every_op"));
  CAPTURE(by_option.err);
  REQUIRE(by_option.code == 0);
  const json a = only_cell(folder / "a"), b = only_cell(folder / "b");
  CHECK(a["id"] == b["id"]);
  CHECK(a["result"] == b["result"]);
  const std::string bytes = read_text(plugin("every_op"));
  CHECK(a["identity"]["plugin_digest"] == sha256_hex(bytes.data(), bytes.size()));

  // The same norm in another file is another cell.
  write_text(folder / "copy.so", bytes + " ");
  REQUIRE(train(folder / "c", folder / "by_option.json", (folder / "copy.so").string()).code == 0);
  const json c = only_cell(folder / "c");
  CHECK(c["id"] != a["id"]);
  CHECK(c["result"] == a["result"]);

  // Without the plugin the norm is unknown; named twice, it is loaded once.
  const ProcessResult without = train(folder / "d", folder / "by_option.json", "");
  CHECK(without.code == 2);
  CHECK(has(without.err, "every_op"));
  CHECK(train(folder / "a", folder / "by_key.json", plugin("every_op")).code == 0);

  const fs::path checkpoint =
      folder / "a" / "cells" / a["id"].get<std::string>() / "last.safetensors";
  CHECK(run({"eval", checkpoint.string(), "--plugin", plugin("every_op")}).code == 0);
  CHECK(run({"eval", checkpoint.string()}).code == 2);
}

TEST_CASE(
    "B45: a cell whose norm throws is exit 6, named with its error; the others have results") {
  const TemporaryFolder folder;
  json config = json::parse(small_config("[\"" + plugin("fault_train") + "\"]"));
  config["norm"] = json::object();
  config["sweep"] = {
      {"norm",
       {{{"name", "faulty"}, {"throws", 0}}, {{"name", "faulty"}, {"throws", 1}}, "mrsnorm"}},
      {"lr", {0.01, 0.1}}};
  write_text(folder / "c.json", config.dump());
  for (const bool again : {false, true}) {
    const ProcessResult result = train(folder / "out", folder / "c.json", "");
    CAPTURE(again);
    CAPTURE(result.err);
    CHECK(result.code == 6);
    CHECK(has(result.err, "4 cells have a result, 2 failed"));
    int failed = 0, done = 0;
    for (const auto& entry : fs::directory_iterator(folder / "out" / "cells")) {
      const json cell = json::parse(read_text(entry.path() / "cell.json"));
      done += cell["state"] == "done";
      if (cell["state"] != "failed") continue;
      ++failed;
      CHECK(has(cell["error"].get<std::string>(), "thrown on purpose"));
      CHECK(has(result.err, cell["id"].get<std::string>() + " failed"));
    }
    CHECK(failed == 2);
    CHECK(done == 4);
  }
}

TEST_CASE("a built-in norm keeps its cell's identity beside a plugin") {
  const TemporaryFolder folder;
  write_text(folder / "one.json", small_config("[]"));
  const auto identity = [&](const char* name, const std::string& file) {
    std::vector<std::string> args{"--config", (folder / "one.json").string(),
                                  "--out",    (folder / name).string(),
                                  "--set",    "norm.name=rmsnorm"};
    if (!file.empty()) args.insert(args.end(), {"--plugin", file});
    REQUIRE(run(args).code == 0);
    return only_cell(folder / name)["id"];
  };
  CHECK(identity("with", plugin("every_op")) == identity("without", ""));
}

TEST_CASE("a file that is missing, no file, unreadable or no shared object is refused") {
  const TemporaryFolder folder;
  check_refused((folder / "missing.so").string(), "No such file");
  fs::create_directory(folder / "dir.so");
  check_refused((folder / "dir.so").string(), "regular file");
  write_text(folder / "text.so", "hello");
  check_refused((folder / "text.so").string(), "is no shared object");
  write_text(folder / "empty.so", "");
  check_refused((folder / "empty.so").string(), "is no shared object");
  const std::string bytes = read_text(plugin("every_op"));
  write_text(folder / "cut.so", bytes.substr(0, 100));
  check_refused((folder / "cut.so").string(), "cannot be loaded");
  check_refused(fs::path(std::getenv("PHASOR_BINARY_DIR")) / "bin" / "phasor-train",
                "cannot be loaded");

  write_text(folder / "secret.so", bytes);
  fs::permissions(folder / "secret.so", fs::perms::none);
  const ProcessResult unreadable = run({"norms", "--plugin", (folder / "secret.so").string()},
                                       {.before_exec = obey_permissions});
  CAPTURE(unreadable.err);
  CHECK(unreadable.code == 4);
  CHECK(has(unreadable.err, "Permission denied"));
}

TEST_CASE("a plugin's entry is checked before anything of it is called") {
  check_refused(plugin("entry_absent"), "has no entry phasor_norm_plugin");
  check_refused(plugin("entry_magic"), "has no entry phasor_norm_plugin");
  check_refused(plugin("entry_interface"), "is of plugin interface 2, this program of 1");
  check_refused(plugin("entry_build"), "is of another build (headers of last year)");
  check_refused(plugin("fault_undefined"), "undefined symbol");
}

TEST_CASE("a plugin's name must be its file's and free") {
  check_refused(plugin("taken"), "the norm mrsnorm is built in already");
  check_refused(plugin("fault_name"), "called like its file; got other in faulty.cpp");
  const ProcessResult twice =
      run({"norms", "--plugin", plugin("fault_none"), "--plugin", plugin("fault_usage")});
  CHECK(twice.code == 4);
  CHECK(has(twice.err, plugin("fault_usage")));
  CHECK(has(twice.err, "the norm faulty comes from " + plugin("fault_none") + " already"));
}

TEST_CASE("a plugin that throws, crashes, ends or hangs is an error with its place") {
  check_refused(plugin("fault_load"), "while it was loaded");
  check_refused(plugin("fault_exit"), "ended the process while it was loaded (exit code 0)");
  check_refused(plugin("fault_spec"), "threw an unknown exception in norm_spec()");
  check_refused(plugin("fault_spec_crash"), "in norm_spec()");
  check_refused(plugin("fault_make"), "threw \"no layer today\" in its constructor");
  check_refused(plugin("fault_make_crash"), "in its constructor");
  check_refused(plugin("fault_forward"), "in forward()");
}

TEST_CASE("a plugin that hangs is given up") {
  check_refused(plugin("fault_hang"), "did not return within 20 seconds in its constructor");
}

TEST_CASE("a plugin that writes to its input or returns what no norm may is refused") {
  check_refused(plugin("fault_shape"), "must return the shape of its input, [4,1,16]; got [4,1,1]");
  check_refused(plugin("fault_nonfinite"), "returns a non-finite number for finite input");
  check_refused(plugin("fault_input"), "writes to its input; element 5");
}

TEST_CASE("a plugin's own refusal of channels is a usage error that names the layer") {
  CHECK(run({"norms", "--plugin", plugin("fault_usage")}).code == 0);
  const ProcessResult result =
      run({"describe", "--plugin", plugin("fault_usage"), "--set", "norm.name=faulty"});
  CHECK(result.code == 2);
  CHECK(has(result.err, "[norm1] needs 48 channels; got 16"));
}

TEST_CASE("a refused plugin stops every command, and the configuration's key counts too") {
  const TemporaryFolder folder;
  const std::string bad = plugin("fault_make_crash");
  write_text(folder / "c.json", small_config("[\"" + bad + "\"]"));
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"--config", (folder / "c.json").string(), "--out", (folder / "out").string()},
           {"--config", (folder / "c.json").string(), "--dry-run"},
           {"describe", "--config", (folder / "c.json").string()},
           {"check-norm", bad},
           {"check-norm", "mrsnorm", "--plugin", bad},
           {"schema", "--plugin", bad}}) {
    const ProcessResult result = run(args);
    CAPTURE(args[0]);
    CHECK(result.code == 4);
    CHECK(has(result.err, bad));
  }
  CHECK(!fs::exists(folder / "out"));
}
