#include "train/curve.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <locale>
#include <nlohmann/json.hpp>

#include "core/file.h"
#include "train/metrics.h"
#include "train/temp_folder.h"

using namespace phasor;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Whole text through a parser that knows no NaN or Infinity.
nlohmann::json parse(const std::string& text) { return nlohmann::json::parse(text); }

}  // namespace

TEST_CASE("B30: an epoch's mean weighs samples, not batches") {
  MetricSums sums;
  sums.add(1, 0.7, 256);
  sums.add(2, 0.8, 256);
  sums.add(3, 0.9, 10);
  CHECK(sums.mean().accuracy == doctest::Approx(0.752874).epsilon(1e-6));
  CHECK(sums.mean().loss == doctest::Approx((256 + 512 + 30) / 522.0));
  CHECK(sums.mean().samples == 522);
  CHECK(MetricSums{}.mean().samples == 0);
}

TEST_CASE("curve lines have the written form and read back alike") {
  const TempFolder folder;
  {
    CurveWriter curve(folder.path(), 0);
    curve.step({1, 1, 0.1, 4.605170185988092, 0.03125, 1e-20});
    curve.step({2, 1, 0.30000000000000004, 1e30, 0, 5});
    curve.epoch({1, {4.25, 0.0625, 64}});
    curve.test({1, {4.5, 0.25, 10}});
  }
  const auto path = folder.path() / "curve.jsonl";
  CHECK(read_file(path) ==
        "{\"step\":1,\"epoch\":1,\"lr\":0.1,\"loss\":4.605170185988092,\"accuracy\":0.03125,"
        "\"grad_norm\":1e-20}\n"
        "{\"step\":2,\"epoch\":1,\"lr\":0.30000000000000004,\"loss\":1e+30,\"accuracy\":0,"
        "\"grad_norm\":5}\n"
        "{\"train\":{\"epoch\":1,\"loss\":4.25,\"accuracy\":0.0625,\"samples\":64}}\n"
        "{\"test\":{\"epoch\":1,\"loss\":4.5,\"accuracy\":0.25}}\n");
  const Curve curve = read_curve(path);
  REQUIRE(curve.steps.size() == 2);
  CHECK(curve.steps[0].loss == 4.605170185988092);
  CHECK(curve.steps[1].lr == 0.30000000000000004);
  REQUIRE(curve.tests.size() == 1);
  CHECK(curve.tests[0].metrics.accuracy == 0.25);
  REQUIRE(curve.epochs.size() == 1);
  CHECK(curve.epochs[0].metrics.samples == 64);
}

TEST_CASE("B48: numbers that are not finite are null, with their kind beside them") {
  const TempFolder folder;
  {
    CurveWriter curve(folder.path(), 0);
    curve.step({1, 1, 0.1, 2, 0.5, 1});
    curve.step({2, 1, 0.1, kNan, 0, kInfinity});
    curve.step({3, 1, 0.1, -kInfinity, 0, 1});
    curve.test({0.5, {kNan, 0, 10}});
  }
  const auto path = folder.path() / "curve.jsonl";
  const std::string text = read_file(path);
  CHECK(text.find("\"loss\":null,\"accuracy\":0,\"grad_norm\":null,"
                  "\"nonfinite\":{\"loss\":\"nan\",\"grad_norm\":\"+inf\"}}") != text.npos);
  const Curve curve = read_curve(path);
  CHECK(std::isnan(curve.steps[1].loss));
  CHECK(curve.steps[1].grad_norm == kInfinity);
  CHECK(curve.steps[2].loss == -kInfinity);
  CHECK(std::isnan(curve.tests[0].metrics.loss));

  const nlohmann::json whole = parse(curve_json(curve));
  CHECK(whole["train"]["loss"].dump() == "[2,null,null]");
  CHECK(whole["nonfinite"].size() == 4);
  CHECK(whole["nonfinite"][0] ==
        parse(R"({"series":"train","index":1,"field":"loss","kind":"nan"})"));
  CHECK(whole["nonfinite"][3] ==
        parse(R"({"series":"test","index":0,"field":"loss","kind":"nan"})"));
}

