// One norm applied once, forward and backward, by its definition or by its fused pair.
#pragma once

#include <memory>
#include <vector>

#include "kernels/kernels.h"
#include "norms/contract/registry.h"

namespace phasor::check {

/// A norm as a layer makes it, with the parameters that it declared.
struct NormUnderTest {
  std::unique_ptr<Norm> norm;
  std::vector<NormBuilder::Parameter> parameters, buffers;
};

struct LayerKeys {
  Index channels = 16;
  double eps = 1e-5;
  double gamma_init = 1;
  bool affine = true;
};

/// Throws what the norm's constructor throws.
NormUnderTest make_norm(const NormSpec& spec, const LayerKeys& keys, const NormValues& values = {});

/// What goes in: relu(norm(x) + skip), with the gradient dy of the result.
struct NormCase {
  Tensor x;                        ///< [rows, positions, C]
  std::vector<Tensor> parameters;  ///< in the order of declaration
  Tensor skip;                     ///< like x; empty: none
  bool relu = false;
  Tensor dy;                          ///< like x
  StatisticPrecision precision = {};  ///< of a fused pair
};

/// What comes out.
struct NormResult {
  std::vector<double> out, dx, dskip;
  std::vector<std::vector<double>> dparameters;
  bool inputs_untouched = true;
};

/// By the definition, on a tape of `dtype`.
NormResult run_composed(const Norm& norm, const NormCase& norm_case, DType dtype,
                        kernels::KernelSet set);

/// Buffers that the engine may let a pair share.
enum class Sharing { none, in_place };

/// One pass through a fused pair with buffers of its own. `accumulate`: dx is added to ones.
/// `in_place`: out shares skip, dx or dskip share dy.
class FusedPass {
 public:
  FusedPass(const Norm& norm, const NormCase& norm_case, kernels::KernelSet set,
            bool accumulate = false, Sharing sharing = Sharing::none);
  void forward();
  /// After forward.
  NormResult backward();

 private:
  /// A float32 copy that knows whether somebody wrote to it.
  class Guarded {
   public:
    explicit Guarded(const Tensor& value);
    float* data();
    bool untouched() const;

   private:
    Tensor tensor_, copy_;
  };

  const FusedPair& pair_;
  FusedShape shape_;
  Shape tensor_shape_;
  bool has_skip_, accumulate_, in_place_;
  Guarded x_, skip_, dy_;
  std::vector<Guarded> parameters_;
  std::vector<const float*> parameter_data_;
  std::vector<Tensor> dparameters_;
  std::vector<float*> dparameter_data_;
  Tensor out_, statistics_;
};

/// Forward and backward of a FusedPass.
NormResult run_fused(const Norm& norm, const NormCase& norm_case, kernels::KernelSet set,
                     bool accumulate = false, Sharing sharing = Sharing::none);

/// As the engine runs it in training: fused where the norm has a pair, composed otherwise.
NormResult run_float(const Norm& norm, const NormCase& norm_case, kernels::KernelSet set);

/// The error of dx relative to its own size, or to that of the terms it is the difference of:
/// length(dy) * length(out) / length(x). A gradient that cancels, as that of a row of one number
/// does, cannot be more accurate than its terms.
double dx_error(const NormCase& norm_case, const NormResult& got, const NormResult& exact);

/// The kernel sets that this processor runs.
std::vector<kernels::KernelSet> available_sets();

}  // namespace phasor::check
