// Arguments, exit codes and the commands that train nothing.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/process.h"
#include "phasor/error.h"

using namespace phasor;
using namespace phasor::tests;
namespace fs = std::filesystem;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void check_usage(const std::vector<std::string>& args, const std::string& message) {
  const ProcessResult result = run(args);
  CAPTURE(result.err);
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  CHECK(has(result.err, message));
}

}  // namespace

TEST_CASE("help, version and exit codes of no arguments") {
  const ProcessResult help = run({"--help"});
  CHECK(help.code == 0);
  CHECK(help.out.find("Examples:") < help.out.find("Options:"));
  CHECK(has(help.out, "Exit codes:"));
  CHECK(has(help.out, "report"));
  const ProcessResult version = run({"--version"});
  CHECK(version.code == 0);
  CHECK(version.out.starts_with("phasor-train "));
  check_usage({}, "--config FILE says what to run");
  check_usage({"--version", "x"}, "unexpected argument x");
  CHECK(run({"help"}).out == help.out);
  CHECK(run({"help", "norms"}).out == run({"norms", "--help"}).out);
  check_usage({"help", "nroms"}, "unknown command nroms; did you mean norms?");
  for (const char* command :
       {"report", "compare", "eval", "norms", "describe", "check-norm", "make-data", "schema"}) {
    CAPTURE(command);
    const ProcessResult one = run({command, "--help"});
    CHECK(one.code == 0);
    CHECK(has(one.out, std::string("Usage: phasor-train ") + command));
  }
}

TEST_CASE("unknown commands and options name the nearest") {
  check_usage({"raport"}, "unknown command raport; did you mean report?");
  check_usage({"smoke.json"}, "did you mean --config smoke.json?");
  check_usage({"--confg", "smoke.json"}, "unknown option --confg; did you mean --config?");
  check_usage({"--confg=smoke.json"}, "did you mean --config?");
  check_usage({"--config", "smoke.json", "extra"}, "unexpected argument extra");
  check_usage({"-x"}, "unknown option -x");
  check_usage({""}, "unknown command \"\"");
  check_usage({"version"}, "did you mean --version?");
  check_usage({"report"}, "expected DIR");
}

TEST_CASE("repeated options, missing values and odd numbers are refused") {
  check_usage({"--config", "smoke.json", "--config", "mini.json"}, "--config is given 2 times");
  check_usage({"--config"}, "[phasor-train] --config FILE needs a value; got none");
  check_usage({"--config="}, "needs a value");
  check_usage({"--config", "--dry-run"}, "needs a value");
  check_usage({"--config", "smoke.json", "--dry-run=false"}, "--dry-run takes no value");
  for (const char* number : {"0x10", "1.5", "", " 2", "-1", "two", "99999999999999999999"}) {
    CAPTURE(number);
    CHECK(run({"--config", "smoke.json", "--jobs", number}).code == 2);
  }
  for (const char* shard : {"2/2", "-1/2", "1", "a/b", "1/2/3"}) {
    CAPTURE(shard);
    CHECK(run({"--config", "smoke.json", "--shard", shard}).code == 2);
  }
  for (const char* time : {"150", "m", "-3m", "0s", "1d", "nan s"}) {
    CAPTURE(time);
    CHECK(run({"--config", "smoke.json", "--stop-after", time}).code == 2);
  }
  CHECK(parse_duration("150m") == 9000);
  CHECK(parse_duration("1.5h") == 5400);
  CHECK(parse_duration("90s") == 90);
}

TEST_CASE("values with commas reach a repeatable option whole") {
  const ProcessResult result = run({"--config", "smoke.json", "--print-config", "--set",
                                    "sweep.lr=[0.1,0.2]", "--set", "train.epochs=3"});
  CHECK(result.code == 0);
  CHECK(has(result.out, "sweep.lr = [0.1,0.2]"));
  CHECK(has(result.out, "train.epochs = 3  (--set)"));
}

TEST_CASE("a wrong configuration is exit 2 before anything is written") {
  const TemporaryFolder folder;
  const std::string out = (folder / "out").string();
  check_usage({"--config", "smoke.json", "--out", out, "--set", "train.momentun=0.9"}, "momentum");
  check_usage({"--config", "no-such.json", "--out", out}, "no-such.json");
  check_usage({"--config", "smoke.json", "--out", out, "--filter", "lr=123"}, "matches none");
  check_usage({"--config", "smoke.json", "--out", out, "--filter", "norn=none"}, "norm");
  CHECK_FALSE(fs::exists(out));
}

