#include "train/loop.h"

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/file.h"
#include "phasor/rng.h"
#include "train/fake_trainer.h"
#include "train/safetensors.h"
#include "train/temp_folder.h"

using namespace phasor;

namespace {

namespace fs = std::filesystem;

const Dataset& tiny_set() {
  static const Dataset dataset([] {
    DataConfig data;
    data.train_limit = 40;
    data.test_limit = 600;  // three blocks of an evaluation
    return data;
  }());
  return dataset;
}

/// Three epochs of three steps: 16, 16 and 8 images.
Config small_config() {
  Config config;
  config.train.epochs = 3;
  config.train.batch_size = 16;
  config.train.seed = 5;
  config.train.lr = 0.1;
  config.train.checkpoint_minutes = 1e6;
  return config;
}

/// One cell in a folder of its own, run as often as a test likes.
class Cell {
 public:
  explicit Cell(Config config = small_config()) : config_(std::move(config)) {}

  std::optional<CellResult> run(FakeTrainer& trainer, StopRequest* stop = nullptr) {
    CellSamples samples(tiny_set(), config_.data, config_.train);
    CellJob job;
    job.config = config_;
    job.id = "cell-1";
    job.folder = folder_.path();
    job.dataset = &tiny_set();
    job.stop = stop;
    job.say = [this](const std::string& line) { said.push_back(line); };
    job.before_publish = before_publish;
    job.progress = progress;
    return CellLoop(job, trainer, samples).run();
  }
  std::optional<CellResult> run() {
    FakeTrainer trainer;
    return run(trainer);
  }

  /// Runs until `step` more steps are done, then asks for a stop.
  std::optional<CellResult> run_steps(FakeTrainer trainer, Index steps) {
    StopRequest stop;
    Index done = 0;
    trainer.on_step = [&] {
      if (++done == steps) stop.signal = 2;
    };
    return run(trainer, &stop);
  }

  fs::path path(const char* name) const { return folder_.path() / name; }

  /// Name to content of everything that must be byte-equal.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      if (entry.path().filename() != "timing.jsonl")
        out[entry.path().filename().string()] = read_file(entry.path());
    return out;
  }

  std::vector<std::string> said;
  std::function<void()> before_publish;
  std::function<void(const Progress&)> progress;

 private:
  TempFolder folder_;
  Config config_;
};

nlohmann::json curve_of(const Cell& cell) {
  return nlohmann::json::parse(read_file(cell.path("curve.json")));
}

}  // namespace

TEST_CASE("a cell runs to its end and writes its curve") {
  Cell cell;
  const auto result = cell.run();
  REQUIRE(result);
  CHECK(result->steps == 9);
  CHECK(result->epochs == 3);
  CHECK(result->verdict.kind == VerdictKind::trained);
  const auto files = cell.files();
  CHECK(files.size() == 3);
  CHECK(files.count("curve.jsonl") == 1);
  CHECK(files.count("last.safetensors") == 1);
  const nlohmann::json curve = curve_of(cell);
  CHECK(curve["train"]["step"].dump() == "[1,2,3,4,5,6,7,8,9]");
  CHECK(curve["train"]["epoch"].dump() == "[1,1,1,2,2,2,3,3,3]");
  CHECK(curve["test"]["epoch"].dump() == "[1,2,3]");
  CHECK(curve["epochs"]["samples"].dump() == "[40,40,40]");
  const auto& accuracy = curve["train"]["accuracy"];
  const double first = (16 * accuracy[0].get<double>() + 16 * accuracy[1].get<double>() +
                        8 * accuracy[2].get<double>()) /
                       40;
  CHECK(curve["epochs"]["accuracy"][0].get<double>() == doctest::Approx(first));
  CHECK(result->train_accuracy == curve["epochs"]["accuracy"][2].get<double>());
  CHECK(result->test_accuracy == curve["test"]["accuracy"][2].get<double>());
  CHECK(fs::exists(cell.path("timing.jsonl")));
}

TEST_CASE("B36, B54: stopped after any step and resumed, every byte is that of a quiet run") {
  Config config = small_config();
  config.train.schedule.kind = ScheduleKind::cosine;
  config.train.warmup_epochs = 1;  // B35
  Cell quiet(config);
  FakeTrainer whole;
  REQUIRE(quiet.run(whole));
  const auto right = quiet.files();
  for (Index k = 1; k <= 9; ++k) {
    CAPTURE(k);
    Cell cell(config);
    CHECK_FALSE(cell.run_steps({}, k));
    CHECK(fs::exists(cell.path("last.safetensors")));
    FakeTrainer rest;
    REQUIRE(cell.run(rest));
    CHECK(cell.files() == right);
    CHECK(rest.rates == std::vector<double>(whole.rates.begin() + k, whole.rates.end()));
  }
  Cell halting(config);
  for (Index k = 1; k <= 9; ++k) CHECK_FALSE(halting.run_steps({}, 1));
  REQUIRE(halting.run());
  CHECK(halting.files() == right);
}

