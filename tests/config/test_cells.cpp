#include <algorithm>

#include "catalog.h"
#include "config/expand.h"
#include "config/identity.h"

using namespace phasor;
using namespace phasor::testing;

namespace {

std::vector<CellConfig> cells(const std::string& text) {
  return expand(resolve(text).config, catalog());
}

std::vector<std::string> labels(const std::string& text) {
  std::vector<std::string> out;
  for (const CellConfig& cell : cells(text)) out.push_back(cell.label);
  return out;
}

using Labels = std::vector<std::string>;

}  // namespace

TEST_CASE("cells: seed slowest, then norm, lr, batch_size, then further axes by name") {
  CHECK(labels(R"({"sweep": {"batch_size": [32, 64], "seed": [0, 1], "lr": [0.1, 1e-5],
                             "norm": ["mrsnorm", "none"]}})") ==
        Labels{"mrsnorm-lr0.1-bs32-s0", "mrsnorm-lr0.1-bs64-s0", "mrsnorm-lr1e-05-bs32-s0",
               "mrsnorm-lr1e-05-bs64-s0", "none-lr0.1-bs32-s0", "none-lr0.1-bs64-s0",
               "none-lr1e-05-bs32-s0", "none-lr1e-05-bs64-s0", "mrsnorm-lr0.1-bs32-s1",
               "mrsnorm-lr0.1-bs64-s1", "mrsnorm-lr1e-05-bs32-s1", "mrsnorm-lr1e-05-bs64-s1",
               "none-lr0.1-bs32-s1", "none-lr0.1-bs64-s1", "none-lr1e-05-bs32-s1",
               "none-lr1e-05-bs64-s1"});
  CHECK(labels(R"({"norm": {"name": "none"}, "sweep": {"train.momentum": [0, 0.9],
                   "model.arch": ["resnet8", "resnet20"]}})") ==
        Labels{"none-lr0.1-bs128-s0-arch=resnet8-momentum=0", "none-lr0.1-bs128-s0-arch=resnet8",
               "none-lr0.1-bs128-s0-momentum=0", "none-lr0.1-bs128-s0"});
}

TEST_CASE("a configuration without axes is one cell, complete with the norm's parameters") {
  const std::vector<CellConfig> one = cells(R"({"norm": {"name": "softnorm", "p": 3}})");
  REQUIRE(one.size() == 1);
  CHECK(one[0].label == "softnorm-lr0.1-bs128-s0");
  CHECK(one[0].config.sweep.axes.empty());
  const std::map<std::string, Scalar> params = {
      {"p", 3.0}, {"groups", std::int64_t{1}}, {"centred", false}, {"mode", std::string("exact")}};
  CHECK(one[0].config.norm.params == params);
}

TEST_CASE("an axis value may set several keys of its section, for its cells only") {
  const auto all =
      cells(R"({"sweep": {"norm": ["rmsnorm", {"name": "rmsnorm", "gamma_init": 0.7979},
                                                {"name": "softnorm", "p": 4, "eps": 0}]}})");
  REQUIRE(all.size() == 3);
  CHECK(all[0].config.norm.gamma_init == 1.0);
  CHECK(all[1].config.norm.gamma_init == 0.7979);
  CHECK(all[1].label == "rmsnorm-lr0.1-bs128-s0-gamma_init=0.7979");
  CHECK(all[2].config.norm.params.at("p") == Scalar(4.0));
  CHECK(all[2].label == "softnorm-lr0.1-bs128-s0-eps=0-p=4");

  const auto schedules = cells(R"({"norm": {"name": "none"}, "sweep": {"train.schedule": [
      {"kind": "constant"}, {"kind": "multistep", "milestones": [1, 2.5]}]}})");
  REQUIRE(schedules.size() == 2);
  CHECK(schedules[1].label ==
        "none-lr0.1-bs128-s0-schedule.kind=multistep-schedule.milestones=_1_2.5_");
  CHECK(schedules[1].config.train.schedule.milestones == std::vector<double>{1, 2.5});
}

