#include "sweep/cell_record.h"

#include <cmath>

#include "sweep/results_folder.h"

namespace phasor {
namespace {

using nlohmann::json;

/// Puts `value` into `object`; a non-finite one as null, with its kind under `nonfinite`.
void put(json& object, const char* name, std::optional<double> value) {
  object[name] = nullptr;
  if (!value) return;
  if (std::isfinite(*value)) {
    object[name] = *value;
  } else {
    object["nonfinite"][name] = std::isnan(*value) ? "nan" : *value > 0 ? "+inf" : "-inf";
  }
}

json verdict_document(const Verdict& verdict) {
  json out = {{"kind", name_of(verdict.kind)}, {"step", nullptr}, {"nonfinite", nullptr}};
  if (verdict.step) out["step"] = *verdict.step;
  if (verdict.nonfinite) {
    out["nonfinite"] = {{"layer", verdict.nonfinite->layer},
                        {"tensor", verdict.nonfinite->tensor},
                        {"pass", verdict.nonfinite->pass},
                        {"kind", verdict.nonfinite->kind}};
  }
  return out;
}

json result_document(const CellResult& result) {
  json out = {{"verdict", verdict_document(result.verdict)},
              {"steps", result.steps},
              {"epochs", result.epochs}};
  put(out, "train_accuracy", result.train_accuracy);
  put(out, "train_loss", result.train_loss);
  put(out, "best_train_accuracy", result.best_train_accuracy);
  put(out, "test_accuracy", result.test_accuracy);
  put(out, "test_loss", result.test_loss);
  put(out, "best_test_accuracy", result.best_test_accuracy);
  return out;
}

}  // namespace

const char* name_of(CellState state) {
  constexpr const char* kNames[] = {"pending", "running", "done", "failed", "interrupted"};
  return kNames[static_cast<int>(state)];
}

json cell_document(const PlannedCell& cell, CellState state,
                   const std::optional<CellResult>& result, const std::string& error) {
  json configuration = json::parse(cell.identity);
  json identity = json::object();
  for (const char* name : {"data_digest", "plugin_digest", "kernel_class", "numerics"}) {
    identity[name] = configuration[name];
    configuration.erase(name);
  }
  const Index norm_parameters = cell.model->parameter_count(ParameterRole::norm);
  const Index parameters = cell.model->parameter_count();
  json out = {
      {"schema", kCellSchema},
      {"id", cell.id},
      {"label", cell.label},
      {"state", name_of(state)},
      {"configuration", std::move(configuration)},
      {"identity", std::move(identity)},
      {"data", dataset_document(*cell.dataset)},
      {"parameters",
       {{"total", parameters}, {"norm", norm_parameters}, {"other", parameters - norm_parameters}}},
      {"training_flops_per_image", cell.model->training_flops()}};
  if (result) out["result"] = result_document(*result);
  if (!error.empty()) out["error"] = error;
  return out;
}

}  // namespace phasor
