// run_cell with the real trainer on a few synthetic images.
#include "train/cell.h"

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/file.h"
#include "nn/resnet.h"
#include "norms/contract/registry.h"
#include "train/temp_folder.h"

using namespace phasor;

namespace {

const Dataset& small_set() {
  static const Dataset dataset([] {
    DataConfig data;
    data.train_limit = 64;
    data.test_limit = 20;
    return data;
  }());
  return dataset;
}

struct Outcome {
  std::optional<CellResult> result;
  std::map<std::string, std::string> files;
};

/// Two epochs of 24, 24 and 16 images; with `stop_after`, interrupted there and resumed.
Outcome run(Index batch_size, double lr, int threads, kernels::KernelSet set,
            std::optional<Index> stop_after = std::nullopt, Index diagnosed_every = 0,
            const char* norm_name = "mrsnorm") {
  const TempFolder folder;
  NormFactory norm;
  norm.spec = &find_norm(norm_name);
  for (const NormKey& key : norm.spec->keys) norm.values.emplace_back(key.name, key.standard);
  ResNetOptions net;
  net.arch = "resnet8";
  CellJob job;
  job.config.train.epochs = 2;
  job.config.train.batch_size = batch_size;
  job.config.train.lr = lr;
  job.config.train.diagnostics = diagnosed_every > 0;
  job.config.train.log_every = std::max<Index>(diagnosed_every, 1);
  job.model = make_resnet(net, norm);
  if (job.model->batch_statistics()) {
    job.trainer.lanes = 1;
    job.trainer.micro_batch = batch_size;
  }
  job.trainer.kernels = set;
  job.trainer.threads = threads;
  job.id = "cell";
  job.folder = folder.path();
  job.dataset = &small_set();
  if (stop_after) {
    StopRequest stop;
    job.stop = &stop;
    job.progress = [&](const Progress& progress) {
      if (progress.step == *stop_after) stop.time_up = true;
    };
    CHECK_FALSE(run_cell(job));
    job.stop = nullptr;
    job.progress = nullptr;
  }
  Outcome out;
  out.result = run_cell(job);
  for (const char* name : {"curve.jsonl", "curve.json", "last.safetensors"})
    out.files[name] = read_file(folder.path() / name);
  return out;
}

/// The numbers of last.safetensors, without its header, which knows the length of the curve.
std::string tensors_of(const Outcome& outcome) {
  const std::string& file = outcome.files.at("last.safetensors");
  std::uint64_t header = 0;
  std::memcpy(&header, file.data(), sizeof header);
  return file.substr(sizeof header + header);
}

}  // namespace

TEST_CASE("B36, B38: a real cell gives the same bytes for any threads, set and interruption") {
  const kernels::KernelSet set = kernels::default_set();
  for (const Index batch_size : {24, 64}) {
    CAPTURE(batch_size);
    const Outcome right = run(batch_size, 0.05, 1, set);
    REQUIRE(right.result);
    CHECK(right.result->steps == (batch_size == 24 ? 6 : 2));
    for (const int threads : {2, 3, 7})
      CHECK(run(batch_size, 0.05, threads, set).files == right.files);
    CHECK(run(batch_size, 0.05, 2, set, 1).files == right.files);
    if (batch_size == 24) CHECK(run(batch_size, 0.05, 2, set, 4).files == right.files);
    if (kernels::available(kernels::KernelSet::avx512))
      CHECK(run(batch_size, 0.05, 1, kernels::KernelSet::avx2).files ==
            run(batch_size, 0.05, 1, kernels::KernelSet::avx512).files);
  }
}

TEST_CASE("B36: running statistics resume to the same bytes") {
  const kernels::KernelSet set = kernels::default_set();
  const Outcome right = run(24, 0.05, 1, set, std::nullopt, 0, "batchnorm");
  REQUIRE(right.result);
  for (const Index stop : {1, 4})
    CHECK(run(24, 0.05, 2, set, stop, 0, "batchnorm").files == right.files);
}

TEST_CASE(
    "B63: cells that train at once share nothing: the bytes are those of one after the other") {
  const kernels::KernelSet set = kernels::default_set();
  const Outcome first = run(24, 0.05, 1, set), second = run(64, 0.1, 2, set);
  Outcome a, b;
  std::thread other([&] { b = run(64, 0.1, 2, set); });
  a = run(24, 0.05, 1, set);
  other.join();
  CHECK(a.files == first.files);
  CHECK(b.files == second.files);
}

TEST_CASE("B36, B38: diagnostics are the same bytes for any threads and interruption") {
  const kernels::KernelSet set = kernels::default_set();
  const Outcome right = run(24, 0.05, 1, set, std::nullopt, 2);
  CHECK(run(24, 0.05, 3, set, std::nullopt, 2).files == right.files);
  for (const Index stop_after : {1, 3, 4})
    CHECK(run(24, 0.05, 2, set, stop_after, 2).files == right.files);
  if (kernels::available(kernels::KernelSet::avx512))
    CHECK(run(24, 0.05, 1, kernels::KernelSet::avx2, std::nullopt, 2).files ==
          run(24, 0.05, 1, kernels::KernelSet::avx512, std::nullopt, 2).files);
  const auto curve = nlohmann::json::parse(right.files.at("curve.json"));
  CHECK(curve["train"]["step"].dump() == "[1,2,4,6]");
  CHECK(curve["diagnostics"]["step"] == curve["train"]["step"]);
  CHECK(curve["diagnostics"]["norms"]["statistic_mean"][3].size() == 9);
  CHECK(curve["diagnostics"]["norms"]["statistic_mean"][3][8] > 0);
  // They change nothing else.
  const Outcome plain = run(24, 0.05, 1, set);
  CHECK(tensors_of(plain) == tensors_of(right));
  CHECK(plain.files.at("curve.jsonl").find("diagnostics") == std::string::npos);
}

TEST_CASE("the step that ends a cell has diagnostics, whenever it comes") {
  const Outcome wild = run(24, 1e6, 2, kernels::default_set(), std::nullopt, 1000);
  REQUIRE(wild.result);
  REQUIRE(wild.result->verdict.kind == VerdictKind::nonfinite);
  const Index last = *wild.result->verdict.step;
  const auto curve = nlohmann::json::parse(wild.files.at("curve.json"));
  CHECK(curve["train"]["step"] == nlohmann::json{1, last});
  CHECK(curve["diagnostics"]["step"] == nlohmann::json{1, last});
  CHECK(curve["diagnostics"]["layers"]["weight_norm"][1][0] > 0);
}

TEST_CASE("B28: a learning rate of a million ends a real cell with a located step") {
  const Outcome wild = run(24, 1e6, 2, kernels::default_set());
  REQUIRE(wild.result);
  if (wild.result->verdict.kind == VerdictKind::nonfinite) {
    REQUIRE(wild.result->verdict.nonfinite);
    CHECK(wild.result->verdict.nonfinite->layer != "");
    CHECK(run(24, 1e6, 1, kernels::default_set(), 1).files == wild.files);
  } else {
    CHECK(wild.result->verdict.kind != VerdictKind::trained);
  }
}
