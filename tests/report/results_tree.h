// Small results folders made by hand.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

/// A results folder in a temporary place, removed at the end.
class ResultsTree {
 public:
  explicit ResultsTree(const std::string& name)
      : root(std::filesystem::temp_directory_path() /
             ("phasor-report-" + std::to_string(::getpid()) + name)) {
    std::filesystem::create_directories(root / "cells");
  }
  ~ResultsTree() { std::filesystem::remove_all(root); }
  ResultsTree(const ResultsTree&) = delete;
  ResultsTree& operator=(const ResultsTree&) = delete;

  void write(const std::filesystem::path& file, const std::string& text) const {
    std::filesystem::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }

  std::string read(const std::filesystem::path& file) const {
    std::ifstream in(root / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  /// A finished cell of 640 synthetic images: 3 epochs of 20 steps. Returns its id.
  std::string cell(const std::string& norm, double lr, int seed, const std::string& verdict,
                   nlohmann::json test_accuracy, double momentum = 0.9,
                   const std::string& hash = "0a0b0c0d") const {
    using nlohmann::json;
    const std::string label =
        norm + "-lr" + (lr == 0.1 ? "0.1" : "0.4") + "-bs32-s" + std::to_string(seed);
    const std::string id = label + "-" + hash;
    const json document = {
        {"id", id},
        {"label", label},
        {"state", "done"},
        {"configuration",
         {{"norm", {{"name", norm}}},
          {"model", {{"arch", "resnet8"}}},
          {"train",
           {{"lr", lr},
            {"batch_size", 32},
            {"seed", seed},
            {"epochs", 3},
            {"momentum", momentum}}}}},
        {"data",
         {{"kind", "synthetic"},
          {"synthetic", true},
          {"description", "made images"},
          {"train_images", 640}}},
        {"parameters", {{"total", 100}, {"norm", 10}}},
        {"result",
         {{"verdict", {{"kind", verdict}, {"step", verdict == "nonfinite" ? json(7) : json()}}},
          {"train_accuracy", 0.25},
          {"test_accuracy", test_accuracy}}}};
    write("cells/" + id + "/cell.json", document.dump());
    write("cells/" + id + "/curve.json", "{}");
    return id;
  }

  /// curve.json of a cell: losses at steps 20, 40 and 60; a null is NaN.
  void curve(const std::string& id, const nlohmann::json& losses) const {
    using nlohmann::json;
    json nonfinite = json::array();
    for (std::size_t i = 0; i < losses.size(); ++i) {
      if (!losses[i].is_null()) continue;
      nonfinite.push_back({{"series", "train"}, {"index", i}, {"field", "loss"}, {"kind", "nan"}});
    }
    const json document = {
        {"train",
         {{"step", {20, 40, 60}},
          {"epoch", {1, 2, 3}},
          {"lr", {0.1, 0.1, 0.1}},
          {"loss", losses},
          {"accuracy", {0.1, 0.2, 0.3}},
          {"grad_norm", {1, 2, 4}}}},
        {"test", {{"epoch", {1, 3}}, {"loss", {4, 3}}, {"accuracy", {0.1, 0.5}}}},
        {"epochs",
         {{"epoch", {1, 2, 3}},
          {"loss", {4, 3, 2}},
          {"accuracy", {0.1, 0.2, 0.25}},
          {"samples", {640, 640, 640}}}},
        {"nonfinite", nonfinite}};
    write("cells/" + id + "/curve.json", document.dump());
  }

  /// Adds diagnostics of four norm layers at steps 20, 40 and 60 to curve.json: statistics
  /// `level` x (layer + 1) x (1, 2, 3), the least half and the greatest twice the mean, and null
  /// where `level` is; dead shares 0, .5, .25 and none; effective learning rates level and none.
  void diagnostics(const std::string& id, const nlohmann::json& level) const {
    using nlohmann::json;
    json document = json::parse(read("cells/" + id + "/curve.json"));
    json norms = {{"layer", {"norm1", "a.norm1", "b.norm1", "b.norm2"}},
                  {"statistic_min", json::array()},
                  {"statistic_mean", json::array()},
                  {"statistic_max", json::array()},
                  {"dead_relu", json::array()}};
    json layers = {{"layer", {"conv1", "fc"}}, {"effective_lr", json::array()}};
    for (int step = 1; step <= 3; ++step) {
      json least = json::array(), mean = json::array(), greatest = json::array();
      for (int layer = 1; layer <= 4; ++layer) {
        const auto times = [&](double factor) {
          return level.is_null() ? json() : json(level.get<double>() * layer * step * factor);
        };
        least.push_back(times(0.5));
        mean.push_back(times(1));
        greatest.push_back(times(2));
      }
      norms["statistic_min"].push_back(least);
      norms["statistic_mean"].push_back(mean);
      norms["statistic_max"].push_back(greatest);
      norms["dead_relu"].push_back({0, 0.5, 0.25, nullptr});
      layers["effective_lr"].push_back({level, nullptr});
    }
    document["diagnostics"] = {
        {"images", 8}, {"step", {20, 40, 60}}, {"norms", norms}, {"layers", layers}};
    write("cells/" + id + "/curve.json", document.dump());
  }

  std::filesystem::path root;
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