TEST_CASE("curve.json holds equally long arrays") {
  Curve curve;
  curve.steps = {{1, 1, 0.1, 4, 0.5, 1}, {3, 2, 0.1, 3, 0.5, 1}};
  curve.tests = {{1, {4, 0.25, 0}}};
  curve.epochs = {{1, {4, 0.25, 64}}, {1.5, {3, 0.5, 32}}};
  const nlohmann::json whole = parse(curve_json(curve));
  for (const char* name : {"step", "epoch", "lr", "loss", "accuracy", "grad_norm"})
    CHECK(whole["train"][name].size() == 2);
  for (const char* name : {"epoch", "loss", "accuracy"}) CHECK(whole["test"][name].size() == 1);
  CHECK(whole["train"]["step"].dump() == "[1,3]");
  CHECK(whole["epochs"]["epoch"].dump() == "[1,1.5]");
  CHECK(whole["nonfinite"].empty());
  const nlohmann::json empty = parse(curve_json({}));
  CHECK(empty["train"]["loss"].empty());
}

TEST_CASE("diagnostics stand in lines of their steps and in curve.json, their layers once") {
  const TempFolder folder;
  const DiagnosedLayers layers{8, {"norm1"}, {"conv1", "norm1"}};
  StepRecord seen{1, 1, 0.1, 4, 0.5, 1};
  seen.diagnostics.norms.resize(1);
  seen.diagnostics.norms[0].statistic_mean = 0.75;
  seen.diagnostics.layers.resize(2);
  seen.diagnostics.layers[1].weight_norm = 2;
  {
    CurveWriter writer(folder.path(), 0);
    writer.diagnosed_layers(layers);
    writer.step(seen);
    writer.step({2, 1, 0.1, 3, 0.5, 1});
    seen.step = 3;
    seen.diagnostics.norms[0].statistic_mean = kInfinity;
    writer.step(seen);
  }
  const auto path = folder.path() / "curve.jsonl";
  const std::string text = read_file(path);
  CHECK(
      text.starts_with("{\"diagnostics\":{\"images\":8,\"norms\":[\"norm1\"],"
                       "\"layers\":[\"conv1\",\"norm1\"]}}\n{\"step\":1,"));
  const Curve curve = read_curve(path);
  REQUIRE(curve.steps.size() == 3);
  CHECK(curve.diagnosed.layers == layers.layers);
  CHECK(curve.steps[0].diagnostics.norms.at(0).statistic_mean == 0.75);
  CHECK(curve.steps[1].diagnostics.empty());
  const nlohmann::json whole = parse(curve_json(curve));
  const nlohmann::json& diagnostics = whole["diagnostics"];
  CHECK(diagnostics["images"] == 8);
  CHECK(diagnostics["step"].dump() == "[1,3]");
  CHECK(diagnostics["norms"]["layer"].dump() == "[\"norm1\"]");
  CHECK(diagnostics["norms"]["statistic_mean"].dump() == "[[0.75],[null]]");
  CHECK(diagnostics["layers"]["layer"].dump() == "[\"conv1\",\"norm1\"]");
  CHECK(diagnostics["layers"]["weight_norm"].dump() == "[[null,2],[null,2]]");
  CHECK(diagnostics["norms"].size() == 15);
  CHECK(diagnostics["layers"].size() == 5);
  CHECK_FALSE(parse(curve_json({})).contains("diagnostics"));
  // Diagnostics of layers that no line named.
  write_file_atomic(path, text.substr(text.find('\n') + 1));
  CHECK_THROWS_WITH_AS(read_curve(path), doctest::Contains("damaged in line 1"), Error);
}

