#include "catalog.h"
#include "config/document.h"

using namespace phasor;
using namespace phasor::testing;

namespace {
const std::string kNorm = R"({"norm": {"name": "mrsnorm"}})";
}

TEST_CASE("--set is typed by the table: JSON, or bare words for strings") {
  const Config config =
      resolve(kNorm, {"train.lr=0.3", "batch_size=64", "norm=softnorm", "norm.p=3",
                      "norm.mode=fast", "data.path=true", "train.lanes=auto", "train.clip_norm=1",
                      "train.schedule.kind=multistep", "train.schedule.milestones=[1,2]",
                      "model.arch=\"resnet8\"", "run.out=null", "train.nesterov=true"})
          .config;
  CHECK(config.train.lr == 0.3);
  CHECK(config.train.batch_size == 64);
  CHECK(config.norm.name == "softnorm");
  CHECK(config.norm.params.at("p") == Scalar(std::int64_t{3}));
  CHECK(config.norm.params.at("mode") == Scalar(std::string("fast")));
  CHECK(config.data.path == "true");
  CHECK(config.train.lanes.is_auto());
  CHECK(config.train.clip_norm == 1.0);
  CHECK(config.train.schedule.kind == ScheduleKind::multistep);
  CHECK(config.train.schedule.milestones == std::vector<double>{1, 2});
  CHECK(config.model.arch == "resnet8");
  CHECK_FALSE(config.run.out.has_value());
  CHECK(config.train.nesterov);
}

TEST_CASE("--set: wrong keys and values") {
  CHECK(faults("", {"train.momentun=1"}) ==
        "--set train.momentun: unknown key; did you mean train.momentum?");
  CHECK(faults("", {"momentum=0.5"}) ==
        "--set momentum: unknown key; did you mean train.momentum?");
  CHECK(faults("", {"train.lr=abc"}) ==
        "--set train.lr: expected a number from 0 to 1000000; got \"abc\" (a string)");
  CHECK(
      faults("", {"train.seed=0x10"}) ==
      "--set train.seed: expected an integer from 0 to 9007199254740991; got \"0x10\" (a string)");
  CHECK(faults("", {"train.lr=1e400"}) ==
        "--set train.lr: expected a number from 0 to 1000000; got \"1e400\" (a string)");
  CHECK(faults("", {"train.schedule=cosine"}) ==
        "--set train.schedule: a section; set one of its keys");
  CHECK(faults("", {"lr=1", "train.lr=2"}) == "--set train.lr: given twice");
  CHECK(faults("", {"norm=mrsnrom"}) ==
        "--set norm: unknown norm \"mrsnrom\"; did you mean mrsnorm?; known: layernorm rmsnorm "
        "mrsnorm none softnorm");
  CHECK(faults("", {"sweep.lr=0.1"}) ==
        "--set sweep/lr: expected a list of at least one value; got 0.1");
  CHECK_THROWS_WITH_AS(parse_setting("train.lr"),
                       "[config] --set: expected KEY=VALUE; got \"train.lr\"", Error);
  CHECK_THROWS_AS(parse_setting("=1"), Error);
}

TEST_CASE("--set of a swept key replaces the axis and says so") {
  const std::string text = R"({"sweep": {"norm": ["layernorm", {"name": "rmsnorm", "eps": 0.1}],
                                         "lr": [0.1, 0.3]}})";
  const ResolvedConfig one = resolve(text, {"lr=0.4"});
  CHECK(one.config.train.lr == 0.4);
  REQUIRE(one.config.sweep.axes.size() == 1);
  CHECK(one.config.sweep.axes[0].key == "norm.name");
  CHECK(one.warnings == std::vector<std::string>{"--set lr: replaces the axis sweep.lr"});
  CHECK(refusal(text, {"norm.eps=0"}) ==
        "[config] t.json: 1 error\n--set norm.eps: the axis sweep.norm sets it too");

  const ResolvedConfig axis = resolve(text, {"sweep.lr=[0.2,0.5,0.6]"});
  REQUIRE(axis.config.sweep.axes.size() == 2);
  CHECK(axis.config.sweep.axes[1].values.size() == 3);
  CHECK(axis.origins.at("sweep.lr") == "--set");
}

TEST_CASE("--print-config says where each value came from") {
  ConfigInput input{R"({"norm": {"name": "softnorm", "p": 3}, "sweep": {"seed": [0, 1]}})",
                    "dir/t.json",
                    {parse_setting("train.lr=0.3"), {"data.path", "d/e", "--data"}}};
  const std::string text = print_config(read_config(input, catalog()));
  for (const char* line : {"name = \"t\"  (file name)\n", "train.lr = 0.3  (--set)\n",
                           "data.path = \"d/e\"  (--data)\n", "norm.name = \"softnorm\"  (file)\n",
                           "norm.p = 3  (file)\n", "train.momentum = 0.9  (default)\n",
                           "train.lanes = \"auto\"  (default)\n", "sweep.seed = [0,1]  (file)\n"}) {
    CAPTURE(line);
    CHECK(text.find(line) != std::string::npos);
  }
}
