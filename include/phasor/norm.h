// The norm contract: the only header that a norm file needs.
//
// A norm is one file, <name>.cpp, that defines
//
//   namespace phasor::norms::<name> { NormSpec norm_spec(); }
//
// in src/norms, in a folder named by -DPHASOR_NORM_DIRS, or compiled alone into a shared object by
// phasor_add_norm_plugin(<target> <name>.cpp), named by `plugins` in a configuration or by
// --plugin. The tests, the command line and the sweeps know it by its name.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "phasor/ops.h"

namespace phasor {

/// A value of one of a norm's own configuration keys.
using NormValue = std::variant<double, std::int64_t, bool, std::string>;

/// A configuration key of one norm: what help, validation and the resolved configuration show.
struct NormKey {
  std::string name;
  NormValue standard;  ///< the default; its type is the key's type
  std::string help;
  double minimum = -1e300;  ///< numbers only, inclusive
  double maximum = 1e300;
};

/// What a norm says of itself; the conformance tests hold it to that.
struct NormProperties {
  bool scale_invariant = false;   ///< f(a x) = f(x) for a > 0, at eps 0
  bool shift_invariant = false;   ///< f(x + c) = f(x)
  bool phase_preserving = false;  ///< the angle of every phasor stays, at gains > 0
  bool needs_even_channels = false;
  /// Statistics mix samples in training, so that a step is one micro-batch; evaluation may not.
  bool batch_statistics = false;
  bool narrow_statistic = false;  ///< the fused pair heeds FusedShape::precision
};

/// What a layer tells the norm it makes, and takes from it: the declared parameters.
class PHASOR_API NormBuilder {
 public:
  struct Parameter {
    std::string name;
    Shape shape;
    double init;
  };

  NormBuilder(std::string layer, Index channels, double eps, double gamma_init, bool affine,
              std::vector<std::pair<std::string, NormValue>> values = {});

  const std::string& layer() const { return layer_; }
  Index channels() const { return channels_; }
  double eps() const { return eps_; }
  double gamma_init() const { return gamma_init_; }
  bool affine() const { return affine_; }

  /// The value of one of the spec's keys.
  double number(const std::string& key) const;
  std::int64_t integer(const std::string& key) const;
  bool flag(const std::string& key) const;
  const std::string& text(const std::string& key) const;

  /// Declares a learnable parameter, [C] or [C/2] or any shape that broadcasts; returns its number
  /// for NormContext. Names are those of the checkpoint: "weight", "bias".
  int parameter(std::string name, Shape shape, double init);
  const std::vector<Parameter>& parameters() const { return parameters_; }

  /// Declares a buffer: numbers that are kept and saved like a parameter but not learnt, such as
  /// running statistics. Returns its number for NormContext. The norm must have batch statistics.
  int buffer(std::string name, Shape shape, double init);
  const std::vector<Parameter>& buffers() const { return buffers_; }

 private:
  const NormValue& value(const std::string& key) const;
  void check_new(const std::string& name) const;

  std::string layer_;
  Index channels_;
  double eps_, gamma_init_;
  bool affine_;
  std::vector<std::pair<std::string, NormValue>> values_;
  std::vector<Parameter> parameters_, buffers_;
};

/// Takes what a training pass says of its layer's buffers.
class BufferSink {
 public:
  virtual ~BufferSink() = default;
  /// Of one layer's buffer `number`; see NormContext::update.
  virtual void update(int number, const Var& value, double weight) = 0;
};

/// One application of a norm: its parameters, and its buffers as they were before this step, on the
/// tape of this pass.
class NormContext {
 public:
  NormContext(std::span<const Var> parameters, bool training, Var* statistic = nullptr,
              std::span<const Var> buffers = {}, BufferSink* sink = nullptr)
      : parameters_(parameters),
        buffers_(buffers),
        training_(training),
        statistic_(statistic),
        sink_(sink) {}
  const Var& parameter(int number) const { return parameters_[static_cast<std::size_t>(number)]; }
  const Var& buffer(int number) const { return buffers_[static_cast<std::size_t>(number)]; }
  bool training() const { return training_; }

