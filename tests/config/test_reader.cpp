#include <clocale>
#include <cmath>
#include <locale>

#include "catalog.h"
#include "config/identity.h"

using namespace phasor;
using namespace phasor::testing;

TEST_CASE("B44: an unknown key is an error with pointer and nearest name") {
  CHECK(refusal(R"({"norm": {"name": "mrsnorm"}, "train": {"momentun": 0.9}})") ==
        "[config] t.json: 1 error\n/train/momentun: unknown key; did you mean momentum?");
  CHECK(faults(R"("train": {"lr": 0.1, "lr": 0.3})") == "/train/lr: duplicate key");
  CHECK(faults(R"("lr": 0.1)") == "/lr: unknown key; did you mean /train/lr?");
  CHECK(faults(R"("train.lr": 0.1)") == "/train.lr: unknown key; did you mean /train/lr?");
  CHECK(faults(R"("train": {"lr": "0.1"})") ==
        "/train/lr: expected a number from 0 to 1000000; got \"0.1\" (a string)");
  CHECK(faults(R"("train": {"batch_size": 128.5})") ==
        "/train/batch_size: expected an integer from 1 to 65536; got 128.5");
  CHECK(faults(R"("zebra": 1)") == "/zebra: unknown key");
  CHECK(faults(R"("trian": {})") == "/trian: unknown key; did you mean train?");
}

TEST_CASE("every fault of a file is reported at once, in one message") {
  CHECK(refusal(R"({"data": {"kind": "cifar1000"}, "norm": {"name": "mrsnrom", "eps": 2},
                    "train": {"epochs": 0, "nesterov": 1}, "sweep": {"lr": 0.1}})") ==
        "[config] t.json: 6 errors\n"
        "/data/kind: expected one of cifar100, cifar10, synthetic; got \"cifar1000\" (a string); "
        "did you mean cifar100?\n"
        "/norm/eps: expected a number from 0 to 1; got 2\n"
        "/train/epochs: expected an integer from 1 to 1000000; got 0\n"
        "/train/nesterov: expected true or false; got 1\n"
        "/sweep/lr: expected a list of at least one value; got 0.1\n"
        "/norm/name: unknown norm \"mrsnrom\"; did you mean mrsnorm?; known: layernorm rmsnorm "
        "mrsnorm none softnorm");
}

TEST_CASE("types and ranges: each kind of wrong value has its own words") {
  CHECK(faults(R"("train": 3)") == "/train: expected an object; got 3");
  CHECK(faults(R"("train": {"lr": {}})") ==
        "/train/lr: expected a number from 0 to 1000000; got an object");
  CHECK(faults(R"("train": {"lr": null})") ==
        "/train/lr: expected a number from 0 to 1000000; got null");
  CHECK(faults(R"("train": {"momentum": 1})") ==
        "/train/momentum: expected a number from 0 to below 1; got 1");
  CHECK(faults(R"("train": {"clip_norm": 0})") ==
        "/train/clip_norm: expected a number above 0, at most 1e+30, or null; got 0");
  CHECK(faults(R"("train": {"lanes": 0})") ==
        "/train/lanes: expected an integer from 1 to 1024, or auto; got 0");
  CHECK(faults(R"("train": {"seed": 9223372036854775808})") ==
        "/train/seed: expected an integer from 0 to 9007199254740991; got 9223372036854775808");
  CHECK(faults(R"("train": {"seed": 1e30})") ==
        "/train/seed: expected an integer from 0 to 9007199254740991; got 1e+30");
  CHECK(faults(R"("train": {"schedule": {"milestones": [2, 1]}})") ==
        "/train/schedule/milestones: expected a list of rising numbers from 0 to 1000000; got a "
        "list");
  CHECK(faults(R"("plugins": [1])") ==
        "/plugins: expected a list of non-empty strings; got a list");
  CHECK(faults(R"("name": "a/b")") ==
        "/name: expected a name of at most 64 letters, digits, dots, hyphens and underscores; got "
        "\"a/b\" (a string)");
  CHECK(faults(R"("model": {"arch": "resnet22"})") ==
        "/model/arch: expected resnet{6n+2} (resnet8, resnet14, resnet20, ... resnet1202) or "
        "resnet18; got \"resnet22\" (a string); did you mean resnet20?");
  CHECK(faults(R"("$schema": 1)") == "/$schema: expected a string; got 1");
  CHECK(refusal("[]") == "[config] t.json: 1 error\nthe document: expected an object; got a list");
}