TEST_CASE("axes: every kind of fault") {
  CHECK(faults(R"("sweep": {"momentum": [0.9]})") ==
        "/sweep/momentum: unknown key; did you mean train.momentum?");
  CHECK(faults(R"("sweep": {"batchsize": [1]})") ==
        "/sweep/batchsize: unknown key; did you mean batch_size?");
  CHECK(faults(R"("sweep": {"lr": []})") ==
        "/sweep/lr: expected a list of at least one value; got []");
  CHECK(faults(R"("sweep": {"lr": [0.1, "0.2"]})") ==
        "/sweep/lr/1: expected a number from 0 to 1000000; got \"0.2\" (a string)");
  CHECK(faults(R"("sweep": {"lr": [0.1, 0.3, 1e-1]})") == "/sweep/lr/2: duplicate value; got 0.1");
  CHECK(faults(R"("sweep": {"lr": [0.1], "train.lr": [0.3]})") ==
        "/sweep/train.lr/0: train.lr is also set by the axis lr");
  CHECK(faults(R"("sweep": {"data.path": ["a"]})") ==
        "/sweep/data.path: does not change the result of a cell, so it cannot be an axis");
  CHECK(faults(R"("sweep": {"run": [{"jobs": 1}]})") ==
        "/sweep/run: does not change the result of a cell, so it cannot be an axis");
  CHECK(faults(R"("sweep": {"lr": [{"lr": 0.2, "checkpoint_minutes": 1}]})") ==
        "/sweep/lr/0/checkpoint_minutes: does not change the result of a cell, so it cannot be an "
        "axis");
  CHECK(faults(R"("sweep": {"train.schedule": ["cosine"]})") ==
        "/sweep/train.schedule/0: expected an object with keys of train.schedule; got \"cosine\" "
        "(a string)");
  CHECK(faults(R"("sweep": {"norm": ["rmsnorm", {"name": "rmsnorm", "p": 1}]})") ==
        "/sweep/norm/1/p: unknown key; the norm rmsnorm has no such parameter");
  CHECK(faults(R"("sweep": {"norm": ["rmsnorm", {"name": "rmsnorm", "eps": 1e-5}]})") ==
        "/sweep: two cells are the same; got rmsnorm-lr0.1-bs128-s0 and rmsnorm-lr0.1-bs128-s0");
  CHECK(faults(R"("sweep": {"norm": ["rmsnorm", "mrsnrom"]})") ==
        "/sweep/norm/1: unknown norm \"mrsnrom\"; did you mean mrsnorm?; known: layernorm rmsnorm "
        "mrsnorm none softnorm");
  CHECK(faults(R"("sweep": {"train.momentum": [0, 0.9]}, "train": {"nesterov": true})") ==
        "/train/nesterov: needs momentum above 0 and dampening 0; got momentum 0, dampening 0");
}

TEST_CASE("labels are safe file names of bounded length") {
  const auto all = cells(R"json({"norm": {"name": "softnorm"}, "sweep": {"norm.mode":
      ["a b/../\"c\"$(x)", "ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé"]}})json");
  REQUIRE(all.size() == 2);
  CHECK(all[0].label == "softnorm-lr0.1-bs128-s0-mode=a_b_..__c___x_");
  CHECK(all[1].label.size() == 120);
}

TEST_CASE("a filter selects cells by any key") {
  const auto all = cells(R"({"sweep": {"norm": ["mrsnorm", "none"], "lr": [0.1, 0.4],
                                       "batch_size": [32, 128]}})");
  const auto count = [&](const char* filter) {
    return std::count_if(all.begin(), all.end(), [&](const CellConfig& cell) {
      return matches_filter(cell.config, filter);
    });
  };
  CHECK(count("lr=0.4") == 4);
  CHECK(count("lr=0.40,batch_size=128") == 2);
  CHECK(count("norm=mrsnorm,norm=none,train.lr=0.1") == 4);
  CHECK(count("data.kind=cifar10") == 0);
  CHECK_THROWS_WITH_AS(count("epochs=2"),
                       "[config] --filter epochs: unknown key; did you mean train.epochs?", Error);
  CHECK_THROWS_WITH_AS(count("lrr=1"), "[config] --filter lrr: unknown key; did you mean lr?",
                       Error);
  CHECK_THROWS_AS(count("lr=x"), Error);
  CHECK_THROWS_AS(count(""), Error);
}

namespace {

std::string hash(const std::string& text, const IdentityExtras& extras = {}) {
  return cell_identity(cells(text).at(0).config, extras).hash;
}

std::string with_train(const std::string& members) {
  return R"({"norm": {"name": "mrsnorm"}, "train": {)" + members + "}}";
}

}  // namespace

