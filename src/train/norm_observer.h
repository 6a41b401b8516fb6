// Measures what the norm layers of a composed pass do, for train.diagnostics.
#pragma once

#include <vector>

#include "train/diagnostics.h"

namespace phasor {

/// Add it to the forward pass as probe and to the tape as observer, for as many micro-batches as
/// there are, in order. T is the tape's number type; all sums are in double.
template <class T>
class NormObserver final : public NormProbe, public TapeObserver {
 public:
  explicit NormObserver(const Model& model) : model_(model), layers_(model.norms().size()) {}

  void on_norm(const NormPass& pass) override;
  void on_forward(const Tape&, const Node&) override {}
  void on_backward(const Tape& tape, const Node& node) override;

  /// The numbers of each norm; `values` is the flat block of the parameters.
  std::vector<NormDiagnostics> result(const T* values) const;

 private:
  struct Mean {
    double sum = 0, count = 0;
    void add(double value) {
      sum += value;
      count += 1;
    }
    double value() const { return sum / count; }  // NaN of nothing
  };

  struct Layer {
    std::int32_t input = -1;  // on the tape of this pass
    Shape rows;               // [rows, positions, C]
    double statistic_min = std::numeric_limits<double>::infinity();
    double statistic_max = -std::numeric_limits<double>::infinity();
    Mean statistic, eps_share, outlier_in, outlier_out;
    Mean phase_norm, phase_relu, phasor_grad, phasor_grad_cov;
    std::vector<bool> alive;  // by channel; empty: no ReLU
  };

  static void see_statistic(const NormPass& pass, Layer& layer);
  static void see_outliers(const Shape& rows, const T* values, Mean& ratio);
  static void see_phases(Index phasors, const T* before, const T* after, Mean& angle);
  static void see_units(const Shape& rows, const T* out, std::vector<bool>& alive);
  void see_gradient(const T* gradient, Layer& layer);

  const Model& model_;
  std::vector<Layer> layers_;
  std::vector<double> moduli_;  // of a row
};

}  // namespace phasor
