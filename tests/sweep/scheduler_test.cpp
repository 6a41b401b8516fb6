#include "sweep/scheduler.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "config/reader.h"
#include "sweep/claim.h"
#include "sweep/engine.h"
#include "sweep/folder.h"

using namespace phasor;
using namespace phasor::tests;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

class Recorder final : public SweepObserver {
 public:
  void on_begin(const std::vector<const PlannedCell*>& cells, std::size_t done) override {
    to_run = cells.size();
    finished = done;
  }
  void on_progress(const PlannedCell&, const Progress&) override {}
  void on_end(const PlannedCell& cell, CellState state, const json&) override {
    const std::lock_guard lock(mutex);
    ends.emplace_back(cell.id, state);
  }
  void on_notice(const std::string& text) override {
    const std::lock_guard lock(mutex);
    notices.push_back(text);
  }

  std::mutex mutex;
  std::size_t to_run = 0, finished = 0;
  std::vector<std::pair<std::string, CellState>> ends;
  std::vector<std::string> notices;
};

/// 27 cells that a fake runs in no time.
struct Fixture {
  Fixture() {
    ConfigInput input;
    json names = json::array();
    const NormCatalog catalog = norm_catalog();
    for (std::size_t i = 0; i < 3; ++i) names.push_back(catalog.norms[i].name);
    input.text =
        json{{"model", {{"arch", "resnet8"}}},
             {"sweep", {{"norm", names}, {"lr", {0.1, 0.3, 0.4}}, {"batch_size", {32, 64, 128}}}}}
            .dump();
    plan = plan_cells(read_config(input, catalog).config, catalog);
    bind_data(plan);
    options.folder = {folder.path()};
    options.cells = select_cells(plan, {});
    options.run = [this](const CellJob& job) { return fake(job); };
    open_results(options.folder, sweep_document(plan), false);
  }

  std::optional<CellResult> fake(const CellJob& job) {
    {
      const std::lock_guard lock(mutex);
      started.insert(job.id);
    }
    if (job.id == broken) throw std::runtime_error("thrown on purpose");
    job.before_publish();
    std::ofstream(job.folder / "curve.json") << "{}";
    CellResult result;
    result.test_accuracy = 0.5;
    result.test_loss = std::numeric_limits<double>::quiet_NaN();
    return result;
  }

  SweepOutcome run() {
    started.clear();
    return run_sweep(plan, options, stop, recorder);
  }

  json cell(const std::string& id) const { return *load_object(options.folder.cell_file(id)); }

  Folder folder;
  Plan plan;
  SweepOptions options;
  StopRequest stop;
  Recorder recorder;
  std::string broken;
  std::mutex mutex;
  std::multiset<std::string> started;
};

}  // namespace

TEST_CASE("B45: a cell that throws is recorded, 26 others finish, and only it runs again") {
  Fixture f;
  f.broken = f.plan.cells[1].id;
  for (const int jobs : {1, 4}) {
    f.options.jobs = jobs;
    const SweepOutcome outcome = f.run();
    CHECK(outcome.finished == 26);
    CHECK(outcome.failed == 1);
    CHECK_FALSE(outcome.io_failed);
    CHECK(f.started.size() == (jobs == 1 ? 27 : 1));
    CHECK(f.cell(f.broken)["state"] == "failed");
    CHECK(f.cell(f.broken)["error"] == "thrown on purpose");
  }
  const std::string id = f.broken;
  f.broken.clear();
  CHECK(f.run().finished == 27);
  CHECK(f.started == std::multiset<std::string>{id});
  CHECK(f.run().finished == 27);
  CHECK(f.started.empty());
}

TEST_CASE("B48: a number that is not finite is null with its kind beside it") {
  Fixture f;
  f.run();
  const json result = f.cell(f.plan.cells[0].id)["result"];
  CHECK(result["test_loss"].is_null());
  CHECK(result["nonfinite"]["test_loss"] == "nan");
  CHECK(result["test_accuracy"] == 0.5);
}

TEST_CASE("many schedulers on one folder run each cell once") {
  Fixture f;
  f.options.jobs = 3;
  Recorder others[3];
  std::vector<std::thread> threads;
  for (Recorder& other : others) {
    threads.emplace_back(
        [&] { CHECK(run_sweep(f.plan, f.options, f.stop, other).finished == 27); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(f.started.size() == 27);
}

TEST_CASE("a stop request begins no further cell") {
  Fixture f;
  f.options.jobs = 1;
  f.options.run = [&](const CellJob& job) -> std::optional<CellResult> {
    f.started.insert(job.id);
    f.stop.signal = SIGINT;
    return std::nullopt;
  };
  const SweepOutcome outcome = f.run();
  CHECK(f.started.size() == 1);
  CHECK(outcome.unfinished == 27);
  CHECK(f.cell(*f.started.begin())["state"] == "interrupted");
}

TEST_CASE("an owner that lost its claim publishes nothing and takes the other's result") {
  Fixture f;
  f.options.jobs = 1;
  f.options.cells = {0};
  int runs = 0;
  f.options.run = [&](const CellJob& job) -> std::optional<CellResult> {
    if (runs++ == 0) {
      std::ofstream(job.folder / "claim.json") << "another\n";
      job.before_publish();
    }
    std::ofstream(job.folder / "curve.json") << "{}";
    return CellResult{};
  };
  CHECK(f.run().finished == 1);
  CHECK(runs == 2);  // the torn claim is nobody's after a second
  CHECK(f.recorder.notices.front().find("took the cell over") != std::string::npos);
}

TEST_CASE("threads: an even share, and the last cells share the cores") {
  CHECK(threads_for(0, 27, 2, 2) == 1);
  CHECK(threads_for(26, 27, 2, 2) == 2);
  CHECK(threads_for(25, 27, 2, 2) == 1);
  CHECK(threads_for(0, 1, 1, 8) == 8);
  CHECK(threads_for(0, 16, 16, 8) == 1);
  CHECK(threads_for(8, 10, 8, 8) == 4);
}