TEST_CASE("the hash covers what determines the result and nothing else") {
  const std::string base = hash(with_train(""));
  CHECK(base.size() == 8);
  CHECK(hash(with_train(R"("lr": 0.1, "checkpoint_minutes": 1)")) == base);
  CHECK(hash(R"({"name": "x", "description": "y", "norm": {"name": "mrsnorm"},
                 "data": {"path": "z"}, "run": {"jobs": 3, "out": "o", "kernels": "avx2"},
                 "plugins": ["p.so"]})") == base);
  for (const char* members :
       {R"("lr": 0.3)", R"("seed": 1)", R"("conv": "direct")", R"("lanes": 2)",
        R"("schedule": {"gamma": 0.2})", R"("log_every": 2)", R"("clip_norm": 1)"}) {
    CAPTURE(members);
    CHECK(hash(with_train(members)) != base);
  }
  CHECK(hash(R"({"norm": {"name": "mrsnorm", "eps": 0}})") != base);
  CHECK(hash(R"({"norm": {"name": "mrsnorm"}, "verdict": {"stop": "never"}})") != base);
  CHECK(hash(R"({"norm": {"name": "mrsnorm"}, "model": {"width": 2}})") != base);
  CHECK(hash(R"({"norm": {"name": "mrsnorm"}, "data": {"train_limit": 5}})") != base);

  CHECK(hash(with_train(""), {.data_digest = "d"}) != base);
  CHECK(hash(with_train(""), {.plugin_digest = "d"}) != base);
  CHECK(hash(with_train(""), {.kernel_class = "fma"}) != base);
  CHECK(hash(with_train(""), {.numerics = 1}) != base);
  // init_from counts by digest, not by path.
  CHECK(hash(with_train(R"("init_from": "a")"), {.init_digest = "d"}) ==
        hash(with_train(R"("init_from": "b")"), {.init_digest = "d"}));
  CHECK(hash(with_train(R"("init_from": "a")"), {.init_digest = "d"}) !=
        hash(with_train(R"("init_from": "a")"), {.init_digest = "e"}));
}

TEST_CASE("norm.stat_dtype and norm.rescue: in hash and label, but not at their defaults") {
  const std::string base = hash(with_train(""));
  const std::string canonical = cell_identity(cells(with_train("")).at(0).config, {}).canonical;
  CHECK(canonical.find("stat_dtype") == canonical.npos);
  CHECK(canonical.find("rescue") == canonical.npos);
  CHECK(hash(R"({"norm": {"name": "mrsnorm", "stat_dtype": "float32", "rescue": true}})") == base);
  const auto all = cells(R"({"norm": {"name": "mrsnorm"}, "sweep": {
      "norm.stat_dtype": ["float32", "float16", "bfloat16"], "norm.rescue": [true, false]}})");
  REQUIRE(all.size() == 6);
  Labels names;
  for (const CellConfig& cell : all) names.push_back(cell.label);
  const std::string start = "mrsnorm-lr0.1-bs128-s0";
  CHECK(names == Labels{start, start + "-stat_dtype=float16", start + "-stat_dtype=bfloat16",
                        start + "-rescue=false", start + "-rescue=false-stat_dtype=float16",
                        start + "-rescue=false-stat_dtype=bfloat16"});
  CHECK(cell_identity(all[0].config, {}).hash == base);
  CHECK(all[4].config.norm.stat_dtype == StatDType::float16);
  CHECK_FALSE(all[4].config.norm.rescue);
}

TEST_CASE("an emulated statistic where there is none is refused, with place and norm") {
  CHECK(faults(R"("sweep": {"norm.stat_dtype": ["float16"], "norm": ["rmsnorm", "none"]})") ==
        "/sweep/norm.stat_dtype/0: the norm none takes only \"float32\"; got \"float16\"");
  CHECK(faults("", {"norm.name=none", "norm.rescue=false"}) ==
        "--set norm.rescue: the norm none takes only true; got false");
  CHECK(faults(R"("train": {"dtype": "float64"})", {"norm.stat_dtype=bfloat16"}) ==
        "--set norm.stat_dtype: train.dtype float64 takes only \"float32\"; got \"bfloat16\"");
  CHECK(faults(R"("train": {"diagnostics": true})", {"norm.rescue=false"}) ==
        "--set norm.rescue: train.diagnostics takes only true; got false");
  CHECK(faults("", {"norm.stat_dtype=fp16"})
            .starts_with("--set norm.stat_dtype: expected one of float32, float16, bfloat16; got"));
}

