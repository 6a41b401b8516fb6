// The table of kernels: what a backend provides. Raw pointers and sizes; kernels are
// single-threaded, allocate nothing and throw nothing. Included by files compiled for one
// instruction set, so nothing here may pull in the standard library's templates.
//
// Letters: N images, H and W height and width, C channels. Tensors are NHWC, weights HWIO
// ([kernel, kernel, c_in, c_out]), both contiguous and 64-byte aligned at their start only.
#pragma once

#include <cstdint>

namespace phasor::kernels {

using Index = std::int64_t;

/// A convolution with zero padding kernel/2: out_h = (in_h - 1) / stride + 1 for kernel 1 and 3.
struct ConvShape {
  Index n = 0, in_h = 0, in_w = 0, c_in = 0, c_out = 0;
  Index kernel = 3, stride = 1;
  Index pad() const { return kernel / 2; }
  Index out_h() const { return (in_h - 1) / stride + 1; }
  Index out_w() const { return (in_w - 1) / stride + 1; }
  Index in_size() const { return n * in_h * in_w * c_in; }
  Index out_size() const { return n * out_h() * out_w() * c_out; }
  Index weight_size() const { return kernel * kernel * c_in * c_out; }
};

/// Forward, or the gradient of the input, by one algorithm. Weights are `prepared` once per step
/// (packed, rotated, transformed); `run` may then be called from several threads at once.
///   forward:        from = x  [N,in_h,in_w,c_in],   to = y  [N,out_h,out_w,c_out]
///   backward data:  from = dy [N,out_h,out_w,c_out], to = dx [N,in_h,in_w,c_in]
template <class T>
struct ConvPass {
  const char* algorithm;
  bool (*supports)(const ConvShape&);
  Index (*prepared_size)(const ConvShape&);   ///< elements; does not depend on n
  void (*prepare)(const ConvShape&, const T* weights, T* prepared);
  Index (*workspace_size)(const ConvShape&);  ///< elements
  /// to = result, or to += result. `from` and `to` do not overlap.
  void (*run)(const ConvShape&, const T* from, const T* prepared, T* to, bool accumulate,
              T* workspace);
};

/// The gradient of the weights by one algorithm. A lane adds up its micro-batches in `sum`, which
/// starts at zero, and turns it into dw at its end.
template <class T>
struct ConvGradient {
  const char* algorithm;
  bool (*supports)(const ConvShape&);
  /// Elements of `sum`, without dependence on n; 0 where `sum` is dw itself (HWIO) and `finish`
  /// is null.
  Index (*sum_size)(const ConvShape&);
  Index (*workspace_size)(const ConvShape&);
  /// sum += the gradient over the micro-batch's images.
  void (*run)(const ConvShape&, const T* x, const T* dy, T* sum, T* workspace);
  /// dw = the gradient that `sum` stands for.
  void (*finish)(const ConvShape&, const T* sum, T* dw, T* workspace);
};

/// What a norm divides by. x_c are the channels of a row, z_p = (x_2p, x_2p+1) its phasors.
enum class Statistic : std::uint8_t {
  deviation,           ///< sqrt(mean (x - mean)^2 + eps), of the row less its mean
  root_mean_square,    ///< sqrt(mean x^2 + eps)
  mean_pair_modulus,   ///< mean_p sqrt(|z_p|^2 + eps)
  mean_absolute,       ///< mean |x| + eps
};

/// A norm over rows of `positions` x `channels` numbers with optional gain, bias, skip and ReLU:
///   out = relu(gain * (x - mean) / statistic + bias + skip)
struct NormRows {
  Statistic statistic = Statistic::root_mean_square;
  Index rows = 0, positions = 1, channels = 0;
  bool gain_per_pair = false;  ///< gain has channels/2 elements, one for each phasor
  bool relu = false;
  double eps = 0;
  Index row_size() const { return positions * channels; }
};

template <class T>
struct NormForward {
  const T* x;
  const T* gain;  ///< [channels] or [channels/2]; null: 1
  const T* bias;  ///< [channels]; null: 0
  const T* skip;  ///< like x; null: 0
  T* out;         ///< like x; may be x or skip itself
  T* saved;       ///< [rows, 2]: mean (0 where the statistic has none) and 1 / statistic
};

template <class T>
struct NormBackward {
  const T* x;
  const T* gain;
  const T* out;    ///< the forward result: where it is 0, ReLU passes no gradient (relu only)
  const T* saved;  ///< of the forward pass
  const T* dy;
  T* dx;           ///< written, or added to when `accumulate`; may be dy
  T* dskip;        ///< dy after the ReLU's mask, written; null: not wanted; may be dy (not dx)
  T* dgain;        ///< added to; null: not wanted
  T* dbias;        ///< added to; null: not wanted
  bool accumulate;
};

/// One SGD step by PyTorch's rule on a range of parameters.
struct SgdRule {
  double lr, momentum, dampening, weight_decay;
  double gradient_scale;  ///< what clipping multiplies the gradient by; 1 without
  bool nesterov;
  bool first_step;        ///< momentum starts as the gradient itself
};

/// Elementwise operations of two arguments; broadcasting is resolved by the caller into runs.
enum class Binary : std::uint8_t { add, subtract, multiply, divide };
enum class Unary : std::uint8_t { negate, square, sqrt, absolute, exponential, tanh, relu };

/// Everything a backend provides for one number type.
template <class T>
struct Table {
  const char* name;  ///< "reference", "baseline", "avx2" or "avx512"

