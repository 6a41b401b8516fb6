// phasor-train describe: what a network is made of.
#include <nlohmann/json.hpp>
#include <set>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "config/json_text.h"
#include "config/keys.h"
#include "norms/contract/registry.h"
#include "sweep/engine.h"
#include "sweep/plan.h"

namespace phasor {
namespace {

using nlohmann::json;

json layer_document(const LayerInfo& layer) {
  json shape = json::array();
  for (int axis = 0; axis < layer.out.rank(); ++axis) shape.push_back(layer.out[axis]);
  return {{"name", layer.name},
          {"type", layer.type},
          {"out", std::move(shape)},
          {"parameters", layer.parameters},
          {"macs", layer.macs}};
}

/// How the statistic is computed; empty where by the definition.
std::string statistic_text(const Config& cell) {
  if (cell.norm.stat_dtype == StatDType::float32 && cell.norm.rescue) return {};
  return ", statistic in emulated " + get_value(cell, "norm.stat_dtype").get<std::string>() +
         (cell.norm.rescue ? " with" : " without") + " rescue";
}

json network_document(const PlannedCell& cell) {
  const Model& model = *cell.model;
  const NormSpec& spec = find_norm(cell.config.norm.name);
  json layers = json::array();
  for (const LayerInfo& layer : model.layers()) layers.push_back(layer_document(layer));
  const Index norm = model.parameter_count(ParameterRole::norm);
  return {{"arch", cell.config.model.arch},
          {"norm",
           {{"name", spec.name},
            {"formula", spec.formula},
            {"eps", cell.config.norm.eps},
            {"stat_dtype", get_value(cell.config, "norm.stat_dtype")},
            {"rescue", cell.config.norm.rescue}}},
          {"layers", std::move(layers)},
          {"parameters",
           {{"total", model.parameter_count()},
            {"norm", norm},
            {"other", model.parameter_count() - norm}}},
          {"training_flops_per_image", model.training_flops()},
          {"lanes", cell.config.train.lanes.value},
          {"micro_batch", cell.config.train.micro_batch.value}};
}

std::string network_text(const PlannedCell& cell) {
  const Model& model = *cell.model;
  const NormSpec& spec = find_norm(cell.config.norm.name);
  std::vector<std::vector<std::string>> rows{{"layer", "type", "out", "parameters", "MACs"}};
  for (const LayerInfo& layer : model.layers()) {
    rows.push_back({layer.name, layer.type, layer.out.str(), std::to_string(layer.parameters),
                    std::to_string(layer.macs)});
  }
  const Index norm = model.parameter_count(ParameterRole::norm);
  return cell.config.model.arch + " with " + spec.name + "\n" + spec.name + ": " + spec.formula +
         ", eps = " + number_text(cell.config.norm.eps) + statistic_text(cell.config) + "\n\n" +
         align_columns(rows) + "\n" + grouped(static_cast<double>(model.parameter_count())) +
         " parameters: " + grouped(static_cast<double>(model.parameter_count() - norm)) +
         " of convolutions and head, " + grouped(static_cast<double>(norm)) + " of norms\n" +
         fixed(model.training_flops() / 1e9, 4) + " GFLOP to train on one image; " +
         std::to_string(cell.config.train.lanes.value) + " lanes of micro-batches of " +
         std::to_string(cell.config.train.micro_batch.value) + "\n";
}

}  // namespace

int run_describe(const std::vector<std::string>& args) {
  Usage usage{"phasor-train describe",
              "[options]",
              "Prints the layers of every network of a configuration: shapes for one image, "
              "parameters,\nmultiply-accumulates, and the norm's formula and eps. Reads no data.",
              {{"phasor-train describe --config stress.json", "the networks of a sweep"},
               {"phasor-train describe --set norm.name=none --set model.arch=resnet18",
                "one network, without a file"}},
              input_options()};
  usage.options.push_back({"json", "", "as JSON: a list of networks"});
  const std::optional<Arguments> arguments = parse_arguments(usage, args);
  if (!arguments) return 0;
  const ResolvedConfig resolved = read_input(*arguments);  // loads the plugins
  const Plan plan = plan_cells(resolved.config, norm_catalog());
  std::set<const Model*> seen;
  std::string text;
  json list = json::array();
  for (const PlannedCell& cell : plan.cells) {
    if (!seen.insert(cell.model.get()).second) continue;
    if (!text.empty()) text += '\n';
    text += network_text(cell);
    list.push_back(network_document(cell));
  }
  write_out(arguments->has("json") ? write_json(list, 2) + "\n" : text);
  return 0;
}

}  // namespace phasor