TEST_CASE(
    "B17: channels that the norm does not take are exit 2, name the layer, and read no data") {
  const TemporaryFolder folder;
  // The data is missing too, which would be exit 3 if it were looked for.
  const ProcessResult result = run({"--config", "mini.json", "--out", (folder / "out").string(),
                                    "--set", "norm.name=groupnorm", "--set", "norm.groups=5",
                                    "--set", "data.path=" + (folder / "absent").string()});
  CAPTURE(result.err);
  CHECK(result.code == 2);
  CHECK(has(result.err, "norm1"));
  CHECK(has(result.err, "16"));
  CHECK_FALSE(fs::exists(folder / "out"));
}

TEST_CASE("data that is missing is exit 3") {
  const TemporaryFolder folder;
  const ProcessResult none = run({"--config", "mini.json", "--out", (folder / "out").string(),
                                  "--set", "data.path=" + (folder / "absent").string()});
  CHECK(none.code == 3);
  CHECK(has(none.err, "fetch_cifar100.sh"));
  const ProcessResult empty = run({"--config", "smoke.json", "--data", folder.path().string()});
  CHECK(empty.code == 3);
  CHECK(has(empty.err, "train.bin"));
  CHECK_FALSE(fs::exists(folder / "out"));
}

TEST_CASE("a results folder that is none is exit 2 and says why") {
  const TemporaryFolder folder;
  const std::string absent = (folder / "absent").string(), file = (folder / "file").string();
  write_text(file, "");
  check_usage({"report", absent}, absent + ", which does not exist");
  check_usage({"compare", absent, absent}, absent + ", which does not exist");
  check_usage({"report", file}, file + ", which is no folder");
  check_usage({"report", folder.path().string()}, "holds neither sweep.json nor cells");
}

TEST_CASE("norms, describe and schema are valid JSON where asked") {
  const auto norms = nlohmann::json::parse(run({"norms", "--json"}).out);
  CHECK(norms.size() >= 4);
  const ProcessResult network =
      run({"describe", "--json", "--set", "norm.name=none", "--set", "model.arch=resnet20"});
  const auto list = nlohmann::json::parse(network.out);
  CHECK(list[0]["parameters"]["total"] == 276756);
  CHECK(list[0]["parameters"]["norm"] == 0);
  CHECK(nlohmann::json::parse(run({"schema"}).out)["additionalProperties"] == false);
}

TEST_CASE("B08: describe prints the norm's formula and eps") {
  const std::string name = nlohmann::json::parse(run({"norms", "--json"}).out)[0]["name"];
  const ProcessResult text =
      run({"describe", "--set", "norm.name=" + name, "--set", "norm.eps=1e-3"});
  CHECK(text.code == 0);
  CHECK(has(text.out, "eps = 0.001"));
}

TEST_CASE("B51: /dev/full as stdout is exit 5 with the cause") {
  if (!fs::exists("/dev/full")) {
    MESSAGE("skipped: there is no /dev/full");
    return;
  }
  const ProcessResult result = run({"norms"}, {.stdout_file = "/dev/full"});
  CHECK(result.code == 5);
  CHECK(has(result.err, "No space left"));
}

TEST_CASE("B56: messages on a terminal are coloured, with NO_COLOR they are not") {
  const auto shown = [](bool no_color) {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(terminal >= 0);
    REQUIRE((::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0));
    const int screen = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(screen >= 0);
    CHECK(run({"raport"}, {.before_exec =
                               [&] {
                                 ::setenv("TERM", "xterm", 1);
                                 no_color ? ::setenv("NO_COLOR", "1", 1) : ::unsetenv("NO_COLOR");
                                 ::dup2(screen, STDERR_FILENO);
                               }})
              .code == 2);
    ::close(screen);
    std::string text(4096, '\0');
    const ssize_t size = ::read(terminal, text.data(), text.size());
    ::close(terminal);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    CHECK(has(text, "did you mean report?"));
    return text;
  };
  CHECK(has(shown(false), "\033["));
  CHECK_FALSE(has(shown(true), "\033["));
}

TEST_CASE("make-data writes what --data reads back as synthetic") {
  const TemporaryFolder folder;
  const std::string data = (folder / "set").string();
  CHECK(run({"make-data", data, "--train", "200", "--test", "100"}).code == 0);
  const ProcessResult config = run({"--config", "smoke.json", "--data", data, "--print-config"});
  CHECK(has(config.out, "data.kind = \"synthetic\"  (--data)"));
}

TEST_CASE("numbers and columns for people") {
  CHECK(grouped(1234567.4) == "1,234,567");
  CHECK(grouped(-1234) == "-1,234");
  CHECK(grouped(999) == "999");
  CHECK(duration_text(45.2) == "45s");
  CHECK(duration_text(12 * 60) == "12m");
  CHECK(duration_text(3 * 3600 + 5 * 60) == "3h05m");
  CHECK(align_columns({{"a", "n"}, {"bb", "10"}, {"c", "9"}}) == "a   n\nbb  10\nc    9\n");
}