  // Convolutions, the most preferred last; every list ends with null and starts with "direct",
  // which supports every shape.
  const ConvPass<T>* const* conv_forward;
  const ConvPass<T>* const* conv_backward_data;
  const ConvGradient<T>* const* conv_backward_weights;

  void (*norm_forward)(const NormRows&, const NormForward<T>&);
  void (*norm_backward)(const NormRows&, const NormBackward<T>&);

  /// out[i] = a[i * step_a] op b[i * step_b], steps 0 or 1.
  void (*binary)(Binary, Index n, const T* a, Index step_a, const T* b, Index step_b, T* out);
  void (*unary)(Unary, Index n, const T* x, T* out);
  /// y[i] += scale * x[i]
  void (*add_scaled)(Index n, T scale, const T* x, T* y);
  /// y[i] = scale * x[i]
  void (*copy_scaled)(Index n, T scale, const T* x, T* y);
  /// y[i] = sum of the n rows x[r * columns + i] in row order (y is overwritten).
  void (*sum_rows)(Index rows, Index columns, const T* x, T* y);
  /// y[r] = sum of the row x[r * columns ...], by the fixed 16-way tree (sum.h).
  void (*sum_columns)(Index rows, Index columns, const T* x, T* y);
  /// dx[i] (+)= out[i] > 0 ? dy[i] : 0
  void (*relu_backward)(Index n, const T* out, const T* dy, T* dx, bool accumulate);
  /// y [N,C] = mean over the `positions` of x [N,positions,C].
  void (*pool_forward)(Index n, Index positions, Index channels, const T* x, T* y);
  /// dx [N,positions,C] (+)= dy [N,C] / positions.
  void (*pool_backward)(Index n, Index positions, Index channels, const T* dy, T* dx,
                        bool accumulate);

  /// total[i] = lanes[0][i] + lanes[1][i] + ...; returns nothing, total may be lanes[0].
  void (*sum_lanes)(Index n, int lanes, const T* const* lane, T* total);
  /// Sum of squares in double by the fixed 16-way tree.
  double (*sum_of_squares)(Index n, const T* x);
  /// momentum may be null when the rule has none.
  void (*sgd)(Index n, const SgdRule&, const T* gradient, T* weights, T* momentum);
};

/// Instruction sets, in ascending order of preference.
enum class KernelSet : std::uint8_t { reference, baseline, avx2, avx512 };

const char* name_of(KernelSet);
/// Whether this processor (and operating system) can run the set.
bool available(KernelSet);
/// The best available set, or the one that the environment variable PHASOR_KERNELS names.
KernelSet default_set();

/// The kernels of a set for float; double always has the reference alone.
template <class T>
const Table<T>& table(KernelSet set);
template <>
const Table<float>& table<float>(KernelSet set);
template <>
const Table<double>& table<double>(KernelSet set);

/// Flush-to-zero and denormals-are-zero for the current thread while in scope: subnormal weights
/// would make convolutions tens of times slower (cases B29).
class FlushSubnormals {
 public:
  FlushSubnormals();
  ~FlushSubnormals();
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  unsigned saved_;
};

}  // namespace phasor::kernels
