#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "report/chart.h"
#include "report/curve_figures.h"
#include "report/curves.h"
#include "report/heat_map.h"
#include "report/report.h"
#include "report/results_tree.h"

using namespace phasor;
using doctest::Approx;
using nlohmann::json;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// Whether every element is closed, in order.
bool is_nested(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag[0] == '!' || tag.back() == '/' || tag.starts_with("meta")) continue;
    const std::string name = tag.substr(0, tag.find_first_of(" \n"));
    if (name[0] != '/') {
      open.push_back(name);
    } else if (open.empty() || open.back() != name.substr(1)) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return open.empty();
}

}  // namespace

TEST_CASE("curves: epochs from steps, NaN from null, damaged files give nothing") {
  const ResultsTree tree("curves");
  const std::string whole = tree.cell("alpha", 0.1, 0, "nonfinite", 0.5);
  tree.curve(whole, {4, nullptr, nullptr});
  const std::string odd = tree.cell("alpha", 0.1, 1, "trained", 0.5);
  tree.curve(odd, {4, 3});  // shorter than its places
  const Results results = load_results(tree.root);
  const auto curve = load_curve(results, results.cells[0]);
  REQUIRE(curve);
  CHECK(curve->loss.x == std::vector<double>{1, 2, 3});  // 640 images / 32 = 20 steps
  CHECK(curve->loss.y[0] == 4);
  CHECK(std::isnan(curve->loss.y[1]));
  CHECK(curve->nonfinite == "nan");
  CHECK(curve->complete);
  CHECK(curve->test_accuracy.y == std::vector<double>{0.1, 0.5});
  CHECK_FALSE(load_curve(results, results.cells[1]));
}

TEST_CASE("curves: an unfinished cell's lines up to the first torn one") {
  const ResultsTree tree("torn");
  const std::string id = tree.cell("alpha", 0.1, 0, "", nullptr);
  json document = json::parse(tree.read("cells/" + id + "/cell.json"));
  document["state"] = "running";
  document.erase("result");
  tree.write("cells/" + id + "/cell.json", document.dump());
  tree.write("cells/" + id + "/curve.jsonl",
             "{\"step\":10,\"epoch\":1,\"lr\":0.1,\"loss\":4,\"accuracy\":0,\"grad_norm\":2}\n"
             "{\"test\":{\"epoch\":1,\"loss\":4.1,\"accuracy\":0.06}}\n"
             "{\"train\":{\"epoch\":1,\"loss\":4.3,\"accuracy\":0.05,\"samples\":640}}\n"
             "{\"step\":20,\"epo");
  const Results results = load_results(tree.root);
  const auto curve = load_curve(results, results.cells[0]);
  REQUIRE(curve);
  CHECK_FALSE(curve->complete);
  CHECK(curve->loss.x == std::vector<double>{0.5});
  CHECK(curve->test_accuracy.y == std::vector<double>{0.06});
  CHECK(curve->train_accuracy.y == std::vector<double>{0.05});
  write_report(results);
  CHECK(has(tree.read("report/verdicts.svg"), ">running<"));
  CHECK(has(tree.read("report/loss.svg"), "Some cells are unfinished"));
}

TEST_CASE("thinning: means of equal parts, empty parts left out, NaN kept") {
  const Series series{{0.5, 0.9, 2.5, 3.0}, {1, 3, 5, std::nan("")}};
  const std::vector<Bin> bins = thinned(series, 3, 3);
  REQUIRE(bins.size() == 2);
  CHECK(bins[0].x == Approx(0.7));
  CHECK(bins[0].value == 2);
  CHECK(bins[1].x == Approx(2.75));
  CHECK(std::isnan(bins[1].value));
}

TEST_CASE("axes: rounded ranges, room for flat lines") {
  const Axis linear = axis_for(0, 0.236, false);
  CHECK(linear.low == 0);
  CHECK(linear.high == Approx(0.3));
  const Axis log = axis_for(3, 3, true);
  CHECK(log.low < 3);
  CHECK(log.high / log.low >= 2);
}

TEST_CASE("the map of verdicts: words and colours of every planned cell") {
  const ResultsTree tree("map");
  tree.cell("alpha", 0.1, 0, "trained", 0.5);
  tree.cell("alpha", 0.4, 0, "nonfinite", nullptr);
  tree.cell("beta", 0.1, 0, "trained", 0.5);
  tree.cell("beta", 0.1, 1, "stalled", 0.25);
  tree.cell("beta", 0.4, 0, "diverged", 0.01);
  tree.write("sweep.json", R"({"cells": [{"id": "gamma-lr0.1-bs32-s0-00000000"}]})");
  const Results results = load_results(tree.root);
  const Figure figure = verdict_map(groups_of(results));
  REQUIRE(figure.panels.size() == 3);
  const std::string gamma = figure.panels[0].content, alpha = figure.panels[1].content,
                    beta = figure.panels[2].content;
  CHECK(has(gamma, ">not run<"));
  CHECK(count(gamma, "<rect") == 1);
  CHECK(has(alpha, ">trained<"));
  CHECK(has(alpha, ">test 50.0%<"));
  CHECK(has(alpha, ">nonfinite<"));
  CHECK(has(alpha, ">at step 7<"));
  CHECK(has(beta, ">1/2 trained<"));
  CHECK(has(beta, ">test 37.5%<"));
  CHECK(has(beta, ">1 stalled<"));
  CHECK(has(beta, ">diverged<"));
  // One colour each, and two stripes where seeds differ.
  CHECK(count(beta, "#1F6FB2") == 1);
  CHECK(count(beta, "#F2E6A0") == 1);
  CHECK(figure.legend.size() == 5);
}