TEST_CASE("B36: killed anywhere with a checkpoint after every step, the bytes are the same") {
  Cell quiet;
  quiet.run();
  for (Index k = 1; k <= 9; ++k) {
    CAPTURE(k);
    Config config = small_config();
    config.train.checkpoint_minutes = k % 2 == 0 ? 0 : 1e6;
    Cell cell(config);
    FakeTrainer trainer;
    Index done = 0;
    trainer.on_step = [&] {
      if (++done == k) throw std::bad_alloc();  // as good as a kill: nothing is saved any more
    };
    CHECK_THROWS_AS(cell.run(trainer), std::bad_alloc);
    REQUIRE(cell.run());
    CHECK(cell.files() == quiet.files());
  }
}

TEST_CASE("a stop during an evaluation is obeyed at once, and the evaluation comes again") {
  Cell quiet, cell;
  quiet.run();
  FakeTrainer trainer;
  StopRequest stop;
  int blocks = 0;
  trainer.on_evaluate = [&] {
    if (++blocks == 2) stop.time_up = true;
  };
  CHECK_FALSE(cell.run(trainer, &stop));
  CHECK(blocks == 2);
  REQUIRE(cell.run());
  CHECK(cell.files() == quiet.files());
}

TEST_CASE("a finished cell that is run again writes the same bytes") {
  Cell cell;
  const auto first = cell.run();
  const auto files = cell.files();
  FakeTrainer trainer;
  const auto second = cell.run(trainer);
  REQUIRE(second);
  CHECK(trainer.rates.empty());
  CHECK(cell.files() == files);
  CHECK(second->train_loss == first->train_loss);
  CHECK(second->verdict.kind == first->verdict.kind);
}

TEST_CASE("B33: the learning rate follows its milestones through an interruption") {
  Config config = small_config();
  config.train.epochs = 6;
  config.train.schedule.kind = ScheduleKind::multistep;
  config.train.schedule.milestones = {4};
  Cell cell(config);
  CHECK_FALSE(cell.run_steps({}, 9));
  REQUIRE(cell.run());
  const auto rates = curve_of(cell)["train"]["lr"].get<std::vector<double>>();
  REQUIRE(rates.size() == 18);
  for (std::size_t i = 0; i < 18; ++i) CHECK(rates[i] == (i < 12 ? 0.1 : 0.1 * 0.1));
}

TEST_CASE("max_steps ends within an epoch, with an evaluation") {
  Config config = small_config();
  config.train.max_steps = 5;
  Cell cell(config);
  const auto result = cell.run();
  REQUIRE(result);
  CHECK(result->steps == 5);
  CHECK(result->epochs == 1);
  const nlohmann::json curve = curve_of(cell);
  CHECK(curve["test"]["epoch"].size() == 2);
  CHECK(curve["test"]["epoch"][1].get<double>() == 5.0 / 3);
  CHECK(curve["epochs"]["samples"].dump() == "[40,32]");
  CHECK(result->train_accuracy == curve["epochs"]["accuracy"][0].get<double>());
}

TEST_CASE("log_every and eval_every_epochs thin the curve, never its ends") {
  Config config = small_config();
  config.train.log_every = 4;
  config.train.eval_every_epochs = 2;
  Cell cell(config);
  cell.run();
  const nlohmann::json curve = curve_of(cell);
  CHECK(curve["train"]["step"].dump() == "[1,4,8,9]");
  CHECK(curve["test"]["epoch"].dump() == "[2,3]");
  CHECK(curve["epochs"]["epoch"].dump() == "[1,2,3]");
}

TEST_CASE("B28: a non-finite step ends the cell, located, with the weights before it") {
  FakeTrainer trainer;
  trainer.loss_at[6] = std::numeric_limits<double>::infinity();
  Cell quiet;
  const auto result = quiet.run(trainer);
  REQUIRE(result);
  CHECK(result->verdict.kind == VerdictKind::nonfinite);
  CHECK(result->verdict.step == 6);
  REQUIRE(result->verdict.nonfinite);
  CHECK(result->verdict.nonfinite->layer == "layer1.0.norm1");
  CHECK(result->steps == 5);
  const nlohmann::json curve = curve_of(quiet);
  CHECK(curve["train"]["step"].size() == 6);
  CHECK(curve["train"]["loss"][5].is_null());
  CHECK(curve["nonfinite"][0]["kind"] == "+inf");
  CHECK(curve["test"]["epoch"].size() == 1);
  const TensorFile file = read_safetensors(quiet.path("last.safetensors"), Checksum::required);
  CHECK(file.metadata.at("step") == "5");
  CHECK(all_finite(file.tensors));
  for (Index k = 1; k <= 5; ++k) {
    Cell cell;
    FakeTrainer part;
    part.loss_at = trainer.loss_at;
    CHECK_FALSE(cell.run_steps(part, k));
    const auto again = cell.run(part);
    REQUIRE(again);
    CHECK(again->verdict.step == 6);
    CHECK(cell.files() == quiet.files());
    REQUIRE(cell.run(part));  // and once more, from its end
    CHECK(cell.files() == quiet.files());
  }
}

