// The plan of a sweep: its cells with their networks, then, once the data is known, their ids.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/norm_catalog.h"
#include "data/dataset.h"
#include "nn/model.h"

namespace phasor {

struct PlannedCell {
  Config config;  ///< complete: norm parameters and lanes resolved, no axes
  std::string label;
  std::shared_ptr<const Model> model;
  std::string id;        ///< label and hash; empty until the data is known
  std::string identity;  ///< canonical JSON of what the hash is of
  std::shared_ptr<const Dataset> dataset;
};

struct Plan {
  Config config;  ///< with axes
  kernels::KernelSet kernels{};
  std::vector<PlannedCell> cells;                                  ///< in the order of expand()
  std::map<std::string, std::shared_ptr<const Dataset>> datasets;  ///< by name
};

/// Expands `config` and builds every network, so that a network that cannot be is a usage error
/// before any data is read.
Plan plan_cells(const Config& config, const NormCatalog& catalog);

/// Opens the data sets of the plan's cells (data errors by Dataset) and gives the cells their ids.
void bind_data(Plan& plan);

/// Keeps the cells that match `filter` ("lr=0.4,norm=..."; empty: all), and of those every n-th
/// from number i. A filter that matches no cell is a usage error.
struct Selection {
  std::string filter;
  std::size_t shard = 0, shards = 1;
};
std::vector<std::size_t> select_cells(const Plan& plan, const Selection& selection);

/// Training images of an epoch, test images, and steps in all of a cell whose data is bound.
Index train_images(const PlannedCell& cell);
Index test_images(const PlannedCell& cell);
Index total_steps(const PlannedCell& cell);

/// Floating point operations of the whole cell, evaluations included (a third of a training pass).
double total_flops(const PlannedCell& cell);

/// What outputs say of a data set: kind, counts, digest, official, synthetic.
nlohmann::json dataset_document(const Dataset& dataset);

/// The content of sweep.json.
nlohmann::json sweep_document(const Plan& plan);

}  // namespace phasor
