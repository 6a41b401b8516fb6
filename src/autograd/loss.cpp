// Softmax cross-entropy, computed in double for either number type.
#include <algorithm>
#include <limits>

#include "autograd/broadcast.h"
#include "core/elementary.h"
#include "phasor/ops.h"

namespace phasor {
namespace {

struct Softmax {
  const std::int32_t* labels;
  const double* maximum;  // [N], of each row's logits
  const double* total;    // [N], sum of exp(logit - maximum)
};

// With p = softmax(logits) and the label t: d(logit k) = dy p_k for k != t, and for k = t
// dy (p_t - 1), written as minus the sum of the others: exact where p_t is close to 1.
void softmax_cross_entropy_backward(Tape& tape, const Node& node) {
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto& [labels, maximum, total] = *static_cast<const Softmax*>(node.saved);
    const Shape shape = tape.node(node.inputs[0]).shape;
    const GradTarget<T> target = tape.grad_target<T>(node, 0, shape);
    if (!target) return;
    const T* dy = autograd::gradient<T>(node);
    for (Index n = 0; n < shape[0]; ++n) {
      const T* logits = tape.data<T>(node.inputs[0]) + n * shape[1];
      T* dx = target.data + n * shape[1];
      const double share = static_cast<double>(dy[n]) / total[n];
      double others = 0;
      for (Index k = 0; k < shape[1]; ++k) {
        if (k == labels[n]) continue;
        const T d =
            static_cast<T>(share * portable_exp(static_cast<double>(logits[k]) - maximum[n]));
        others += static_cast<double>(d);
        dx[k] = target.accumulate ? dx[k] + d : d;
      }
      const T d = static_cast<T>(-others);
      dx[labels[n]] = target.accumulate ? dx[labels[n]] + d : d;
    }
  });
}
constexpr Op kSoftmaxCrossEntropy{"softmax_cross_entropy", softmax_cross_entropy_backward};

}  // namespace

Var softmax_cross_entropy(const Var& logits, std::span<const std::int32_t> labels) {
  PHASOR_CHECK(logits.defined() && logits.shape().rank() == 2 && logits.shape()[1] > 0,
               "[softmax_cross_entropy] needs logits [N,K]; got ",
               logits.defined() ? logits.shape().str() : "nothing");
  const Index count = logits.shape()[0], classes = logits.shape()[1];
  PHASOR_CHECK(static_cast<Index>(labels.size()) == count,
               "[softmax_cross_entropy] needs one label for each of ", count, " samples; got ",
               labels.size());
  for (Index n = 0; n < count; ++n)
    PHASOR_CHECK(labels[n] >= 0 && labels[n] < classes,
                 "[softmax_cross_entropy] labels lie in [0, ", classes, "); got ", labels[n],
                 " for sample ", n);

  Tape& tape = logits.tape();
  auto* maximum = tape.arena().allocate_array<double>(static_cast<std::size_t>(count));
  auto* total = tape.arena().allocate_array<double>(static_cast<std::size_t>(count));
  const Var out = tape.append(kSoftmaxCrossEntropy, {count}, {logits},
                              tape.save(Softmax{labels.data(), maximum, total}));
  dispatch(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (Index n = 0; n < count; ++n) {
      const T* row = tape.data<T>(logits) + n * classes;
      maximum[n] = static_cast<double>(*std::max_element(row, row + classes));
      total[n] = 0;
      for (Index k = 0; k < classes; ++k)
        total[n] += portable_exp(static_cast<double>(row[k]) - maximum[n]);
      const double below = maximum[n] - static_cast<double>(row[labels[n]]);
      tape.data<T>(out)[n] = static_cast<T>(below + portable_log(total[n]));
    }
  });
  return tape.finish(out);
}

}  // namespace phasor
