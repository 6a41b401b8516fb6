#include "train/cell.h"

#include "train/loop.h"

namespace phasor {

SampleOptions sample_options(const Config& config) {
  return {.seed = static_cast<std::uint64_t>(config.train.seed),
          .batch_size = config.train.batch_size,
          .shuffle = config.data.order == SampleOrder::shuffle,
          .augment = config.data.augment == Augment::crop_flip,
          .drop_last = config.data.drop_last};
}

std::optional<CellResult> run_cell(const CellJob& job) {
  CellSamples samples(*job.dataset, sample_options(job.config));
  const std::unique_ptr<Trainer> trainer = make_trainer(job.model, job.trainer);
  return CellLoop(job, *trainer, samples).run();
}

}  // namespace phasor