TEST_CASE("B28: weights that an update spoilt are never the last checkpoint") {
  FakeTrainer trainer;
  trainer.spoil_at = 5;
  for (const double minutes : {0.0, 1e6}) {
    Config config = small_config();
    config.train.checkpoint_minutes = minutes;
    Cell quiet(config);
    const auto result = quiet.run(trainer);
    REQUIRE(result);
    CHECK(result->verdict.kind == VerdictKind::nonfinite);
    CHECK(result->verdict.step == 6);
    const TensorFile file = read_safetensors(quiet.path("last.safetensors"), Checksum::required);
    CHECK(file.metadata.at("step") == "4");
    CHECK(all_finite(file.tensors));
    for (Index k = 1; k <= 5; ++k) {
      Cell cell(config);
      FakeTrainer part;
      part.spoil_at = 5;
      CHECK_FALSE(cell.run_steps(part, k));
      REQUIRE(cell.run(part));
      CHECK(cell.files() == quiet.files());
    }
  }
}

TEST_CASE("verdict.stop = never goes on past a non-finite step and still reports it") {
  Config config = small_config();
  config.verdict.stop = StopRule::never;
  FakeTrainer trainer;
  trainer.loss_at[2] = std::numeric_limits<double>::quiet_NaN();
  Cell quiet(config);
  FakeTrainer same = trainer;
  // The fake counts by its weights, which a non-finite step leaves alone: it stays at step 2.
  const auto result = quiet.run(same);
  REQUIRE(result);
  CHECK(result->steps == 9);
  CHECK(result->verdict.kind == VerdictKind::nonfinite);
  CHECK(result->verdict.step == 2);
  CHECK(curve_of(quiet)["epochs"]["loss"][0].is_null());
  for (const Index k : {1, 2, 5}) {
    Cell cell(config);
    CHECK_FALSE(cell.run_steps(trainer, k));
    FakeTrainer rest = trainer;
    const auto again = cell.run(rest);
    REQUIRE(again);
    CHECK(again->verdict.step == 2);
    CHECK(cell.files() == quiet.files());
  }
}

TEST_CASE("a diverged cell ends early only where verdict.stop says so") {
  for (const StopRule stop : {StopRule::nonfinite, StopRule::diverged}) {
    Config config = small_config();
    config.verdict.grace_epochs = 0;
    config.verdict.diverged_loss = 10;
    config.verdict.diverged_steps = 3;
    config.verdict.stop = stop;
    FakeTrainer trainer;
    for (const Index step : {3, 4, 5}) trainer.loss_at[step] = 11;
    Cell quiet(config);
    FakeTrainer same = trainer;
    const auto result = quiet.run(same);
    REQUIRE(result);
    CHECK(result->verdict.kind == VerdictKind::diverged);
    CHECK(result->verdict.step == 3);
    CHECK(result->steps == (stop == StopRule::diverged ? 5 : 9));
    CHECK(result->test_accuracy);
    for (const Index k : {3, 4, 5}) {
      Cell cell(config);
      cell.run_steps(trainer, k);
      FakeTrainer rest = trainer;
      REQUIRE(cell.run(rest));
      CHECK(cell.files() == quiet.files());
    }
  }
}

TEST_CASE("B52: a damaged newest checkpoint is said and the one before is used") {
  Config config = small_config();
  config.train.checkpoint_minutes = 0;
  Cell quiet(config), cell(config);
  quiet.run();
  cell.run_steps({}, 5);
  const std::string last = read_file(cell.path("last.safetensors"));
  const std::string previous = read_file(cell.path("prev.safetensors"));
  for (std::uint64_t round = 0; round < 40; ++round) {
    const auto bits = draw(7, Purpose::check, 0, round);
    std::string damaged = last.substr(0, bits[0] % last.size());
    if (round % 2 == 0) {
      damaged = last;
      damaged[bits[0] % last.size()] ^= 4;
    }
    std::ofstream(cell.path("last.safetensors"), std::ios::binary) << damaged;
    std::ofstream(cell.path("prev.safetensors"), std::ios::binary) << previous;
    std::vector<std::string> said;
    const auto loaded = load_checkpoint(cell.path(""), "cell-1",
                                        [&](const std::string& line) { said.push_back(line); });
    REQUIRE(loaded);
    CHECK(loaded->state.step == 4);
    REQUIRE(said.size() == 1);
    CHECK(said[0].find("last.safetensors") != std::string::npos);
  }
  std::ofstream(cell.path("prev.safetensors"), std::ios::binary) << previous;
  std::ofstream(cell.path("last.safetensors"), std::ios::binary) << last.substr(0, 100);
  FakeTrainer rest;
  REQUIRE(cell.run(rest));
  CHECK(rest.rates.size() == 5);  // one step more than without the damage
  CHECK(cell.said.size() == 1);
  CHECK(cell.files() == quiet.files());
}