  /// Lets the buffer become (1 - weight) buffer + weight value when the step ends: nothing in this
  /// step sees it. Without effect where nobody trains (a gradient check, an evaluation).
  void update(int number, const Var& value, double weight) const {
    if (training_ && sink_ != nullptr) sink_->update(number, value, weight);
  }

  /// Says that `s`, of any shape, is what the input is divided by, and returns it: then
  /// train.diagnostics records its range. A norm that divides by nothing does not call it.
  Var statistic(const Var& s) const {
    if (statistic_ != nullptr) *statistic_ = s;
    return s;
  }

 private:
  std::span<const Var> parameters_, buffers_;
  bool training_;
  Var* statistic_;
  BufferSink* sink_;
};

/// The number type in which the statistic of a row is computed (norm.stat_dtype).
enum class StatisticType : std::uint8_t { float32, float16, bfloat16 };

/// How a statistic is computed: the definition and its fast kernels, or, for experiments on
/// numerics, every partial result rounded to a type, with or without the rescue of rows that leave
/// its range (norm.rescue).
struct StatisticPrecision {
  StatisticType type = StatisticType::float32;
  bool rescue = true;
  bool is_standard() const { return type == StatisticType::float32 && rescue; }
};

/// What a fused pair works on: `rows` x `positions` x `channels` numbers, contiguous.
struct FusedShape {
  Index rows, positions, channels;
  bool relu;
  kernels::KernelSet kernels;
  StatisticPrecision precision = {};  ///< standard, unless the norm declares narrow_statistic
};
struct FusedForward {
  const float* x;
  const float* skip;               ///< added before the ReLU; null: nothing
  const float* const* parameters;  ///< in the order of declaration
  float* out;                      ///< relu(norm(x) + skip); may be skip itself
  float* saved;                    ///< saved_size floats for the way back
};
struct FusedBackward {
  const float* x;
  const float* out;  ///< the forward result, for the ReLU's mask
  const float* saved;
  const float* const* parameters;
  const float* dy;
  float* dx;                  ///< written, or added to when `accumulate`; may be dy
  float* dskip;               ///< written; null: not wanted; may be dy
  float* const* dparameters;  ///< added to; a null entry is not wanted
  bool accumulate;
};

/// Hand-written float32 kernels of a norm with skip and ReLU: always both directions. Called from
/// several threads at once; allocates nothing. A norm without one is composed by the engine, and
/// one with it must agree with its composed definition (the conformance tests compare them).
class PHASOR_API FusedPair {
 public:
  virtual ~FusedPair() = default;
  /// Floats that forward leaves for backward.
  virtual Index saved_size(const FusedShape& shape) const = 0;
  virtual void forward(const FusedShape& shape, const FusedForward& args) const = 0;
  virtual void backward(const FusedShape& shape, const FusedBackward& args) const = 0;
};

/// One norm layer. Re-entrant: it runs in several lanes at once and holds no mutable state.
class PHASOR_API Norm {
 public:
  virtual ~Norm() = default;
  /// The definition, from public ops. x is [rows, positions, C]: a row is what is normalised
  /// together, over axes 1 and 2 (`axes: channel` has one position in a row, `axes: sample` all
  /// H x W of an image). Returns the same shape.
  virtual Var forward(const NormContext& context, const Var& x) const = 0;
  /// Null where the norm is composed only.
  virtual const FusedPair* fused() const { return nullptr; }
};

/// Everything the engine knows of a norm.
struct NormSpec {
  std::string name;
  std::string help;     ///< one line
  std::string formula;  ///< in the letters x, z, gamma, eps, C, P
  NormProperties properties;
  std::vector<NormKey> keys = {};
  /// Why the conformance kit need not see a network learn with it; empty: it must.
  std::string need_not_learn = {};
  std::unique_ptr<Norm> (*make)(NormBuilder& builder) = nullptr;
};

}  // namespace phasor
