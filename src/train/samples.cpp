#include "train/samples.h"

#include "data/batches.h"

namespace phasor {

struct CellSamples::State {
  State(const Dataset& data, const SampleOptions& options)
      : dataset(data),
        plan(data.size(Split::train), options.batch_size, options.drop_last),
        sampler(data.size(Split::train), options.seed,
                options.shuffle ? Order::shuffle : Order::file,
                options.augment ? Augment::crop_flip : Augment::none),
        single(data.normalisation()),
        precise(data.normalisation()) {
    train.image = [this](Index i, DType dtype, void* image) {
      const Sampler::Sample sample = sampler[train_first + i];
      write(dataset.image(Split::train, sample.number), sample.crop, dtype, image);
    };
    train.label = [this](Index i) {
      return static_cast<std::int32_t>(
          dataset.label(Split::train, sampler.number(train_first + i)));
    };
    test.image = [this](Index i, DType dtype, void* image) {
      write(dataset.image(Split::test, test_first + i), Crop{}, dtype, image);
    };
    test.label = [this](Index i) {
      return static_cast<std::int32_t>(dataset.label(Split::test, test_first + i));
    };
  }

  void write(const std::uint8_t* record, Crop crop, DType dtype, void* image) const {
    if (dtype == DType::float32)
      gather(record, crop, single, static_cast<float*>(image));
    else
      gather(record, crop, precise, static_cast<double*>(image));
  }

  const Dataset& dataset;
  BatchPlan plan;
  Sampler sampler;
  PixelTable<float> single;
  PixelTable<double> precise;
  Index epoch = -1;
  Index train_first = 0, test_first = 0;
  BatchSource train, test;
};

CellSamples::CellSamples(const Dataset& dataset, const SampleOptions& options)
    : state_(std::make_unique<State>(dataset, options)) {}

CellSamples::~CellSamples() = default;

Index CellSamples::classes() const { return state_->dataset.classes(); }
Index CellSamples::test_size() const { return state_->dataset.size(Split::test); }
Index CellSamples::steps_per_epoch() const { return state_->plan.batches(); }

const BatchSource& CellSamples::train_batch(Index epoch, Index number) {
  State& state = *state_;
  if (epoch != state.epoch) state.sampler.begin_epoch(static_cast<std::uint32_t>(epoch));
  state.epoch = epoch;
  state.train_first = state.plan.first(number);
  state.train.size = state.plan.size(number);
  return state.train;
}

const BatchSource& CellSamples::test_batch(Index first, Index count) {
  state_->test_first = first;
  state_->test.size = count;
  return state_->test;
}

}  // namespace phasor
