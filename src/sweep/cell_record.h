// cell.json: what is known of one cell.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sweep/plan.h"
#include "train/cell.h"

namespace phasor {

enum class CellState { pending, running, done, failed, interrupted };
const char* name_of(CellState state);

/// The document, without `environment`: configuration, data, parameters; `result` where the cell is
/// done; `error` where it failed. A non-finite number is null and stands under `nonfinite` by name.
nlohmann::json cell_document(const PlannedCell& cell, CellState state,
                             const std::optional<CellResult>& result = std::nullopt,
                             const std::string& error = "");

}  // namespace phasor
