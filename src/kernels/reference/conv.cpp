// Direct convolution by the definition. Each output number is one chain of multiply-adds, fused
// for float, in the order that DESIGN fixes for the direct kernels of every set:
//   forward         y[oh,ow,oc]     over (kh, kw, ic)
//   backward data   dx[ih,iw,ic]    over (oh, ow, oc), which is (kh, kw) descending
//   gradient        dw[kh,kw,ic,oc] over (image, oh, ow), restarted by rows_per_chain
// Taps outside the image are left out. Accumulation starts the chain at the number there.
#include <algorithm>
#include <cmath>

#include "kernels/chain.h"
#include "kernels/reference/reference.h"

namespace phasor::kernels::reference {
namespace {

float multiply_add(float a, float b, float c) { return std::fma(a, b, c); }
double multiply_add(double a, double b, double c) { return a * b + c; }

bool any(const ConvShape&) { return true; }
Index weights_in_all(const ConvShape& s) { return s.weight_size(); }
Index none(const ConvShape&) { return 0; }

template <class T>
void copy_weights(const ConvShape& s, const T* weights, T* prepared) {
  std::copy_n(weights, s.weight_size(), prepared);
}

template <class T>
void forward(const ConvShape& s, const T* x, const T* weights, T* y, bool accumulate, T*) {
  if (!accumulate) std::fill_n(y, s.out_size(), T(0));
  for (Index n = 0; n < s.n; ++n)
    for (Index oh = 0; oh < s.out_h(); ++oh)
      for (Index ow = 0; ow < s.out_w(); ++ow, y += s.c_out)
        for (Index kh = 0; kh < s.kernel; ++kh)
          for (Index kw = 0; kw < s.kernel; ++kw) {
            const Index ih = oh * s.stride + kh - s.pad(), iw = ow * s.stride + kw - s.pad();
            if (ih < 0 || ih >= s.in_h || iw < 0 || iw >= s.in_w) continue;
            const T* pixel = x + ((n * s.in_h + ih) * s.in_w + iw) * s.c_in;
            const T* w = weights + (kh * s.kernel + kw) * s.c_in * s.c_out;
            for (Index ic = 0; ic < s.c_in; ++ic, w += s.c_out)
              for (Index oc = 0; oc < s.c_out; ++oc) y[oc] = multiply_add(pixel[ic], w[oc], y[oc]);
          }
}

/// prepared [kernel, kernel, c_out, c_in]
template <class T>
void transpose_weights(const ConvShape& s, const T* weights, T* prepared) {
  const Index area = s.c_in * s.c_out;
  for (Index tap = 0; tap < s.kernel * s.kernel; ++tap)
    for (Index ic = 0; ic < s.c_in; ++ic)
      for (Index oc = 0; oc < s.c_out; ++oc)
        prepared[tap * area + oc * s.c_in + ic] = weights[tap * area + ic * s.c_out + oc];
}

template <class T>
void backward_data(const ConvShape& s, const T* dy, const T* transposed, T* dx, bool accumulate,
                   T*) {
  if (!accumulate) std::fill_n(dx, s.in_size(), T(0));
  for (Index n = 0; n < s.n; ++n)
    for (Index ih = 0; ih < s.in_h; ++ih)
      for (Index iw = 0; iw < s.in_w; ++iw, dx += s.c_in)
        for (Index kh = s.kernel - 1; kh >= 0; --kh)
          for (Index kw = s.kernel - 1; kw >= 0; --kw) {
            const Index down = ih + s.pad() - kh, right = iw + s.pad() - kw;
            if (down < 0 || right < 0 || down % s.stride != 0 || right % s.stride != 0) continue;
            const Index oh = down / s.stride, ow = right / s.stride;
            if (oh >= s.out_h() || ow >= s.out_w()) continue;
            const T* pixel = dy + ((n * s.out_h() + oh) * s.out_w() + ow) * s.c_out;
            const T* w = transposed + (kh * s.kernel + kw) * s.c_in * s.c_out;
            for (Index oc = 0; oc < s.c_out; ++oc, w += s.c_in)
              for (Index ic = 0; ic < s.c_in; ++ic) dx[ic] = multiply_add(pixel[oc], w[ic], dx[ic]);
          }
}

/// workspace [weight_size]: the chain's partial sum.
template <class T>
void gradient(const ConvShape& s, const T* x, const T* dy, T* sum, T* chain) {
  const Index rows = s.n * s.out_h(), step = rows_per_chain(s.out_w());
  for (Index start = 0; start < rows; start += step) {
    std::fill_n(chain, s.weight_size(), T(0));
    for (Index row = start; row < std::min(rows, start + step); ++row) {
      const Index n = row / s.out_h(), oh = row % s.out_h();
      for (Index ow = 0; ow < s.out_w(); ++ow) {
        const T* d = dy + (row * s.out_w() + ow) * s.c_out;
        for (Index kh = 0; kh < s.kernel; ++kh)
          for (Index kw = 0; kw < s.kernel; ++kw) {
            const Index ih = oh * s.stride + kh - s.pad(), iw = ow * s.stride + kw - s.pad();
            if (ih < 0 || ih >= s.in_h || iw < 0 || iw >= s.in_w) continue;
            const T* pixel = x + ((n * s.in_h + ih) * s.in_w + iw) * s.c_in;
            T* w = chain + (kh * s.kernel + kw) * s.c_in * s.c_out;
            for (Index ic = 0; ic < s.c_in; ++ic, w += s.c_out)
              for (Index oc = 0; oc < s.c_out; ++oc) w[oc] = multiply_add(pixel[ic], d[oc], w[oc]);
          }
      }
    }
    for (Index i = 0; i < s.weight_size(); ++i) sum[i] += chain[i];
  }
}

}  // namespace

template <class T>
const ConvPass<T> Kernels<T>::conv_forward = {"direct",        any,  weights_in_all,
                                              copy_weights<T>, none, forward<T>};
template <class T>
const ConvPass<T> Kernels<T>::conv_backward_data = {
    "direct", any, weights_in_all, transpose_weights<T>, none, backward_data<T>};
template <class T>
const ConvGradient<T> Kernels<T>::conv_gradient = {"direct",       any,         none,
                                                   weights_in_all, gradient<T>, nullptr};

template const ConvPass<float> Kernels<float>::conv_forward;
template const ConvPass<double> Kernels<double>::conv_forward;
template const ConvPass<float> Kernels<float>::conv_backward_data;
template const ConvPass<double> Kernels<double>::conv_backward_data;
template const ConvGradient<float> Kernels<float>::conv_gradient;
template const ConvGradient<double> Kernels<double>::conv_gradient;

}  // namespace phasor::kernels::reference
