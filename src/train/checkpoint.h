// Checkpoints of a cell: weights, momentum and the state of its loop in last.safetensors, with the
// one before it in prev.safetensors.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "train/curve.h"
#include "train/metrics.h"
#include "train/trainer.h"

namespace phasor {

/// Where a cell stands between two steps. Everything that its further course depends on beyond the
/// trainer's own tensors, and no times: the same point of a cell always has the same state.
struct LoopState {
  Index step = 0;          ///< updates made
  Index epoch = 0;         ///< epochs completed, evaluation and curve lines included
  MetricSums sums;         ///< of the epoch under way
  Index diverged_run = 0;  ///< see DivergenceWatch
  std::optional<Index> diverged_step;
  std::optional<Metrics> test;          ///< the last evaluation
  std::optional<Index> nonfinite_step;  ///< the first non-finite step, where training goes on
  std::optional<NonFinite> nonfinite;
  Prefix curve;                      ///< of curve.jsonl, to which a resume truncates
  std::string pairing = "adjacent";  ///< how the network pairs channels (Model::pairing)
};

struct Checkpoint {
  LoopState state;
  std::vector<NamedTensor> tensors;
};

std::filesystem::path last_checkpoint(const std::filesystem::path& folder);
std::filesystem::path previous_checkpoint(const std::filesystem::path& folder);

/// Makes `checkpoint` the newest of the cell `id`, atomically; what was the newest becomes the
/// previous one. Throws an io error; then the old ones are still there. `before_publish` throws
/// where the cell is another process's by now (see AtomicFile).
void save_checkpoint(const std::filesystem::path& folder, const std::string& id,
                     const Checkpoint& checkpoint,
                     const std::function<void()>& before_publish = {});

/// The newest sound checkpoint in `folder` that fits curve.jsonl, or nothing where there is none.
/// `say` gets one line for each file that is damaged; the previous one then takes the place of a
/// damaged newest. A file of another cell is a usage error.
std::optional<Checkpoint> load_checkpoint(const std::filesystem::path& folder,
                                          const std::string& id,
                                          const std::function<void(const std::string&)>& say);

/// Throws a data error that names both where `metadata`, of the weights in `path`, says another
/// pairing than that of a network that pairs channels (Model::pairing). Files that say none, such
/// as those of other programs, are taken as adjacent.
void check_pairing(const std::map<std::string, std::string>& metadata, const std::string& pairing,
                   const std::filesystem::path& path);

/// Whether every number of every tensor is finite.
bool all_finite(const std::vector<NamedTensor>& tensors);

}  // namespace phasor
