#include "train/cell.h"

#include "train/loop.h"

namespace phasor {

std::optional<CellResult> run_cell(const CellJob& job) {
  CellSamples samples(*job.dataset, job.config.data, job.config.train);
  const std::unique_ptr<Trainer> trainer = make_trainer(job.model, job.trainer);
  return CellLoop(job, *trainer, samples).run();
}

}  // namespace phasor
