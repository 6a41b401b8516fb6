#include "sweep/plan.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "config/identity.h"
#include "config/reader.h"
#include "phasor/error.h"
#include "sweep/engine.h"
#include "sweep/folder.h"
#include "sweep/results_folder.h"

using namespace phasor;
using namespace phasor::tests;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

Config config_of(const std::string& text) {
  ConfigInput input;
  input.text = text;
  input.file = "test.json";
  return read_config(input, norm_catalog()).config;
}

}  // namespace

TEST_CASE("a plan has an id for every cell, paired networks and the written lanes") {
  const std::string norm = norm_catalog().norms.front().name;
  Plan plan = plan_cells(config_of(R"({"norm": {"name": ")" + norm +
                                   R"("}, "model": {"arch": "resnet8"}, "train": {"epochs": 2},
      "data": {"train_limit": 70}, "sweep": {"lr": [0.1, 0.3, 0.30000000000000004], "seed": [0, 1]}})"),
                         norm_catalog());
  REQUIRE(plan.cells.size() == 6);
  bind_data(plan);
  std::set<std::string> ids;
  for (const PlannedCell& cell : plan.cells) {
    ids.insert(cell.id);
    CHECK(cell.model == plan.cells[0].model);
    CHECK_FALSE(cell.config.train.lanes.is_auto());
    CHECK_FALSE(cell.config.train.micro_batch.is_auto());
    CHECK(cell.id.starts_with(cell.label + "-"));
    CHECK(total_steps(cell) == 2);  // one batch of 70 in each epoch
  }
  CHECK(ids.size() == 6);  // B47
  CHECK(select_cells(plan, {"lr=0.1,lr=0.3", 0, 1}).size() == 4);
  CHECK(select_cells(plan, {"", 1, 4}) == std::vector<std::size_t>{1, 5});
  CHECK_THROWS_AS(select_cells(plan, {"lr=7", 0, 1}), Error);
  const json document = sweep_document(plan);
  CHECK(document["cells"].size() == 6);
  CHECK(document["data"]["synthetic"]["synthetic"] == true);
}

TEST_CASE("a results folder is refused by the keys that differ") {
  const Folder folder;
  const ResultsFolder results{folder.path() / "out"};
  const json sweep = {{"result", {{"train", {{"momentum", 0.9}}}}}, {"digests", {{"a", "1"}}}};
  CHECK(open_results(results, sweep, false).empty());
  CHECK(open_results(results, sweep, false).empty());
  json other = sweep;
  other["result"]["train"]["momentum"] = 0.8;
  try {
    open_results(results, other, false);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(std::string(error.what()).ends_with("\ntrain.momentum: 0.9 there, 0.8 here"));
  }
  json data = sweep;
  data["digests"]["a"] = "2";
  CHECK_THROWS_AS(open_results(results, data, false), Error);
  CHECK(load_object(results.sweep_file()) == sweep);
  CHECK(open_results(results, other, true).size() == 1);
  CHECK(fs::exists(folder.path() / "out.old-1" / "sweep.json"));
  std::ofstream(results.sweep_file()) << "{";
  CHECK(open_results(results, sweep, false).size() == 1);  // damaged: said, and written anew
}

// Keys and norm parameters that join later leave the ids of published cells alone.
TEST_CASE("published results still belong to the cells that their configurations plan") {
  const char* root = std::getenv("PHASOR_SOURCE_DIR");
  REQUIRE(root != nullptr);
  std::size_t folders = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(root) / "results")) {
    const std::optional<json> sweep = load_object(entry.path() / "sweep.json");
    if (!sweep) continue;
    ++folders;
    INFO(entry.path().string());
    const Plan plan = plan_cells(config_of((*sweep)["configuration"].dump()), norm_catalog());
    const json& recorded = (*sweep)["cells"];
    REQUIRE(recorded.size() == plan.cells.size());
    for (std::size_t i = 0; i < plan.cells.size(); ++i) {
      CHECK(recorded[i]["label"] == plan.cells[i].label);
      // The data is not here; the rest of the identity is recorded in the cell.
      const std::string id = recorded[i]["id"];
      const std::optional<json> cell = load_object(entry.path() / "cells" / id / "cell.json");
      if (!cell) continue;
      const json& was = (*cell)["identity"];
      const IdentityExtras extras{.data_digest = was["data_digest"],
                                  .plugin_digest = was["plugin_digest"],
                                  .kernel_class = was["kernel_class"],
                                  .numerics = kNumerics};
      CHECK(id == plan.cells[i].label + "-" + cell_identity(plan.cells[i].config, extras).hash);
    }
  }
  CHECK(folders >= 2);
}

TEST_CASE("a norm with batch statistics takes the batch in one piece") {
  const auto plan_of = [](const std::string& train) {
    return plan_cells(config_of(R"({"norm": {"name": "batchnorm"}, "model": {"arch": "resnet8"},
        "train": {"batch_size": 48)" +
                                train + "}}"),
                      norm_catalog());
  };
  const Plan plan = plan_of("");
  CHECK(plan.cells[0].config.train.lanes.value == 1);
  CHECK(plan.cells[0].config.train.micro_batch.value == 48);
  CHECK_THROWS_WITH_AS(plan_of(R"(, "micro_batch": 2)"),
                       doctest::Contains("/train/micro_batch: batchnorm takes its statistics over"),
                       Error);
}
