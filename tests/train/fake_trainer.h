// A trainer of eight numbers: everything about the loop can be tested with it in milliseconds.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "data/records.h"
#include "train/trainer.h"

/// The last weight counts the steps. Its state after a step depends on every byte of every image,
/// every label, their order, the learning rate and the state before, so that equal states mean
/// equal courses.
class FakeTrainer : public phasor::Trainer {
 public:
  static constexpr int kSize = 8;

  /// What a step does beyond the usual, by its number (from 1).
  std::map<phasor::Index, double> loss_at;  ///< its loss
  phasor::Index spoil_at = 0;               ///< its update makes a weight infinite
  std::function<void()> on_step, on_evaluate;
  std::vector<double> rates;  ///< learning rates seen

  void initialise(std::uint64_t seed) override {
    weights_ = phasor::Tensor({kSize}, phasor::DType::float64);
    momentum_ = phasor::Tensor({kSize}, phasor::DType::float64);
    for (int i = 0; i < kSize - 1; ++i) weights_.set(i, static_cast<double>(seed) + i);
  }

  phasor::StepMetrics step(const phasor::BatchSource& batch, double lr,
                           phasor::Diagnostics*) override {
    if (on_step) on_step();
    const double sum = digest(batch);
    rates.push_back(lr);
    const auto number = static_cast<phasor::Index>(weights_.at(7)) + 1;  // survives a resume
    phasor::StepMetrics metrics;
    metrics.loss = loss_at.count(number) != 0 ? loss_at[number] : 4 + sum;
    metrics.accuracy = sum;
    metrics.grad_norm = 1 + sum;
    const bool spoilt = !std::isfinite(weights_.at(0));
    if (spoilt) metrics.loss = std::numeric_limits<double>::quiet_NaN();
    metrics.finite = std::isfinite(metrics.loss);
    if (!metrics.finite) return metrics;
    for (int i = 0; i < 7; ++i) {
      momentum_.set(i, 0.5 * momentum_.at(i) + sum + i);
      weights_.set(i, 0.75 * weights_.at(i) + lr * momentum_.at(i));
    }
    weights_.set(7, static_cast<double>(number));
    if (number == spoil_at) weights_.set(0, std::numeric_limits<double>::infinity());
    return metrics;
  }

  std::optional<phasor::NonFinite> locate_nonfinite(const phasor::BatchSource&) override {
    return phasor::NonFinite{"layer1.0.norm1", "sqrt", "forward", "nan"};
  }

  phasor::Metrics evaluate(const phasor::BatchSource& source) override {
    if (on_evaluate) on_evaluate();
    const double sum = digest(source);
    return {weights_.at(0) + sum, 0.5 + sum / 4, source.size};
  }

  std::vector<phasor::NamedTensor> state() const override {
    return {{"w", weights_.clone()}, {"momentum.w", momentum_.clone()}};
  }

  std::vector<std::string> load(std::span<const phasor::NamedTensor> tensors) override {
    std::vector<std::string> missing{"w"};
    for (const phasor::NamedTensor& tensor : tensors) {
      if (tensor.name == "w") missing.clear();
      (tensor.name == "w" ? weights_ : momentum_) = tensor.value.clone();
    }
    return missing;
  }

 private:
  /// A number in [0, 1) of the batch's images and labels in their order.
  static double digest(const phasor::BatchSource& batch) {
    std::uint64_t hash = 14695981039346656037u;
    const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
    std::vector<float> image(phasor::kImageBytes);
    for (phasor::Index i = 0; i < batch.size; ++i) {
      batch.image(i, phasor::DType::float32, image.data());
      for (const float value : image) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        mix(bits);
      }
      mix(static_cast<std::uint64_t>(batch.label(i)));
    }
    return static_cast<double>(hash >> 32) * 0x1p-32;
  }

  phasor::Tensor weights_, momentum_;
};
