#include "check/overfit.h"

#include <bit>
#include <cstdint>

#include "data/dataset.h"
#include "nn/resnet.h"
#include "train/samples.h"
#include "train/trainer.h"

namespace phasor::check {
namespace {

std::unique_ptr<Trainer> make_overfit_trainer(const std::shared_ptr<const Model>& model,
                                              int threads) {
  const LaneTable table = lane_table(*model);
  TrainerOptions options;
  options.kernels = kernels::default_set();
  options.lanes = model->batch_statistics() ? 1 : table.lanes;
  options.micro_batch = model->batch_statistics() ? kOverfitImages : table.micro_batch;
  options.threads = threads;
  options.weight_decay = 0;
  std::unique_ptr<Trainer> trainer = make_trainer(model, options);
  trainer->initialise(0);
  return trainer;
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

OverfitResult overfit(const NormSpec& spec, const NormValues& values) {
  constexpr double kRate = 0.05;
  constexpr int kStepsOfTwo = 10;
  DataConfig data;
  data.augment = Augment::none;
  data.order = SampleOrder::file;
  data.train_limit = kOverfitImages;
  const Dataset dataset(data);
  TrainConfig train;
  train.batch_size = kOverfitImages;
  CellSamples samples(dataset, data, train);

  NormFactory factory;
  factory.spec = &spec;
  factory.values = resolve_values(spec, values);
  ResNetOptions network;
  network.arch = "resnet8";
  const std::shared_ptr<const Model> model = make_resnet(network, factory);
  const std::unique_ptr<Trainer> one = make_overfit_trainer(model, 1);
  const std::unique_ptr<Trainer> two = make_overfit_trainer(model, 2);

  OverfitResult result;
  while (result.steps < kOverfitSteps) {
    const BatchSource& batch = samples.train_batch(0, 0);
    const StepMetrics metrics = one->step(batch, kRate);
    if (result.steps < kStepsOfTwo) {
      const StepMetrics other = two->step(batch, kRate);
      result.same_bits = result.same_bits && same_bits(metrics.loss, other.loss) &&
                         same_bits(metrics.grad_norm, other.grad_norm);
    }
    ++result.steps;
    result.loss = metrics.loss;
    if (!metrics.finite || metrics.loss < kOverfitLoss) break;
  }
  return result;
}

}  // namespace phasor::check
