// From configuration to engine: the values of a cell turned into a model, a trainer's options and a
// kernel set. The only place that knows both vocabularies.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "config/config.h"
#include "config/norm_catalog.h"
#include "kernels/kernels.h"
#include "nn/model.h"
#include "train/trainer.h"

namespace phasor {

/// Raised whenever the bits of a result change, so that old and new results never share an id.
inline constexpr std::int64_t kNumerics = 1;

/// The registered norms as the configuration layer sees them.
NormCatalog norm_catalog();

/// Classes of a data set of this kind.
Index class_count(DataKind kind);

/// The network of a cell, with the cell's norm (its parameters complete, as expand() leaves them).
/// Throws a usage error that names the layer where the norm does not take its channels.
std::shared_ptr<const Model> make_cell_model(const Config& cell);

/// Puts the written table's choices in place of `auto` (lanes, micro_batch).
void resolve_lanes(Config& cell, const Model& model);

/// The kernel set that `run.kernels` means here. A set this processor lacks is a usage error.
kernels::KernelSet choose_kernels(KernelChoice choice);

/// What of the kernel set decides a cell's bits: "fma" (avx2 and avx512 agree), "baseline", or
/// "reference" (which double always uses).
std::string kernel_class(kernels::KernelSet set, FloatType dtype);

/// `cell` with resolved lanes.
TrainerOptions trainer_options(const Config& cell, kernels::KernelSet set, int threads);

}  // namespace phasor
