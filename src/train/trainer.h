// The lane trainer: one SGD step over a mini-batch, bit-identical for any number of threads.
//
// A batch of n samples is cut into ceil(n/mb) micro-batches of mb images; micro-batch k of M
// belongs to lane floor(k L / M) of L. A lane runs its micro-batches forward and backward, one
// after the other, and sums their gradients in its own buffers. Lanes are added in lane order.
// Threads only execute lanes. Norms without batch statistics make samples independent, so nothing
// else is shared.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/conv_plan.h"
#include "nn/model.h"
#include "train/diagnostics.h"

namespace phasor {

struct TrainerOptions {
  DType dtype = DType::float32;
  kernels::KernelSet kernels{};
  kernels::ConvChoice conv = kernels::ConvChoice::automatic;
  Index lanes = 4;
  Index micro_batch = 1;
  int threads = 1;
  bool composed_norms = false;  ///< ignore fused norm kernels (measurements, tests)

  double momentum = 0.9;
  double dampening = 0;
  double weight_decay = 5e-4;
  bool wd_on_norm = true;  ///< decay gains and biases of norms too
  bool nesterov = false;
  std::optional<double> clip_norm;
};

/// Where a batch comes from. Called from several threads at once.
struct BatchSource {
  Index size = 0;
  /// Writes image `i` of the batch, NHWC [32,32,3], as numbers of `dtype`.
  std::function<void(Index i, DType dtype, void* image)> image;
  std::function<std::int32_t(Index i)> label;
};

/// Where the first non-finite number of a step appeared.
struct NonFinite {
  std::string layer;   ///< "layer1.0.norm1"
  std::string tensor;  ///< the op or parameter: "conv2d", "layer1.0.norm1.weight"
  std::string pass;    ///< "forward", "backward" or "update"
  std::string kind;    ///< "nan", "+inf" or "-inf"
};

struct StepMetrics {
  double loss = 0;       ///< mean over the batch, before the update, in nats
  double accuracy = 0;   ///< in [0,1]
  double grad_norm = 0;  ///< of the mean gradient, before weight decay and clipping
  /// Loss and gradient norm are finite. If not, the weights were left as they were.
  bool finite = true;
};

struct Metrics {
  double loss = 0, accuracy = 0;
  Index samples = 0;
};

/// A tensor of a checkpoint, in PyTorch's name and layout.
struct NamedTensor {
  std::string name;
  Tensor value;
};

class Trainer {
 public:
  virtual ~Trainer() = default;

  /// Fresh weights from the seed; momentum empty.
  virtual void initialise(std::uint64_t seed) = 0;

  /// Forward, backward and update on one batch at learning rate `lr`; `diagnostics`, where not
  /// null, gets those of the step and does not change it.
  virtual StepMetrics step(const BatchSource& batch, double lr,
                           Diagnostics* diagnostics = nullptr) = 0;

  /// Finds where the first non-finite number of this batch appears, with the weights as they are.
  virtual std::optional<NonFinite> locate_nonfinite(const BatchSource& batch) = 0;

  /// Loss and accuracy over `source`, without update.
  virtual Metrics evaluate(const BatchSource& source) = 0;

  /// Weights, then "momentum.<name>" where there is momentum.
  virtual std::vector<NamedTensor> state() const = 0;
  /// Takes weights (and momentum, where present) by name; float32 and float64 are converted.
  /// Returns the names of weights that `tensors` lacks. Throws a data error for a tensor of another
  /// shape or of an unknown name.
  virtual std::vector<std::string> load(std::span<const NamedTensor> tensors) = 0;
};

/// Bytes of packed weights up to which every thread packs its own copy. A line that another core
/// has read costs 28 ns to write (Zen 4, two cores), six times the packing of it alone; beyond this
/// size the caches do not hold the weights, and one copy is enough.
constexpr std::size_t kOwnWeights = std::size_t{16} << 20;

std::unique_ptr<Trainer> make_trainer(std::shared_ptr<const Model> model,
                                      const TrainerOptions& options);

/// The written table of lanes and micro-batch by architecture, found by measurement.
struct LaneTable {
  Index lanes, micro_batch;
};
LaneTable lane_table(const Model& model);

}  // namespace phasor
