#include "train/norm_observer.h"

#include <algorithm>
#include <cmath>

#include "core/elementary.h"

namespace phasor {

template <class T>
void NormObserver<T>::on_norm(const NormPass& pass) {
  Layer& layer = layers_[static_cast<std::size_t>(pass.norm)];
  const Tape& tape = pass.x.tape();
  layer.input = pass.input.index();
  layer.rows = pass.x.shape();
  const T* x = tape.data<T>(pass.x);
  const T* normalised = tape.data<T>(pass.normalised);
  const T* out = tape.data<T>(pass.out);
  if (pass.statistic.defined()) see_statistic(pass, layer);
  see_outliers(layer.rows, x, layer.outlier_in);
  see_outliers(layer.rows, normalised, layer.outlier_out);
  const Index phasors = layer.rows[2] % 2 == 0 ? layer.rows.size() / 2 : 0;
  see_phases(phasors, x, normalised, layer.phase_norm);
  if (!pass.relu) return;
  see_phases(phasors, x, out, layer.phase_relu);
  see_units(layer.rows, out, layer.alive);
}

template <class T>
void NormObserver<T>::see_statistic(const NormPass& pass, Layer& layer) {
  const Tape& tape = pass.x.tape();
  const T* zero = tape.data<T>(pass.zero_statistic);
  const double dominated =
      2 * static_cast<double>(*std::max_element(zero, zero + pass.zero_statistic.shape().size()));
  const T* statistic = tape.data<T>(pass.statistic);
  for (Index i = 0; i < pass.statistic.shape().size(); ++i) {
    const auto value = static_cast<double>(statistic[i]);
    layer.statistic_min = std::min(layer.statistic_min, value);
    layer.statistic_max = std::max(layer.statistic_max, value);
    layer.statistic.add(value);
    layer.eps_share.add(value < dominated ? 1 : 0);
  }
}

template <class T>
void NormObserver<T>::see_outliers(const Shape& rows, const T* values, Mean& ratio) {
  const Index size = rows[1] * rows[2];
  for (Index row = 0; row < rows[0]; ++row, values += size) {
    double largest = 0, squares = 0;
    for (Index i = 0; i < size; ++i) {
      const auto value = static_cast<double>(values[i]);
      largest = std::max(largest, std::abs(value));
      squares += value * value;
    }
    if (squares != 0) ratio.add(largest / std::sqrt(squares / static_cast<double>(size)));
  }
}

template <class T>
void NormObserver<T>::see_phases(Index phasors, const T* before, const T* after, Mean& angle) {
  for (Index i = 0; i < 2 * phasors; i += 2) {
    const auto a = static_cast<double>(before[i]), b = static_cast<double>(before[i + 1]);
    const auto c = static_cast<double>(after[i]), d = static_cast<double>(after[i + 1]);
    if ((a == 0 && b == 0) || (c == 0 && d == 0)) continue;
    angle.add(portable_angle(a * c + b * d, std::abs(a * d - b * c)));
  }
}

template <class T>
void NormObserver<T>::see_units(const Shape& rows, const T* out, std::vector<bool>& alive) {
  alive.resize(static_cast<std::size_t>(rows[2]));
  for (Index at = 0; at < rows.size(); at += rows[2])
    for (std::size_t c = 0; c < alive.size(); ++c)
      if (out[at + static_cast<Index>(c)] != 0) alive[c] = true;
}

template <class T>
void NormObserver<T>::on_backward(const Tape& tape, const Node& node) {
  for (Layer& layer : layers_)
    if (layer.input >= 0 && &tape.node(layer.input) == &node)
      see_gradient(static_cast<const T*>(node.grad), layer);
}

template <class T>
void NormObserver<T>::see_gradient(const T* gradient, Layer& layer) {
  if (layer.rows[2] % 2 != 0) return;
  moduli_.resize(static_cast<std::size_t>(layer.rows[1] * layer.rows[2] / 2));
  const auto count = static_cast<double>(moduli_.size());
  for (Index row = 0; row < layer.rows[0]; ++row) {
    double sum = 0;
    for (double& modulus : moduli_) {
      const auto x = static_cast<double>(gradient[0]), y = static_cast<double>(gradient[1]);
      modulus = std::sqrt(x * x + y * y);
      sum += modulus;
      layer.phasor_grad.add(modulus);
      gradient += 2;
    }
    const double mean = sum / count;
    if (mean == 0) continue;
    double squares = 0;
    for (const double modulus : moduli_) squares += (modulus - mean) * (modulus - mean);
    layer.phasor_grad_cov.add(std::sqrt(squares / count) / mean);
  }
}

template <class T>
std::vector<NormDiagnostics> NormObserver<T>::result(const T* values) const {
  std::vector<NormDiagnostics> result(layers_.size());
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const Layer& layer = layers_[k];
    NormDiagnostics& norm = result[k];
    if (layer.statistic.count > 0) {
      norm.statistic_min = layer.statistic_min;
      norm.statistic_max = layer.statistic_max;
    }
    norm.statistic_mean = layer.statistic.value();
    norm.eps_share = layer.eps_share.value();
    norm.outlier_in = layer.outlier_in.value();
    norm.outlier_out = layer.outlier_out.value();
    norm.phasor_grad = layer.phasor_grad.value();
    norm.phasor_grad_cov = layer.phasor_grad_cov.value();
    norm.phase_norm = layer.phase_norm.value();
    norm.phase_relu = layer.phase_relu.value();
    if (!layer.alive.empty()) {
      const auto dead = std::count(layer.alive.begin(), layer.alive.end(), false);
      norm.dead_relu = static_cast<double>(dead) / static_cast<double>(layer.alive.size());
    }
    const int number = model_.norms()[k].gain;
    if (number < 0) continue;
    const Parameter& gain = model_.parameters()[static_cast<std::size_t>(number)];
    const T* first = values + gain.offset;
    const T* last = first + gain.shape.size();
    const auto [least, greatest] = std::minmax_element(first, last);
    norm.gain_min = static_cast<double>(*least);
    norm.gain_max = static_cast<double>(*greatest);
    norm.gain_flips = static_cast<double>(std::count_if(
        first, last, [&](T value) { return static_cast<double>(value) * gain.initial.scale < 0; }));
  }
  return result;
}

template class NormObserver<float>;
template class NormObserver<double>;

}  // namespace phasor
