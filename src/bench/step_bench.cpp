#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/bench.h"
#include "bench/timing.h"
#include "bench/usage.h"
#include "data/dataset.h"
#include "nn/resnet.h"
#include "norms/contract/registry.h"
#include "phasor/error.h"
#include "train/samples.h"
#include "train/trainer.h"

namespace phasor::bench {
namespace {

kernels::ConvChoice conv_choice(const std::string& name) {
  if (name == "auto") return kernels::ConvChoice::automatic;
  if (name == "direct") return kernels::ConvChoice::direct;
  if (name == "winograd") return kernels::ConvChoice::winograd;
  fail(ErrorKind::usage, "[step] --conv expects auto, direct or winograd; got '", name, "'");
}

/// One row of the table: a configuration, its trainers (one a job) and what was measured.
struct Row {
  std::string arch, norm, conv;
  long batch_size;
  int threads;
  LaneTable lanes;
  double flops_per_image;
  std::vector<std::unique_ptr<Trainer>> trainers{};
  std::unique_ptr<CellSamples> samples{};
  std::uint64_t allocations_per_step = 0, faults_per_step = 0, resident = 0;
};

class StepBench {
 public:
  explicit StepBench(const StepOptions& options) : options_(options) {
    if (options_.norms.empty())
      for (const NormSpec& spec : norm_specs()) options_.norms.push_back(spec.name);
  }

  nlohmann::json run() {
    std::fprintf(stderr, "%-9s %-12s %5s %7s %4s %-8s %10s %8s %7s %7s %8s\n", "arch", "norm",
                 "batch", "threads", "jobs", "conv", "images/s", "% peak", "allocs", "faults",
                 "MB");
    nlohmann::json steps = nlohmann::json::array();
    std::vector<double> all_peaks;
    for (const int threads : options_.threads) {
      std::vector<Row> rows = make_rows(threads);
      for (Row& row : rows) measure_usage(row);
      std::vector<Workload> workloads;
      for (Row& row : rows)
        workloads.push_back({row.norm, [this, &row] { return run_window(row); }, {}});
      const double seconds = options_.seconds * static_cast<double>(rows.size());
      const std::vector<double> peaks =
          interleave(workloads, options_.kernels, threads * options_.jobs, seconds);
      const Spread peak = spread_of(peaks);
      all_peaks.push_back(peak.median);
      for (std::size_t i = 0; i < rows.size(); ++i)
        steps.push_back(report(rows[i], spread_of(workloads[i].rates), peak));
    }
    return {{"kernels", kernels::name_of(options_.kernels)},
            {"peak_gflops", *std::max_element(all_peaks.begin(), all_peaks.end()) / 1e9},
            {"steps", steps}};
  }

 private:
  std::vector<Row> make_rows(int threads) const {
    std::vector<Row> rows;
    for (const std::string& arch : options_.archs)
      for (const std::string& norm : options_.norms)
        for (const long batch_size : options_.batch_sizes)
          for (const std::string& conv : options_.convs)
            rows.push_back(make_row(arch, norm, conv, batch_size, threads));
    return rows;
  }

  Row make_row(const std::string& arch, const std::string& norm, const std::string& conv,
               long batch_size, int threads) const {
    ResNetOptions network;
    network.arch = arch;
    NormFactory factory;
    factory.spec = &find_norm(norm);
    const std::shared_ptr<const Model> model = make_resnet(network, factory);
    TrainerOptions trainer;
    trainer.kernels = options_.kernels;
    trainer.conv = conv_choice(conv);
    trainer.threads = threads;
    trainer.composed_norms = options_.composed;
    LaneTable lanes = lane_table(*model);
    lanes.lanes = options_.lanes.value_or(lanes.lanes);
    lanes.micro_batch = options_.micro_batch.value_or(lanes.micro_batch);
    trainer.lanes = lanes.lanes;
    trainer.micro_batch = lanes.micro_batch;
    const std::uint64_t before = resident_bytes();
    Row row{arch, norm, conv, batch_size, threads, lanes, model->training_flops()};
    for (int job = 0; job < options_.jobs; ++job) {
      row.trainers.push_back(make_trainer(model, trainer));
      row.trainers.back()->initialise(0);
    }
    row.samples = samples(batch_size);
    row.resident = before;
    return row;
  }

  /// The first batch of the first epoch: gathered, cropped and mirrored anew in every step.
  std::unique_ptr<CellSamples> samples(long batch_size) const {
    TrainConfig train;
    train.batch_size = batch_size;
    return std::make_unique<CellSamples>(dataset_, DataConfig{}, train);
  }

