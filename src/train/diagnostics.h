// What train.diagnostics records of a logged step: numbers of every norm layer, measured on a few
// images of the batch, and of every layer with parameters, from the gradient of the whole batch;
// all with the weights before the update.
//
// In curve.jsonl the first line names the layers, and the line of a step holds an array per
// quantity, with an entry per layer:
//
//   {"diagnostics":{"images":8,"norms":["norm1",...],"layers":["conv1",...]}}
//   {"step":1,...,"diagnostics":{"norms":{"statistic_min":[...],...},"layers":{"grad_norm":[...],...}}}
//
// Numbers have six digits. What a layer does not have, and what is not finite, is null.
#pragma once

#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "nn/model.h"

namespace phasor {

/// So many images of a batch are looked at, the first ones; all of it where the norms mix samples.
inline constexpr Index kDiagnosticImages = 8;

/// One norm layer. x is its input, out = norm(x), y what the layer gives: the ReLU of out, or of
/// out + shortcut; a row is what is normalised together, a phasor two channels as the norm pairs
/// them (norm.pairing; neighbours where it pairs none).
struct NormDiagnostics {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  /// What x is divided by (NormContext::statistic), over all rows.
  double statistic_min = kNone, statistic_mean = kNone, statistic_max = kNone;
  /// Share of it that is less than twice what a row of zeros gives: eps makes up most of it.
  double eps_share = kNone;
  /// max |.| / root mean square of a row of x and of out; mean over rows that are not zero.
  double outlier_in = kNone, outlier_out = kNone;
  double gain_min = kNone, gain_max = kNone;
  double gain_flips = kNone;  ///< gains whose sign is opposite to the initial one: how many
  /// |dL/dz| of the phasors z of x, L the mean loss of the images looked at: mean over all, and
  /// deviation / mean over the phasors of a row, averaged over rows with a gradient.
  double phasor_grad = kNone, phasor_grad_cov = kNone;
  /// Mean angle in radians, from 0 to pi, between a phasor of x and that of out, and that of y;
  /// zero phasors have none.
  double phase_norm = kNone, phase_relu = kNone;
  double dead_relu = kNone;  ///< share of channels that are zero in all of y
};

/// One layer with parameters: w all of them, g the mean gradient of the whole batch, before weight
/// decay and clipping.
struct LayerDiagnostics {
  double grad_norm = NormDiagnostics::kNone;        ///< |g|
  double weight_norm = NormDiagnostics::kNone;      ///< |w|
  double effective_lr = NormDiagnostics::kNone;     ///< lr / |w|^2, before a scale-invariant norm
  double relative_update = NormDiagnostics::kNone;  ///< lr |g| / |w|
};

/// One step; both vectors are empty where it was not looked at.
struct Diagnostics {
  std::vector<NormDiagnostics> norms;    ///< in the order of Model::norms()
  std::vector<LayerDiagnostics> layers;  ///< in the order of the parameters
  bool empty() const { return norms.empty() && layers.empty(); }
};

/// The layers that the numbers belong to.
struct DiagnosedLayers {
  Index images = kDiagnosticImages;  ///< looked at in a full batch
  std::vector<std::string> norms, layers;
  bool empty() const { return norms.empty() && layers.empty(); }
};

DiagnosedLayers diagnosed_layers(const Model& model, Index batch_size);

/// The name of a number in the files.
template <class Record>
struct Quantity {
  const char* name;
  double Record::*value;
};

inline constexpr Quantity<NormDiagnostics> kNormQuantities[] = {
    {"statistic_min", &NormDiagnostics::statistic_min},
    {"statistic_mean", &NormDiagnostics::statistic_mean},
    {"statistic_max", &NormDiagnostics::statistic_max},
    {"eps_share", &NormDiagnostics::eps_share},
    {"outlier_in", &NormDiagnostics::outlier_in},
    {"outlier_out", &NormDiagnostics::outlier_out},
    {"gain_min", &NormDiagnostics::gain_min},
    {"gain_max", &NormDiagnostics::gain_max},
    {"gain_flips", &NormDiagnostics::gain_flips},
    {"phasor_grad", &NormDiagnostics::phasor_grad},
    {"phasor_grad_cov", &NormDiagnostics::phasor_grad_cov},
    {"phase_norm", &NormDiagnostics::phase_norm},
    {"phase_relu", &NormDiagnostics::phase_relu},
    {"dead_relu", &NormDiagnostics::dead_relu},
};

inline constexpr Quantity<LayerDiagnostics> kLayerQuantities[] = {
    {"grad_norm", &LayerDiagnostics::grad_norm},
    {"weight_norm", &LayerDiagnostics::weight_norm},
    {"effective_lr", &LayerDiagnostics::effective_lr},
    {"relative_update", &LayerDiagnostics::relative_update},
};

// The parts of the curve's files. Reading throws nlohmann::json::exception or Error where the text
// is not as written above.

/// {"images":...,"norms":[...],"layers":[...]}
void append_diagnosed_layers(std::string& out, const DiagnosedLayers& layers);
DiagnosedLayers read_diagnosed_layers(const nlohmann::json& object);

/// {"norms":{...},"layers":{...}}
void append_diagnostics(std::string& out, const Diagnostics& diagnostics);
Diagnostics read_diagnostics(const nlohmann::json& object, const DiagnosedLayers& layers);

/// The same of many steps, for curve.json: {"images":...,"step":[...],"norms":{"layer":[...],
/// "statistic_min":[[...],...],...},"layers":{...}}, an entry per layer in an entry per step.
struct DiagnosedStep {
  Index step;
  const Diagnostics* diagnostics;
};
void append_diagnostics(std::string& out, const DiagnosedLayers& layers,
                        const std::vector<DiagnosedStep>& steps);

}  // namespace phasor