TEST_CASE("a norm must be named") {
  CHECK(refusal("{}") ==
        "[config] t.json: 1 error\n/norm/name: missing; there is no default: name a norm here or "
        "in /sweep/norm");
  CHECK(refusal(R"({"norm": {"name": "softnorm", "q": 1}})") ==
        "[config] t.json: 1 error\n/norm/q: unknown key; the norm softnorm has no such parameter; "
        "did you mean p?");
  CHECK(refusal(R"({"norm": {"name": "mrsnorm", "gama_init": 1}})") ==
        "[config] t.json: 1 error\n/norm/gama_init: unknown key; the norm mrsnorm has no such "
        "parameter; did you mean gamma_init?");
  CHECK(refusal(R"({"norm": {"name": "softnorm", "p": 9, "groups": 1.5, "centred": 1}})") ==
        "[config] t.json: 3 errors\n"
        "/norm/centred: expected true or false; got 1\n"
        "/norm/groups: expected an integer from 1 to 64; got 1.5\n"
        "/norm/p: expected a number from 1 to 8; got 9");
  CHECK(refusal(R"({"norm": {"name": "softnorm", "p": [1]}})") ==
        "[config] t.json: 1 error\n/norm/p: expected a number, a string, true or false; got a "
        "list");
}

TEST_CASE("rules between keys") {
  CHECK(faults(R"("train": {"nesterov": true, "dampening": 0.5})") ==
        "/train/nesterov: needs momentum above 0 and dampening 0; got momentum 0.9, dampening 0.5");
  CHECK(faults(R"("train": {"schedule": {"kind": "multistep"}})") ==
        "/train/schedule/milestones: multistep needs at least one milestone; got []");
  CHECK(faults(R"("train": {"schedule": {"milestones": [1]}})") ==
        "/train/schedule/milestones: only the schedule multistep has milestones");
  CHECK(faults(R"("train": {"epochs": 2, "warmup_epochs": 3})") ==
        "/train/warmup_epochs: expected at most train.epochs (2); got 3");
}

TEST_CASE("text that is not JSON: file, line, column and what was expected") {
  CHECK(refusal("{\n  \"norm\": }") ==
        "[config] t.json:2:11: syntax error while parsing value - unexpected '}'; expected '[', "
        "'{', or a literal");
  CHECK(refusal("{\"a\": 1") ==
        "[config] t.json:1:8: syntax error while parsing object - unexpected end of input; "
        "expected '}'");
  CHECK(refusal("{\"train\": {\"lr\": 1, \"lr\": 2},\n \"norm\": 1e400}") ==
        "[config] t.json:2:14: number too large for a double\n/train/lr: duplicate key");
  CHECK(refusal("{\"a\": " + std::string(100, '[')).find("nested more than 32 deep") !=
        std::string::npos);
  CHECK(refusal("\xff\xfe{").starts_with("[config] t.json:1:1: "));
}

TEST_CASE("comments, a byte order mark and odd keys are taken as they are") {
  CHECK(resolve("// why\n{/* so */\"norm\": {\"name\": \"none\"}}").config.norm.name == "none");
  CHECK(resolve("\xEF\xBB\xBF{\"norm\": {\"name\": \"none\"}}").config.norm.name == "none");
  CHECK(faults(R"("a/b~c\n": 1)") == "/a~1b~0c\\n: unknown key");
  CHECK(faults(R"("description": 3)") == "/description: expected a string; got 3");
}

