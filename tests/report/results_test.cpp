#include "report/results.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "phasor/error.h"
#include "report/compare.h"
#include "report/markdown.h"
#include "report/results_tree.h"
#include "report/tables.h"

using namespace phasor;
namespace fs = std::filesystem;

TEST_CASE("tables: regimes, survival as k/n, means over all seeds, synthetic data said") {
  const ResultsTree tree("tables");
  tree.cell("alpha", 0.1, 0, "trained", 0.5);
  tree.cell("alpha", 0.1, 1, "trained", 0.25);
  tree.cell("alpha", 0.4, 0, "trained", 0.5);
  tree.cell("alpha", 0.4, 1, "nonfinite", nullptr);
  const Results results = load_results(tree.root);
  REQUIRE(results.cells.size() == 4);
  CHECK(results.synthetic());
  const std::string text = tables_markdown(results);
  CHECK(text.find("Standard regime") < text.find("Extreme regime"));
  CHECK(has(text, "2/2"));
  CHECK(has(text, "1/2"));
  CHECK(has(text, "37.5 ± 17.7%"));
  CHECK(has(text, "25.0 ± 35.4%"));  // the diverged seed is not dropped
  CHECK(has(text, "1 nonfinite, 1 trained"));
  CHECK(has(text, "nonfinite at step 7"));
  CHECK(has(text, "**Synthetic data**"));
  CHECK(has(text, "n = 2"));
  const std::string csv = tables_csv(results);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 5);
  CHECK(has(csv, "alpha,resnet8,synthetic,true,0.4,32,1,3,,nonfinite,7,0.25,,,,,,100,10\n"));
}

TEST_CASE("partial and damaged folders are reported as far as they go") {
  const ResultsTree tree("damaged");
  tree.cell("alpha", 0.1, 0, "trained", 0.5);
  tree.write("sweep.json", R"({"name": "stress", "cells": [{"id": "beta-1", "label": "beta"}]})");
  tree.write("cells/torn/cell.json", "{\"id\": \"torn\", ");
  tree.write("cells/odd/cell.json",
             R"({"id": "odd", "state": 3, "configuration": [1], "result": "x", "data": null})");
  tree.write("cells/failed/cell.json",
             R"({"id": "failed", "state": "failed", "error": "disk | full\nmore"})");
  const Results results = load_results(tree.root);
  CHECK(results.name == "stress");
  CHECK(results.done() == 1);
  CHECK(results.cells.size() == 5);
  const std::string text = tables_markdown(results);
  CHECK(has(text, "1 of 5 cells have a result"));
  CHECK(has(text, "beta-1: not run yet"));
  CHECK(has(text, "torn: cell.json is damaged"));
  CHECK(has(text, "failed: failed: disk | full"));
  CHECK(has(text, "disk / full"));
  CHECK_FALSE(tables_csv(results).empty());
  CHECK_THROWS_AS(load_results(tree.root / "cells" / "torn"), Error);
  CHECK_THROWS_AS(load_results(tree.root / "nowhere"), Error);
}

TEST_CASE("compare: pairs by label, paired differences, every difference named") {
  const ResultsTree a("a"), b("b");
  for (const ResultsTree* tree : {&a, &b}) tree->cell("alpha", 0.1, 0, "trained", 0.5);
  a.cell("alpha", 0.4, 0, "trained", 0.5);
  b.cell("alpha", 0.4, 0, "stalled", 0.25);
  b.cell("beta", 0.1, 0, "trained", 0.5);
  const Results left = load_results(a.root), right = load_results(b.root);
  CHECK(pair_cells(left, right).size() == 3);
  const std::string text = comparison_markdown(left, right);
  CHECK(has(text, "over 2 cells: -12.500 points, standard error 12.500"));
  CHECK(result_differences(left, left).empty());
  const std::vector<std::string> lines = result_differences(left, right);
  CHECK(lines.size() == 3);
  CHECK(has(lines[0], "result.test_accuracy: 0.5 there, 0.25 here"));
  CHECK(lines[2] == "beta-lr0.1-bs32-s0: only in B");
}

TEST_CASE("compare: a planned cell that neither folder has run is no difference") {
  const ResultsTree a("planned-a"), b("planned-b");
  for (const ResultsTree* tree : {&a, &b}) {
    tree->write("sweep.json", R"({"cells": [{"id": "beta-1", "label": "beta"}]})");
    tree->cell("alpha", 0.1, 0, "trained", 0.5);
  }
  const Results left = load_results(a.root);
  CHECK(pair_cells(left, load_results(b.root)).size() == 2);
  CHECK(result_differences(left, load_results(b.root)).empty());
}

TEST_CASE("a Markdown table counts characters, not bytes") {
  CHECK(markdown_table({{"a", "b"}, {"±", "long"}}) ==
        "| a   | b    |\n| --- | ---- |\n| ±   | long |\n");
}