TEST_CASE("curve figures: a cross where a number is not finite, bands over seeds, gaps said") {
  const ResultsTree tree("figures");
  tree.curve(tree.cell("alpha", 0.1, 0, "trained", 0.5), {4, 3, 2});
  tree.curve(tree.cell("alpha", 0.1, 1, "trained", 0.5), {4, 3.5, 3});
  tree.curve(tree.cell("beta", 0.1, 0, "nonfinite", nullptr), {4, nullptr, nullptr});
  tree.cell("alpha", 0.4, 0, "trained", 0.5);  // its curve.json holds nothing
  const Results results = load_results(tree.root);
  const std::vector<Group> groups = groups_of(results);
  const std::vector<Figure> figures = curve_figures(results, groups);
  REQUIRE(figures.size() == 3);
  const Figure& loss = figures[0];
  CHECK(loss.name == "loss");
  REQUIRE(loss.panels.size() == 2);
  CHECK(count(loss.panels[0].content, "fill-opacity=\".16\"") == 1);
  CHECK(has(loss.panels[0].content, ">nan<"));
  CHECK(has(loss.panels[1].content, "no curve: not run yet, or missing"));
  CHECK(loss.legend.size() == 2);
  CHECK(has(figures[1].panels[0].content, "%<"));
}

TEST_CASE("curves: diagnostics of the first, middle and last norm layer, whole and in lines") {
  const ResultsTree tree("diagnosed");
  const std::string id = tree.cell("alpha", 0.1, 0, "trained", 0.5);
  tree.curve(id, {4, 3, 2});
  tree.diagnostics(id, 2);
  const Results results = load_results(tree.root);
  const auto curve = load_curve(results, results.cells[0]);
  REQUIRE(curve);
  CHECK(curve->statistics[0].layer == "norm1");
  CHECK(curve->statistics[1].layer == "b.norm1");
  CHECK(curve->statistics[2].layer == "b.norm2");
  CHECK(curve->statistics[0].mean.x == std::vector<double>{1, 2, 3});
  CHECK(curve->statistics[0].mean.y == std::vector<double>{2, 4, 6});
  CHECK(curve->statistics[1].least.y == std::vector<double>{3, 6, 9});
  CHECK(curve->statistics[2].greatest.y == std::vector<double>{16, 32, 48});
  CHECK(curve->dead_relu.y == std::vector<double>{0.25, 0.25, 0.25});  // of three layers
  CHECK(curve->effective_lr.y == std::vector<double>{2, 2, 2});

  // A running cell has the same in its lines; here of one norm that divides by nothing.
  json document = json::parse(tree.read("cells/" + id + "/cell.json"));
  document["state"] = "running";
  tree.write("cells/" + id + "/cell.json", document.dump());
  tree.write(
      "cells/" + id + "/curve.jsonl",
      "{\"diagnostics\":{\"images\":8,\"norms\":[\"norm1\"],\"layers\":[\"fc\"]}}\n"
      "{\"step\":10,\"epoch\":1,\"lr\":0.1,\"loss\":4,\"accuracy\":0,\"grad_norm\":2,"
      "\"diagnostics\":{\"norms\":{\"statistic_min\":[null],\"statistic_mean\":[null],"
      "\"statistic_max\":[null],\"dead_relu\":[0.75]},\"layers\":{\"effective_lr\":[3]}}}\n");
  const Results again = load_results(tree.root);
  const auto lines = load_curve(again, again.cells[0]);
  REQUIRE(lines);
  CHECK(lines->statistics[1].layer == "norm1");
  CHECK(lines->statistics[1].mean.x.empty());
  CHECK(lines->dead_relu.x == std::vector<double>{0.5});
  CHECK(lines->dead_relu.y == std::vector<double>{0.75});
  CHECK(lines->effective_lr.y == std::vector<double>{3});
}