TEST_CASE("numbers arrive exactly, integers also with a zero fraction, and one zero") {
  const Config config =
      resolve(R"({"norm": {"name": "none"}, "train": {"lr": 0.30000000000000004, "seed": 1e3,
                  "batch_size": 64.0, "dampening": -0.0, "warmup_epochs": -0}})")
          .config;
  CHECK(config.train.lr == 0.30000000000000004);
  CHECK(config.train.seed == 1000);
  CHECK(config.train.batch_size == 64);
  CHECK_FALSE(std::signbit(config.train.dampening));
  CHECK_FALSE(std::signbit(config.train.warmup_epochs));
}

TEST_CASE("B32: weight decay on the norms is a key with a written default") {
  CHECK(resolve(R"({"norm": {"name": "none"}})").config.train.wd_on_norm);
  CHECK_FALSE(resolve(R"({"norm": {"name": "none"}, "train": {"wd_on_norm": false}})")
                  .config.train.wd_on_norm);
}

TEST_CASE("B07: an eps below 1e-8 in float32 is warned of, once") {
  const std::string small = R"({"norm": {"eps": 1e-12}, "sweep": {"norm": ["rmsnorm", "none"]}})";
  const std::vector<std::string> warnings = resolve(small).warnings;
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] ==
        "/norm/eps: 1e-12 is below 1e-8 in float32; the gradient of a zero row grows as "
        "gamma/sqrt(eps)");
  CHECK(resolve(small, {"train.dtype=float64"}).warnings.empty());
  CHECK(resolve(R"({"norm": {"name": "none", "eps": 1e-8}})").warnings.empty());
}

TEST_CASE("the name is the file's where the configuration has none") {
  CHECK(resolve(R"({"norm": {"name": "none"}})").config.name == "t");
  ConfigInput input{R"({"norm": {"name": "none"}})", "some dir/my run.json", {}};
  CHECK(read_config(input, catalog()).config.name == "unnamed");
  input.file = "dir/a-1.json";
  CHECK(read_config(input, catalog()).config.name == "a-1");
  CHECK(output_path(read_config(input, catalog()).config) == "runs/a-1");
}

TEST_CASE("plugins are read before the norms are known") {
  ConfigInput input{R"({"norm": {"name": "later"}, "plugins": ["a.so"]})", "t.json", {}};
  CHECK(plugin_paths(input) == std::vector<std::string>{"a.so"});
  input.settings = {parse_setting(R"(plugins=["b.so", "c.so"])")};
  CHECK(plugin_paths(input) == std::vector<std::string>{"b.so", "c.so"});
  CHECK(plugin_paths({"{\"plugins\": 3}", "", {}}).empty());
  CHECK(plugin_paths({"{", "", {}}).empty());
}

namespace {

struct CommaPoint : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("reading and writing do not depend on the locale") {
  const std::string text =
      R"({"norm": {"name": "none"}, "train": {"lr": 0.25, "weight_decay": 1.5e-4, "seed": 123456}})";
  const std::string before = config_json(resolve(text).config);
  const std::string fault = faults(R"("train": {"batch_size": 70000.5})");
  const std::locale old = std::locale::global(std::locale(std::locale::classic(), new CommaPoint));
  const std::string c_locale = std::setlocale(LC_NUMERIC, nullptr);
  const bool comma = std::setlocale(LC_NUMERIC, "de_DE.UTF-8") != nullptr;
  const Config config = resolve(text).config;
  const std::string after = config_json(config);
  const std::string same_fault = faults(R"("train": {"batch_size": 70000.5})");
  std::setlocale(LC_NUMERIC, c_locale.c_str());
  std::locale::global(old);
  if (!comma) MESSAGE("no de_DE.UTF-8 here: only the C++ locale was changed");
  CHECK(config.train.lr == 0.25);
  CHECK(before == after);
  CHECK(fault == same_fault);
}
