#include "train/samples.h"

namespace phasor {

CellSamples::CellSamples(const Dataset& dataset, const DataConfig& data, const TrainConfig& train)
    : dataset_(dataset),
      plan_(dataset.count(Split::train), train.batch_size, data.drop_last),
      sampler_(dataset.count(Split::train), static_cast<std::uint64_t>(train.seed), data.order,
               data.augment),
      single_(dataset.normalisation()),
      precise_(dataset.normalisation()) {
  train_.image = [this](Index i, DType dtype, void* image) {
    const Sampler::Sample sample = sampler_[train_first_ + i];
    write(dataset_.image(Split::train, sample.number), sample.crop, dtype, image);
  };
  train_.label = [this](Index i) -> std::int32_t {
    return dataset_.label(Split::train, sampler_[train_first_ + i].number);
  };
  test_.image = [this](Index i, DType dtype, void* image) {
    write(dataset_.image(Split::test, test_first_ + i), Crop{}, dtype, image);
  };
  test_.label = [this](Index i) -> std::int32_t {
    return dataset_.label(Split::test, test_first_ + i);
  };
}

const BatchSource& CellSamples::train_batch(Index epoch, Index number) {
  if (epoch != epoch_) sampler_.begin_epoch(static_cast<std::uint32_t>(epoch));
  epoch_ = epoch;
  train_first_ = plan_.first(number);
  train_.size = plan_.size(number);
  return train_;
}

const BatchSource& CellSamples::test_batch(Index first, Index count) {
  test_first_ = first;
  test_.size = count;
  return test_;
}

void CellSamples::write(const std::uint8_t* pixels, Crop crop, DType dtype, void* image) const {
  if (dtype == DType::float32)
    gather(pixels, crop, single_, static_cast<float*>(image));
  else
    gather(pixels, crop, precise_, static_cast<double*>(image));
}

}  // namespace phasor