TEST_CASE("diagnostic figures: a band from least to greatest; nothing where nothing is recorded") {
  const ResultsTree tree("diagnostics");
  const std::string alpha = tree.cell("alpha", 0.1, 0, "trained", 0.5);
  tree.curve(alpha, {4, 3, 2});
  tree.diagnostics(alpha, 2);
  const std::string other = tree.cell("alpha", 0.1, 1, "trained", 0.5);  // recorded nothing
  tree.curve(other, {4, 3, 2});
  const std::string none = tree.cell("none", 0.1, 0, "trained", 0.5);
  tree.curve(none, {4, 3, 2});
  tree.diagnostics(none, nullptr);  // divides by nothing
  tree.curve(tree.cell("alpha", 0.4, 0, "trained", 0.5), {4, 3, 2});
  const Results results = load_results(tree.root);
  const std::vector<Figure> figures = curve_figures(results, groups_of(results));
  REQUIRE(figures.size() == 8);
  const char* const names[] = {"statistic_first", "statistic_middle", "statistic_last", "dead_relu",
                               "effective_lr"};
  for (std::size_t i = 0; i < 5; ++i) {
    CAPTURE(names[i]);
    const Figure& figure = figures[i + 3];
    CHECK(figure.name == names[i]);
    REQUIRE(figure.panels.size() == 2);
    const std::string& panel = figure.panels[0].content;
    CHECK(count(panel, "fill-opacity=\".16\"") == (i < 3 ? 1 : 0));
    CHECK(count(panel, "stroke-linejoin") == (i == 3 ? 2 : 1));
    CHECK_FALSE(has(panel, "not finite"));
    CHECK(has(figure.panels[1].content, ">not recorded<"));
  }
  CHECK(has(figures[4].title, "(b.norm1)"));
  write_report(results);
  const std::string page = tree.read("report/report.html");
  CHECK(has(page, "Effective learning rate"));
  CHECK(is_nested(tree.read("report/statistic_last.svg")));

  const ResultsTree plain("undiagnosed");
  plain.curve(plain.cell("alpha", 0.1, 0, "trained", 0.5), {4, 3, 2});
  const Results quiet = load_results(plain.root);
  CHECK(curve_figures(quiet, groups_of(quiet)).size() == 3);
}

TEST_CASE("report: one page that needs nothing else, and the same bytes again") {
  const ResultsTree tree("page");
  tree.curve(tree.cell("alpha", 0.1, 0, "trained", 0.5), {4, 3, 2});
  tree.curve(tree.cell("beta", 0.4, 0, "nonfinite", nullptr), {4, nullptr, nullptr});
  tree.write("sweep.json", R"({"name": "a <b> & c", "description": "<script>alert(1)</script>",
    "configuration": {"train": {"lr": 0.1}, "run": {"out": "/secret"}, "data": {"path": "/place"}},
    "environment": {"processor": "P&Q", "cores": 2, "host": "secret-host"},
    "cells": [{"id": "alpha-lr0.1-bs32-s0-0a0b0c0d"}, {"id": "alpha-lr0.1-bs32-s1-ffffffff"}]})");
  const auto report = [&] { write_report(load_results(tree.root)); };
  report();
  const std::vector<std::string> names{"tables.md",    "tables.csv",   "tables.tex",
                                       "report.html",  "loss.svg",     "accuracy.svg",
                                       "verdicts.svg", "grad_norm.svg"};
  std::vector<std::string> first;
  for (const std::string& name : names) first.push_back(tree.read("report/" + name));
  report();
  for (std::size_t i = 0; i < names.size(); ++i) {
    CAPTURE(names[i]);
    CHECK_FALSE(first[i].empty());
    CHECK(first[i] == tree.read("report/" + names[i]));
    CHECK_FALSE(has(first[i], tree.root.string()));
    if (i >= 3)
      CHECK(is_nested(i == 3 ? first[i]
                                   .substr(first[i].find("<body>"))
                                   .substr(0, first[i].rfind("</html>") - first[i].find("<body>"))
                             : first[i]));
    CHECK(has(first[i], i == 1 ? ",true," : "Synthetic data"));
  }
  const std::string& page = first[3];
  CHECK(has(page, "<title>a &lt;b&gt; &amp; c: phasor report</title>"));
  CHECK_FALSE(has(page, "<script"));
  for (const char* outside :
       {"src=", "url(", "@import", "<link", "/secret", "/place", "secret-host"}) {
    CHECK_FALSE(has(page, outside));
  }
  CHECK(count(page, "http") == count(page, "http://www.w3.org/2000/svg"));
  CHECK(has(page, "P&amp;Q, 2 cores"));
  CHECK(has(page, "phasor-train report sweep"));
  CHECK(has(page, "alpha-lr0.1-bs32-s1-ffffffff: not run yet"));
  CHECK(has(page, "2 of 3 cells have a result: 1 trained, 1 nonfinite."));
}

TEST_CASE("report: folders without any readable cell still have a page") {
  const ResultsTree tree("empty");
  tree.write("cells/torn/cell.json", "{");
  write_report(load_results(tree.root));
  const std::string page = tree.read("report/report.html");
  CHECK(has(page, "0 of 1 cells have a result."));
  CHECK(has(page, "torn: cell.json is damaged"));
  CHECK(has(page, "No cell has a curve."));
}