  /// Some steps of every job at once, enough for the caches that the row before has left cold to
  /// count little; returns the images trained on.
  double run_window(Row& row) const {
    constexpr long kImages = 256;
    const long least = options_.jobs > 1 ? 4 : 1;  // jobs start and end apart
    const long steps = std::max(least, kImages / row.batch_size);
    const BatchSource& source = row.samples->train_batch(0, 0);
    const auto run_job = [&, this](Trainer& trainer) {
      for (long step = 0; step < steps; ++step) trainer.step(source, options_.lr);
    };
    std::vector<std::thread> jobs;
    for (std::size_t job = 1; job < row.trainers.size(); ++job)
      jobs.emplace_back([&, job] { run_job(*row.trainers[job]); });
    run_job(*row.trainers[0]);
    for (std::thread& job : jobs) job.join();
    return static_cast<double>(row.batch_size * steps) * static_cast<double>(row.trainers.size());
  }

  /// Allocations of one step after the first, and page faults in the best of five windows.
  void measure_usage(Row& row) const {
    constexpr int kWindows = 5, kSteps = 20;
    const BatchSource& source = row.samples->train_batch(0, 0);
    Trainer& trainer = *row.trainers[0];
    for (int warm_up = 0; warm_up < 2; ++warm_up) trainer.step(source, options_.lr);
    const std::uint64_t start = allocations();
    trainer.step(source, options_.lr);
    row.allocations_per_step = allocations() - start;
    row.faults_per_step = ~std::uint64_t{0};
    const double deadline = now() + 10;  // a slow network gets fewer steps
    for (int window = 0; window < kWindows && now() < deadline; ++window) {
      const std::uint64_t faults = page_faults();
      int steps = 0;
      while (steps < kSteps && (steps == 0 || now() < deadline)) {
        trainer.step(source, options_.lr);
        ++steps;
      }
      row.faults_per_step =
          std::min(row.faults_per_step, (page_faults() - faults) / static_cast<unsigned>(steps));
    }
    row.resident = std::max(resident_bytes(), row.resident) - row.resident;
  }

  nlohmann::json report(const Row& row, const Spread& rate, const Spread& peak) const {
    const double fraction = rate.median * row.flops_per_image / peak.median;
    std::fprintf(stderr, "%-9s %-12s %5ld %7d %4d %-8s %10.1f %8.1f %7llu %7llu %8.1f\n",
                 row.arch.c_str(), row.norm.c_str(), row.batch_size, row.threads, options_.jobs,
                 row.conv.c_str(), rate.median, 100 * fraction,
                 static_cast<unsigned long long>(row.allocations_per_step),
                 static_cast<unsigned long long>(row.faults_per_step),
                 static_cast<double>(row.resident) / 1e6);
    return {{"arch", row.arch},
            {"norm", row.norm},
            {"batch_size", row.batch_size},
            {"threads", row.threads},
            {"jobs", options_.jobs},
            {"conv", row.conv},
            {"lanes", row.lanes.lanes},
            {"micro_batch", row.lanes.micro_batch},
            {"composed", options_.composed},
            {"images_per_s", rate.median},
            {"images_per_s_quartiles", {rate.low, rate.high}},
            {"gflop_per_image", row.flops_per_image / 1e9},
            {"peak_fraction", fraction},
            {"allocations_per_step", row.allocations_per_step},
            {"page_faults_per_step", row.faults_per_step},
            {"resident_mb", static_cast<double>(row.resident) / 1e6}};
  }

  StepOptions options_;
  Dataset dataset_{DataConfig{}};  // the embedded synthetic set
};

}  // namespace

nlohmann::json run_peak(const PeakOptions& options) {
  nlohmann::json rows = nlohmann::json::array();
  std::fprintf(stderr, "%-8s %10s\n", "threads", "GFLOP/s");
  for (int threads = 1; threads <= omp_get_num_procs(); ++threads) {
    std::vector<double> rates;
    const double end = now() + options.seconds;
    while (now() < end) rates.push_back(peak_rate(options.kernels, threads, 0.01) / 1e9);
    const Spread rate = spread_of(rates);
    std::fprintf(stderr, "%-8d %10.1f\n", threads, rate.median);
    rows.push_back({{"threads", threads},
                    {"gflops", rate.median},
                    {"gflops_best", rate.best},
                    {"gflops_quartiles", {rate.low, rate.high}}});
  }
  return {{"kernels", kernels::name_of(options.kernels)}, {"peak", rows}};
}

nlohmann::json run_step(const StepOptions& options) { return StepBench(options).run(); }

}  // namespace phasor::bench
