#include "sweep/plan.h"

#include <algorithm>
#include <span>

#include "config/expand.h"
#include "config/identity.h"
#include "config/json_text.h"
#include "core/file.h"
#include "core/sha256.h"
#include "norms/contract/plugin.h"
#include "sweep/cell_record.h"
#include "sweep/engine.h"
#include "sweep/environment.h"
#include "sweep/results_folder.h"

namespace phasor {
namespace {

using nlohmann::json;

const char* name_of(DataKind kind) {
  switch (kind) {
    case DataKind::cifar100:
      return "cifar100";
    case DataKind::cifar10:
      return "cifar10";
    case DataKind::synthetic:
      break;
  }
  return "synthetic";
}

/// Cells with equal networks share one: what a network depends on, as text.
std::string model_key(const Config& cell) {
  const json document = json::parse(result_json(cell));
  return document["model"].dump() + document["norm"].dump() + name_of(cell.data.kind);
}

std::string file_digest(const std::string& path) {
  const MappedFile file(path);
  return sha256_hex(file.data(), file.size());
}

/// Adds the data set of `cell` to the plan, or finds it there.
std::shared_ptr<const Dataset> dataset_of(
    const Config& cell, std::map<std::string, std::shared_ptr<const Dataset>>& open) {
  const DataConfig& data = cell.data;
  const std::string key = json{name_of(data.kind), data_path(data), data.train_limit.value_or(0),
                               data.test_limit.value_or(0)}
                              .dump();
  std::shared_ptr<const Dataset>& place = open[key];
  if (!place) place = std::make_shared<const Dataset>(data);
  return place;
}

}  // namespace

Plan plan_cells(const Config& config, const NormCatalog& catalog) {
  Plan plan;
  plan.config = config;
  plan.kernels = choose_kernels(config.run.kernels);
  std::map<std::string, std::shared_ptr<const Model>> models;
  for (CellConfig& expanded : expand(config, catalog)) {
    PlannedCell cell;
    cell.config = std::move(expanded.config);
    cell.label = std::move(expanded.label);
    std::shared_ptr<const Model>& model = models[model_key(cell.config)];
    if (!model) model = make_cell_model(cell.config);
    cell.model = model;
    resolve_lanes(cell.config, *model);
    plan.cells.push_back(std::move(cell));
  }
  return plan;
}

void bind_data(Plan& plan) {
  std::map<std::string, std::shared_ptr<const Dataset>> open;
  std::map<std::string, std::string> weights;  // digests of init_from files
  for (PlannedCell& cell : plan.cells) {
    cell.dataset = dataset_of(cell.config, open);
    IdentityExtras extras;
    extras.data_digest =
        cell.dataset->digest(Split::train) + '-' + cell.dataset->digest(Split::test);
    extras.kernel_class = kernel_class(plan.kernels, cell.config.train.dtype);
    extras.numerics = kNumerics;
    extras.plugin_digest = plugin_digest(cell.config.norm.name);
    if (const auto& from = cell.config.train.init_from) {
      std::string& digest = weights[*from];
      if (digest.empty()) digest = file_digest(*from);
      extras.init_digest = digest;
    }
    CellIdentity identity = cell_identity(cell.config, extras);
    cell.id = cell.label + '-' + identity.hash;
    cell.identity = std::move(identity.canonical);
    plan.datasets[name_of(cell.config.data.kind)] = cell.dataset;
  }
}

std::vector<std::size_t> select_cells(const Plan& plan, const Selection& selection) {
  std::vector<std::size_t> matching;
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    if (selection.filter.empty() || matches_filter(plan.cells[i].config, selection.filter)) {
      matching.push_back(i);
    }
  }
  PHASOR_CHECK(!matching.empty(), "[sweep] --filter ", selection.filter, " matches none of the ",
               plan.cells.size(), " cells; --dry-run lists them");
  std::vector<std::size_t> cells;
  for (std::size_t i = selection.shard; i < matching.size(); i += selection.shards) {
    cells.push_back(matching[i]);
  }
  return cells;
}

Index train_images(const PlannedCell& cell) { return cell.dataset->count(Split::train); }
Index test_images(const PlannedCell& cell) { return cell.dataset->count(Split::test); }

Index total_steps(const PlannedCell& cell) {
  const Index batch = cell.config.train.batch_size;
  const Index images = train_images(cell);
  const Index epoch = cell.config.data.drop_last ? images / batch : (images + batch - 1) / batch;
  const Index steps = epoch * cell.config.train.epochs;
  return std::min<Index>(steps, cell.config.train.max_steps.value_or(steps));
}

double total_flops(const PlannedCell& cell) {
  const Index batch = cell.config.train.batch_size;
  const double trained = static_cast<double>(
      std::min<Index>(total_steps(cell) * batch, train_images(cell) * cell.config.train.epochs));
  const double epochs = trained / static_cast<double>(train_images(cell));
  const double evaluations = epochs / static_cast<double>(cell.config.train.eval_every_epochs) + 1;
  const double tested = evaluations * static_cast<double>(test_images(cell)) / 3;
  return cell.model->training_flops() * (trained + tested);
}

json dataset_document(const Dataset& dataset) {
  std::string description;
  for (const std::string& line : dataset.description()) {
    description += (description.empty() ? "" : "; ") + line;
  }
  return {
      {"kind", name_of(dataset.kind())},
      {"description", description},
      {"classes", dataset.classes()},
      {"train_images", dataset.count(Split::train)},
      {"test_images", dataset.count(Split::test)},
      {"synthetic", dataset.synthetic()},
      {"official", dataset.official()},
      {"digest", {{"train", dataset.digest(Split::train)}, {"test", dataset.digest(Split::test)}}}};
}

json sweep_document(const Plan& plan) {
  json cells = json::array();
  for (const PlannedCell& cell : plan.cells) {
    cells.push_back({{"id", cell.id}, {"label", cell.label}});
  }
  json data = json::object(), digests = json::object();
  for (const auto& [name, dataset] : plan.datasets) {
    data[name] = dataset_document(*dataset);
    digests[name] = data[name]["digest"];
  }
  return {{"schema", kSweepSchema},
          {"name", plan.config.name},
          {"description", plan.config.description},
          {"configuration", json::parse(config_json(plan.config))},
          {"result", json::parse(result_json(plan.config))},
          {"hash", compatibility_hash(plan.config)},
          {"numerics", kNumerics},
          {"data", std::move(data)},
          {"digests", std::move(digests)},
          {"cells", std::move(cells)},
          {"environment", environment_json(plan.kernels)}};
}

}  // namespace phasor
