#include "report/tables.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "report/groups.h"
#include "report/results_tree.h"

using namespace phasor;

namespace {

const Table& named(const std::vector<Table>& tables, const std::string& name) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const Table& table) { return table.name == name; });
  REQUIRE(found != tables.end());
  return *found;
}

using Row = std::vector<std::string>;

}  // namespace

TEST_CASE("survival: k of n finished seeds with exact intervals; sums have none") {
  const ResultsTree tree("survival");
  for (int seed = 0; seed < 3; ++seed) tree.cell("alpha", 0.4, seed, "trained", 0.5);
  tree.cell("beta", 0.4, 0, "nonfinite", nullptr);
  tree.cell("beta", 0.1, 0, "trained", 0.25);
  const Table table = named(result_tables(load_results(tree.root)), "survival");
  CHECK(table.heading == Row{"lr", "batch size", "alpha", "beta"});
  REQUIRE(table.rows.size() == 3);
  CHECK(table.rows[0] == Row{"0.4", "32", "3/3 [29.2, 100.0]", "0/1 [0.0, 97.5]"});
  CHECK(table.rows[1] == Row{"0.1", "32", "–", "1/1 [2.5, 100.0]"});
  CHECK(table.rows[2] == Row{"all", "", "3/3", "1/2"});
}

TEST_CASE("paired differences: over common seeds alone; a seed without a number counts as 0") {
  const ResultsTree tree("pairs");
  tree.cell("alpha", 0.1, 0, "trained", 0.5);
  tree.cell("alpha", 0.1, 1, "trained", 0.25);
  tree.cell("alpha", 0.1, 2, "trained", 0.75);
  tree.cell("beta", 0.1, 1, "trained", 0.5);
  tree.cell("beta", 0.1, 0, "nonfinite", nullptr);
  tree.cell("alpha", 0.4, 0, "trained", 0.5);
  tree.cell("beta", 0.4, 0, "trained", 0.375);
  const Table table = named(result_tables(load_results(tree.root)), "differences");
  REQUIRE(table.rows.size() == 2);
  // -50 and +25: mean -12.5, deviation 53.033, t(1) = 12.706, half width 476.48.
  CHECK(table.rows[0][0] == "beta - alpha");
  CHECK(table.rows[0][3] == "2");
  CHECK(table.rows[0][4] == "-12.50 ± 476.48");
  CHECK(table.rows[1][3] == "1");
  CHECK(table.rows[1][4] == "-12.50");  // one difference alone: no interval
  REQUIRE(table.notes.size() == 3);
  CHECK(has(table.notes[2], "n = 1: one difference alone"));
}

TEST_CASE("many norms: survival in long form, differences from the first norm") {
  const ResultsTree tree("many");
  for (const char* norm : {"a", "b", "c", "d", "e"}) tree.cell(norm, 0.1, 0, "trained", 0.5);
  const std::vector<Table> tables = result_tables(load_results(tree.root));
  CHECK(named(tables, "survival").rows.size() == 10);
  CHECK(named(tables, "survival").rows[5] == Row{"all", "", "a", "1/1"});
  const Table& differences = named(tables, "differences");
  REQUIRE(differences.rows.size() == 4);
  CHECK(differences.rows[3][0] == "e - a");
}

TEST_CASE("planned cells have labels, not results: no row is invented") {
  const ResultsTree tree("planned");
  tree.cell("alpha", 0.1, 0, "trained", 0.5);
  tree.write("sweep.json", R"({"name": "x", "cells": [
    {"id": "alpha-lr0.1-bs32-s0-0a0b0c0d", "label": "alpha-lr0.1-bs32-s0"},
    {"id": "alpha-lr0.1-bs32-s1-11111111", "label": "alpha-lr0.1-bs32-s1"},
    {"id": "be-ta-lr1e-05-bs8-s0-eps=1-22222222", "label": "be-ta-lr1e-05-bs8-s0-eps=1"}]})");
  const Results results = load_results(tree.root);
  const std::vector<Group> groups = groups_of(results);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].cells.size() == 2);
  CHECK(groups[0].done().size() == 1);
  CHECK(groups[1].norm == "be-ta");
  CHECK(groups[1].lr == 1e-5);
  CHECK(groups[1].batch_size == 8);
  CHECK(groups[1].variant == "eps=1");
  CHECK_FALSE(groups[1].known());
  const std::vector<Table> tables = result_tables(results);
  CHECK(named(tables, "standard").rows.size() == 1);
  CHECK(named(tables, "standard").rows[0][5] == "1 not run, 1 trained");
  for (const Table& table : tables) CHECK(table.name != "other");
  const std::string text = tables_markdown(results);
  CHECK(has(text, "1 of 3 cells have a result: 1 trained."));
  CHECK(has(text, "- not run yet (2 cells): alpha-lr0.1-bs32-s1-11111111, be-ta-"));
}

TEST_CASE("a mixed folder: cells of one label and other settings stay apart and are explained") {
  const ResultsTree tree("mixed");
  tree.cell("alpha", 0.1, 0, "trained", 0.5);
  tree.cell("alpha", 0.1, 0, "stalled", 0.25, 0.5, "ffffffff");
  const Results results = load_results(tree.root);
  const std::vector<Group> groups = groups_of(results);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].variant.empty());
  CHECK(groups[1].variant == "setup 2");
  const std::vector<std::string> lines = setup_lines(results);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == "alpha, setup 2 differs: train.momentum: 0.9 there, 0.5 here");
  CHECK(has(tables_markdown(results), lines[0]));
}

TEST_CASE("LaTeX: booktabs, escapes, synthetic data said") {
  const ResultsTree tree("latex");
  tree.cell("al_pha", 0.4, 0, "trained", 0.5);
  tree.cell("al_pha", 0.4, 1, "trained", 0.25);
  const std::string text = tables_latex(load_results(tree.root));
  CHECK(has(text, "    \\toprule\n    norm & lr & batch size & survived & verdict & train acc."));
  CHECK(has(text, "    al\\_pha & 0.4 & 32 & 2/2 & 2 trained & 25.0 $\\pm$ 0.0\\% & "));
  CHECK(has(text, "37.5 $\\pm$ 17.7\\%"));
  CHECK(has(text, "\\caption{Extreme regime: lr $\\geq$ 0.3."));
  CHECK(has(text, "Synthetic data: made images"));
  CHECK(has(text, "-extreme}"));
  CHECK(std::count(text.begin(), text.end(), '{') == std::count(text.begin(), text.end(), '}'));
  CHECK(latex_text("a&b\\^~<50%>") ==
        "a\\&b\\textbackslash{}\\textasciicircum{}"
        "\\textasciitilde{}\\textless{}50\\%\\textgreater{}");
}

TEST_CASE("text for XML: escapes, control characters, broken UTF-8") {
  CHECK(xml_text("a<b & \"c\" 'd'>") == "a&lt;b &amp; &quot;c&quot; &#39;d&#39;&gt;");
  CHECK(xml_text(std::string("\x01\t\x7F", 3)) == "   ");
  CHECK(xml_text("±\xFFz\xC3") == "±\xEF\xBF\xBDz\xEF\xBF\xBD");
  CHECK(xml_text("\xED\xA0\x80").find('\xED') == std::string::npos);  // a surrogate
}