TEST_CASE("the hash sees numbers, not their spelling, and not the order of keys") {
  CHECK(hash(with_train(R"("lr": 0.3)")) != hash(with_train(R"("lr": 0.30000000000000004)")));
  CHECK(hash(with_train(R"("lr": 0.3)")) == hash(with_train(R"("lr": 3e-1)")));
  CHECK(hash(with_train(R"("lr": 1)")) == hash(with_train(R"("lr": 1.0)")));
  CHECK(hash(with_train(R"("weight_decay": 0.0)")) == hash(with_train(R"("weight_decay": -0.0)")));
  CHECK(hash(with_train(R"("lr": 0.3, "seed": 2)")) == hash(with_train(R"("seed": 2, "lr": 0.3)")));
  CHECK(hash(R"({"norm": {"name": "softnorm", "p": 2}})") ==
        hash(R"({"norm": {"name": "softnorm"}})"));
  CHECK(hash(R"({"norm": {"name": "softnorm", "p": 3}})") !=
        hash(R"({"norm": {"name": "softnorm", "p": 3.5}})"));
}

TEST_CASE("a cell's hash and label stay when its sweep grows") {
  const auto before = cells(R"({"sweep": {"norm": ["none"], "lr": [0.1]}})");
  const auto after = cells(R"({"sweep": {"norm": ["rmsnorm", "none"], "lr": [0.3, 0.1],
                                         "train.momentum": [0.5, 0.9], "seed": [3, 0]}})");
  const std::string hash = cell_identity(before[0].config, {}).hash;
  const auto found = std::find_if(after.begin(), after.end(), [&](const CellConfig& cell) {
    return cell_identity(cell.config, {}).hash == hash;
  });
  REQUIRE(found != after.end());
  CHECK(found->label == before[0].label);
}

TEST_CASE("the compatibility hash ignores axes, run, names and paths") {
  const auto hash_of = [](const std::string& text) {
    return compatibility_hash(resolve(text).config);
  };
  const std::string base = hash_of(R"({"sweep": {"norm": ["none"]}})");
  CHECK(hash_of(R"({"name": "b", "description": "c", "data": {"path": "p"}, "run": {"jobs": 2},
                    "sweep": {"norm": ["none", "rmsnorm"], "lr": [0.3]}})") == base);
  CHECK(hash_of(R"({"train": {"epochs": 3}, "sweep": {"norm": ["none"]}})") != base);
}

TEST_CASE("a round trip of the resolved configuration keeps text and hash") {
  for (const char* text :
       {R"({"norm": {"name": "softnorm", "p": 1.25, "centred": true, "mode": "a\"b\n"},
            "train": {"lr": 0.30000000000000004, "clip_norm": 2, "lanes": 3,
                      "schedule": {"kind": "multistep", "milestones": [1, 2.5]}},
            "data": {"path": "é", "train_limit": 7}, "plugins": ["x.so"]})",
        R"({"sweep": {"norm": ["none", {"name": "softnorm", "p": 3}], "lr": [0.1, 1e-7],
                      "train.schedule": [{"kind": "cosine"}, {"gamma": 0.5}],
                      "train.clip_norm": [null, 1], "model.arch": [{"arch": "resnet8", "width": 2}]}})"}) {
    CAPTURE(text);
    const Config config = resolve(text).config;
    const std::string written = config_json(config);
    const Config again = resolve(written).config;
    CHECK(config_json(again) == written);
    CHECK(compatibility_hash(again) == compatibility_hash(config));
    const auto a = expand(config, catalog()), b = expand(again, catalog());
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      CHECK(a[i].label == b[i].label);
      CHECK(result_json(a[i].config) == result_json(b[i].config));
    }
  }
}

TEST_CASE("a variant sets keys of several sections; {} is the configuration as it is") {
  const auto found = cells(R"({"norm": {"name": "mrsnorm"}, "sweep": {"lr": [0.1, 0.4],
      "variant": [{}, {"train.momentum": 0, "norm.axes": "sample"}]}})");
  REQUIRE(found.size() == 4);
  CHECK(found[0].label == "mrsnorm-lr0.1-bs128-s0");
  CHECK(found[1].label == "mrsnorm-lr0.1-bs128-s0-axes=sample-momentum=0");
  CHECK(found[1].config.train.momentum == 0);
  CHECK(found[1].config.norm.axes == NormAxes::sample);
  CHECK(found[2].config.train.momentum == 0.9);
  // A cell has the id that it has without the axis.
  CHECK(cell_identity(found[2].config, {}).hash == hash(R"({"norm": {"name": "mrsnorm"},
      "train": {"lr": 0.4}})"));
}