TEST_CASE("numbers do not follow the process locale") {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  std::string text;
  append_number(text, 12345.5);
  Curve curve;
  curve.steps = {{1, 1, 0.1, kNan, 0.5, 1}};
  const std::string whole = curve_json(curve);
  std::locale::global(before);
  CHECK(text == "12345.5");
  CHECK(parse(whole)["train"]["lr"][0] == 0.1);
}

TEST_CASE("a resumed curve is cut to its recorded length and goes on") {
  const TempFolder folder;
  const auto path = folder.path() / "curve.jsonl";
  Prefix prefix;
  std::string whole;
  {
    CurveWriter curve(folder.path(), 0);
    curve.step({1, 1, 0.1, 4, 0.5, 1});
    prefix = curve.sync();
    curve.step({2, 1, 0.1, 3, 0.5, 1});
    const Prefix both = curve.sync();
    whole = read_file(path);
    CHECK(both.bytes == whole.size());
    CHECK(begins_with(path, both));
  }
  CHECK(begins_with(path, prefix));
  {
    LineFile orphan = LineFile::append_to(path);  // of a process that lost its claim
    CurveWriter curve(folder.path(), prefix.bytes);
    orphan.write("{\"step\":99}\n");
    curve.step({2, 1, 0.1, 3, 0.5, 1});
    CHECK(begins_with(path, curve.sync()));
  }
  CHECK(read_file(path) == whole);
  write_file_atomic(path, whole.substr(0, 10));
  CHECK_FALSE(begins_with(path, prefix));
  CHECK_THROWS_AS(CurveWriter(folder.path(), prefix.bytes), Error);
}

TEST_CASE("a torn last line of an appended file is dropped") {
  const TempFolder folder;
  const auto path = folder.path() / "timing.jsonl";
  write_file_atomic(path, "{\"a\":1}\n{\"b\":");
  LineFile::append_to(path).write("{\"c\":3}\n");
  CHECK(read_file(path) == "{\"a\":1}\n{\"c\":3}\n");
}

TEST_CASE("damaged curves are io errors that name the line") {
  const TempFolder folder;
  const auto path = folder.path() / "curve.jsonl";
  for (const char* text : {"{\"step\":1,", "[]", "{\"step\":\"1\"}", "{\"test\":3}", "\x01"}) {
    write_file_atomic(path, concat("{\"test\":{\"epoch\":1,\"loss\":4,\"accuracy\":0}}\n", text));
    CHECK_THROWS_WITH_AS(read_curve(path), doctest::Contains("line 2"), Error);
  }
}

TEST_CASE("B47: a writer keeps to its own file when another owner begins a new one") {
  const TempFolder folder;
  CurveWriter old(folder.path(), 0);
  old.step({1, 1, 0.1, 4, 0.5, 1});
  CurveWriter fresh(folder.path(), 0);
  old.step({2, 1, 0.1, 3, 0.5, 1});
  fresh.step({1, 1, 0.1, 4, 0.5, 1});
  const Prefix written = fresh.sync();
  CHECK(begins_with(folder.path() / "curve.jsonl", written));
  CHECK(read_curve(folder.path() / "curve.jsonl").steps.size() == 1);
}

TEST_CASE("B51: a curve that cannot be written is an io error with path and cause") {
  const TempFolder folder;
  CHECK_THROWS_WITH_AS(CurveWriter(folder.path() / "missing", 0),
                       doctest::Contains("No such file or directory"), Error);
  // A limit on the size of files stands for a full disk.
  CurveWriter curve(folder.path(), 0);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{100, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string message;
  ErrorKind kind = ErrorKind::internal;
  try {
    for (Index step = 1; step < 10; ++step) curve.step({step, 1, 0.1, 4, 0.5, 1});
  } catch (const Error& error) {
    message = error.what();
    kind = error.kind();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(kind == ErrorKind::io);
  CHECK(message.find((folder.path() / "curve.jsonl").string()) != message.npos);
  CHECK(message.find("File too large") != message.npos);
}
