// phasor-train eval: what a checkpoint's weights do on the test images.
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/input.h"
#include "cli/output.h"
#include "config/json_text.h"
#include "sweep/engine.h"
#include "sweep/environment.h"
#include "sweep/plan.h"
#include "sweep/results_folder.h"
#include "train/cell.h"
#include "train/checkpoint.h"
#include "train/safetensors.h"
#include "train/samples.h"

namespace phasor {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The configuration of the cell that the checkpoint lies in, from its cell.json.
Config recorded_config(const fs::path& checkpoint, const Arguments& arguments) {
  const fs::path file = checkpoint.parent_path() / "cell.json";
  const std::optional<json> cell = load_object(file);
  PHASOR_CHECK(cell && cell->contains("configuration"),
               "[eval] expected the cell.json of the checkpoint beside it; got none at ",
               file.string(), "; name a --config");
  json configuration = (*cell)["configuration"];
  if (configuration.contains("train")) configuration["train"]["init_from"] = nullptr;
  ConfigInput input;
  input.text = configuration.dump();
  input.file = file.string();
  input.settings = input_settings(arguments);
  load_plugins(arguments);
  return read_config(input, norm_catalog()).config;
}

/// The names of weights that the checkpoint lacks. An error names the file.
std::vector<std::string> load_weights(Trainer& trainer, std::span<const NamedTensor> tensors,
                                      const fs::path& checkpoint) {
  try {
    return trainer.load(tensors);
  } catch (const Error& error) {
    fail(error.kind(), error.what(), "; in ", checkpoint.string());
  }
}

json evaluate(const PlannedCell& cell, const Plan& plan, const fs::path& checkpoint) {
  const TensorFile file = read_safetensors(checkpoint);
  check_pairing(file.metadata, cell.model->pairing(), checkpoint);
  const std::unique_ptr<Trainer> trainer =
      make_trainer(cell.model, trainer_options(cell.config, plan.kernels, usable_cores()));
  trainer->initialise(0);
  const std::vector<std::string> missing = load_weights(*trainer, file.tensors, checkpoint);
  if (!missing.empty()) {
    fail(ErrorKind::data, "[eval] ", checkpoint.string(), " lacks the weight ", missing.front(),
         missing.size() > 1 ? concat(" and ", missing.size() - 1, " more") : "",
         "; is it of another network?");
  }
  CellSamples samples(*cell.dataset, cell.config.data, cell.config.train);
  const Metrics metrics = trainer->evaluate(samples.test_batch(0, samples.test_size()));
  json out = {{"checkpoint", checkpoint.string()},
              {"data", dataset_document(*cell.dataset)},
              {"images", metrics.samples},
              {"accuracy", metrics.accuracy},
              {"loss", nullptr}};
  if (std::isfinite(metrics.loss)) out["loss"] = metrics.loss;
  return out;
}

}  // namespace

int run_eval(const std::vector<std::string>& args) {
  Usage usage{
      "phasor-train eval",
      "CHECKPOINT [options]",
      "Prints loss and accuracy of a checkpoint on the test images. The network is that of "
      "the cell.json\nbeside the checkpoint, or of --config (one cell).",
      {{"phasor-train eval runs/smoke/cells/ID/last.safetensors", "a cell's last weights"},
       {"phasor-train eval weights.safetensors --config one.json --data data/cifar-100-binary",
        "weights from elsewhere, with PyTorch's names"}},
      input_options(),
      1,
      1};
  usage.options.push_back({"json", "", "as JSON"});
  const std::optional<Arguments> arguments = parse_arguments(usage, args);
  if (!arguments) return 0;
  const fs::path checkpoint = arguments->positional()[0];
  std::error_code ignored;
  if (!fs::is_regular_file(checkpoint, ignored)) {
    fail(ErrorKind::io, "[eval] expected a checkpoint (*.safetensors); got ", checkpoint.string(),
         fs::exists(checkpoint, ignored) ? ", which is no file" : ", which does not exist");
  }
  const Config config = arguments->has("config") ? read_input(*arguments).config
                                                 : recorded_config(checkpoint, *arguments);
  Plan plan = plan_cells(config, norm_catalog());  // after the plugins are loaded
  PHASOR_CHECK(plan.cells.size() == 1, "[eval] the configuration must be of one cell; got ",
               plan.cells.size(),
               " cells; choose one with --set, e.g. --set norm=NAME --set lr=0.1");
  bind_data(plan);
  const json result = evaluate(plan.cells[0], plan, checkpoint);
  if (arguments->has("json")) {
    write_out(write_json(result, 2) + '\n');
  } else {
    write_out("test accuracy " + fixed(100 * result["accuracy"].get<double>(), 2) + "%, loss " +
              (result["loss"].is_null() ? "not finite" : fixed(result["loss"].get<double>(), 4)) +
              ", " + result["images"].dump() + " images (" +
              result["data"]["description"].get<std::string>() + ")\n");
  }
  return 0;
}

}  // namespace phasor
