#include "train/diagnostics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace phasor {
namespace {

using nlohmann::json;

/// Six digits: enough for figures and checks, and bounds the files.
void append_short(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  constexpr int kDigits = 6;
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value == 0 ? 0.0 : value,
                                 std::chars_format::general, kDigits);
  out.append(text, end.ptr);
}

/// append(i) for i = 0 .. count - 1, with commas, in brackets.
template <class Append>
void append_list(std::string& out, std::size_t count, Append&& append) {
  out += '[';
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) out += ',';
    append(i);
  }
  out += ']';
}

void append_names(std::string& out, const std::vector<std::string>& names) {
  append_list(out, names.size(),
              [&](std::size_t i) { out.append("\"").append(names[i]).append("\""); });
}

template <class Record>
void append_values(std::string& out, const std::vector<Record>& records, double Record::*value) {
  append_list(out, records.size(), [&](std::size_t i) { append_short(out, records[i].*value); });
}

template <class Record, std::size_t N>
void append_group(std::string& out, const std::vector<Record>& records,
                  const Quantity<Record> (&quantities)[N]) {
  for (std::size_t q = 0; q < N; ++q) {
    out.append(q == 0 ? "{\"" : ",\"").append(quantities[q].name).append("\":");
    append_values(out, records, quantities[q].value);
  }
  out += '}';
}

template <class Record, std::size_t N>
void append_group(std::string& out, const std::vector<std::string>& layers,
                  const std::vector<DiagnosedStep>& steps,
                  std::vector<Record> Diagnostics::*records,
                  const Quantity<Record> (&quantities)[N]) {
  out += "{\n      \"layer\": ";
  append_names(out, layers);
  for (const Quantity<Record>& quantity : quantities) {
    out.append(",\n      \"").append(quantity.name).append("\": ");
    append_list(out, steps.size(), [&](std::size_t i) {
      append_values(out, steps[i].diagnostics->*records, quantity.value);
    });
  }
  out += "\n    }";
}

template <class Record, std::size_t N>
std::vector<Record> read_group(const json& object, std::size_t layers,
                               const Quantity<Record> (&quantities)[N]) {
  std::vector<Record> records(layers);
  for (const Quantity<Record>& quantity : quantities) {
    const json& values = object.at(quantity.name);
    if (!values.is_array() || values.size() != layers)
      fail(ErrorKind::io, "[diagnostics] ", quantity.name, " has a number for each of ", layers,
           " layers; got ", values.size());
    for (std::size_t i = 0; i < layers; ++i)
      if (!values[i].is_null()) records[i].*quantity.value = values[i].get<double>();
  }
  return records;
}

}  // namespace

DiagnosedLayers diagnosed_layers(const Model& model, Index batch_size) {
  DiagnosedLayers result;
  result.images = model.batch_statistics() ? batch_size : std::min(kDiagnosticImages, batch_size);
  for (const NormInfo& norm : model.norms()) result.norms.push_back(norm.name);
  for (const Parameter& parameter : model.parameters())
    if (const std::string layer = layer_of(parameter);
        result.layers.empty() || result.layers.back() != layer)
      result.layers.push_back(layer);
  return result;
}

void append_diagnosed_layers(std::string& out, const DiagnosedLayers& layers) {
  out.append("{\"images\":").append(std::to_string(layers.images)).append(",\"norms\":");
  append_names(out, layers.norms);
  out += ",\"layers\":";
  append_names(out, layers.layers);
  out += '}';
}

DiagnosedLayers read_diagnosed_layers(const json& object) {
  return {object.at("images").get<Index>(), object.at("norms").get<std::vector<std::string>>(),
          object.at("layers").get<std::vector<std::string>>()};
}

void append_diagnostics(std::string& out, const Diagnostics& diagnostics) {
  out += "{\"norms\":";
  append_group(out, diagnostics.norms, kNormQuantities);
  out += ",\"layers\":";
  append_group(out, diagnostics.layers, kLayerQuantities);
  out += '}';
}

Diagnostics read_diagnostics(const json& object, const DiagnosedLayers& layers) {
  return {read_group(object.at("norms"), layers.norms.size(), kNormQuantities),
          read_group(object.at("layers"), layers.layers.size(), kLayerQuantities)};
}

void append_diagnostics(std::string& out, const DiagnosedLayers& layers,
                        const std::vector<DiagnosedStep>& steps) {
  out.append("{\n    \"images\": ").append(std::to_string(layers.images));
  out += ",\n    \"step\": ";
  append_list(out, steps.size(), [&](std::size_t i) { out += std::to_string(steps[i].step); });
  out += ",\n    \"norms\": ";
  append_group(out, layers.norms, steps, &Diagnostics::norms, kNormQuantities);
  out += ",\n    \"layers\": ";
  append_group(out, layers.layers, steps, &Diagnostics::layers, kLayerQuantities);
  out += "\n  }";
}

}  // namespace phasor