TEST_CASE("B52: without any sound checkpoint the cell starts again") {
  Config config = small_config();
  config.train.checkpoint_minutes = 0;
  Cell quiet(config), cell(config);
  quiet.run();
  cell.run_steps({}, 5);
  write_file_atomic(cell.path("last.safetensors"), "");
  write_file_atomic(cell.path("prev.safetensors"), "nonsense");
  REQUIRE(cell.run());
  CHECK(cell.said.size() == 2);
  CHECK(cell.files() == quiet.files());
}

TEST_CASE("a curve that lost its end in a crash of the machine is made again") {
  Cell quiet, cell;
  quiet.run();
  cell.run_steps({}, 5);
  const std::string curve = read_file(cell.path("curve.jsonl"));
  write_file_atomic(cell.path("curve.jsonl"), curve.substr(0, curve.size() - 3) + "\0\0\0");
  REQUIRE(cell.run());
  CHECK(cell.said.size() >= 1);
  CHECK(cell.files() == quiet.files());
}

TEST_CASE("a checkpoint of another cell is refused") {
  Cell cell;
  cell.run_steps({}, 2);
  Checkpoint other;
  other.state.curve = {0, sha256_hex("", 0)};
  FakeTrainer trainer;
  trainer.initialise(0);
  other.tensors = trainer.state();
  save_checkpoint(cell.path(""), "cell-2", other);
  CHECK_THROWS_WITH_AS(cell.run(), doctest::Contains("another cell"), Error);
}

TEST_CASE("an owner that lost its claim publishes nothing more") {
  Cell cell;
  bool lost = false;
  cell.before_publish = [&] {
    if (lost) fail(ErrorKind::io, "[claim] lost");
  };
  FakeTrainer trainer;
  trainer.on_evaluate = [&] { lost = true; };
  CHECK_THROWS_WITH_AS(cell.run(trainer), "[claim] lost", Error);
  CHECK_FALSE(fs::exists(cell.path("last.safetensors")));
  CHECK_FALSE(fs::exists(cell.path("curve.json")));
}

TEST_CASE("init_from takes weights, not momentum, and minds what is missing") {
  const TempFolder folder;
  FakeTrainer source;
  source.initialise(100);
  auto tensors = source.state();
  tensors[1].value.set(0, 1e6);  // momentum
  const auto file = folder.path() / "start.safetensors";
  write_safetensors(file, tensors, {});
  Config config = small_config();
  config.train.init_from = file.string();
  Cell started(config);
  REQUIRE(started.run());
  Config seeded = small_config();
  seeded.train.seed = 5;
  Cell other(seeded);
  REQUIRE(other.run());
  CHECK(started.files() != other.files());

  tensors.erase(tensors.begin());
  write_safetensors(file, tensors, {});
  CHECK_THROWS_WITH_AS(Cell(config).run(), doctest::Contains("init_missing"), Error);
  config.train.init_missing = InitMissing::use_default;
  Cell lenient(config);
  REQUIRE(lenient.run());
  CHECK(read_file(lenient.path("curve.jsonl")) == read_file(other.path("curve.jsonl")));
}

TEST_CASE("progress tells steps, rate and evaluations") {
  Cell cell;
  std::vector<Progress> seen;
  cell.progress = [&](const Progress& progress) { seen.push_back(progress); };
  cell.run();
  REQUIRE(seen.size() == 12);
  CHECK(seen[0].step == 1);
  CHECK(seen[0].steps == 9);
  CHECK(seen[0].epochs == 3);
  CHECK(seen[3].epoch_ended);
  CHECK(seen[3].epoch == 1);
  REQUIRE(seen[3].test);
  CHECK(seen[3].test->samples == 600);
  CHECK_FALSE(seen[4].test);
  CHECK(seen[4].images_per_second > 0);
}

TEST_CASE("an epoch without a batch is a usage error") {
  Config config = small_config();
  config.train.batch_size = 64;
  config.data.drop_last = true;
  CHECK_THROWS_AS(Cell(config).run(), Error);
}
