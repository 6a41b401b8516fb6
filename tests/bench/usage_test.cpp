// A training step allocates nothing after the first, and touches no new page.
#include "bench/usage.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "nn/resnet.h"
#include "norms/contract/registry.h"
#include "train/samples.h"
#include "train/trainer.h"

using namespace phasor;

namespace {

struct Usage {
  std::uint64_t allocations, faults;
};

/// Of one step (gather, forward, backward, update): allocations of the third, page faults of the
/// best of five windows of twenty.
Usage usage_of(const std::string& norm, int threads) {
  ResNetOptions network;
  network.arch = "resnet8";
  NormFactory factory;
  factory.spec = &find_norm(norm);
  TrainerOptions options;
  options.kernels = kernels::default_set();
  options.threads = threads;
  options.lanes = 4;
  options.micro_batch = 2;
  options.momentum = 0.9;
  options.clip_norm = 1;
  const auto trainer = make_trainer(make_resnet(network, factory), options);
  trainer->initialise(0);
  const Dataset dataset{DataConfig{}};
  TrainConfig train;
  train.batch_size = 16;
  CellSamples samples(dataset, DataConfig{}, train);
  long next = 0;
  const auto step = [&] { trainer->step(samples.train_batch(0, next++ % 4), 0.01); };
  step();
  step();
  const std::uint64_t start = bench::allocations();
  step();
  Usage usage{bench::allocations() - start, ~std::uint64_t{0}};
  for (int window = 0; window < 5; ++window) {
    const std::uint64_t before = bench::page_faults();
    for (int i = 0; i < 20; ++i) step();
    usage.faults = std::min(usage.faults, bench::page_faults() - before);
  }
  return usage;
}

}  // namespace

TEST_CASE("the counters count") {
  const std::uint64_t allocations = bench::allocations();
  auto block = std::make_unique<std::vector<char>>(std::size_t{64} << 20);
  CHECK(bench::allocations() - allocations >= 2);
  const std::uint64_t faults = bench::page_faults();
  auto fresh = std::make_unique<std::vector<char>>(std::size_t{64} << 20);  // zeroed: touched
  CHECK(bench::page_faults() - faults >= 32);                               // even in huge pages
  CHECK((*block)[1] + (*fresh)[1] == 0);
}

TEST_CASE("a step after the first allocates nothing and faults no page") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  std::puts("skipped: sanitizers allocate and touch pages of their own");
#else
  for (const char* norm : {"layernorm", "rmsnorm", "mrsnorm"})
    for (const int threads : {1, 2}) {
      CAPTURE(norm);
      CAPTURE(threads);
      const Usage usage = usage_of(norm, threads);
      CHECK(usage.allocations == 0);
      CHECK(usage.faults == 0);
    }
#endif
}
