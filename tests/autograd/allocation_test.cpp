// Counts what the ops take from the heap. This program's operator new is replaced here.
#include <atomic>
#include <cstdlib>
#include <new>

#include "autograd/support.h"

namespace {

std::atomic<long> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace phasor::tests {
namespace {

TEST_CASE("after the first rounds a pass through every op allocates nothing") {
  Tape tape(DType::float32);
  const Tensor input = check::random_tensor({4, 8, 8, 6}, 1).to(DType::float32);
  const Tensor weights = check::random_tensor({3, 3, 6, 6}, 2, 0.2).to(DType::float32);
  const Tensor head = check::random_tensor({12, 10}, 3).to(DType::float32);
  const Tensor bias = filled({10}, 0).to(DType::float32);
  const Tensor gain = filled({3, 1}, 1.5).to(DType::float32);
  std::vector<float> dw(weights.size()), dh(head.size()), db(bias.size()), dg(gain.size());
  const std::vector<std::int32_t> labels = {1, 2, 3, 4};
  const auto pass = [&] {
    tape.clear();
    const auto leaf = [&](const Tensor& value, std::vector<float>& gradient) {
      return tape.leaf(value.shape(), value.raw(), gradient.data());
    };
    const Var w = leaf(weights, dw);
    const Var x = tape.leaf(input.shape(), input.raw(), nullptr);
    const Var y = relu(conv2d(x, w, 1));
    const Var z = phasors(conv2d(y, w, 1) - y * 0.5);
    const Var m = sqrt(sum(square(z), {4}) + 1e-5);
    const Var n = channels(divide_or_zero(z, mean(m, {3, 4})) * leaf(gain, dg) / modulus(z, 1e-5));
    const Var t = tanh(n) + exp(-abs(n)) / root_mean_square(n, {3}, 1e-5);
    const Var pooled = global_average_pool(subsample_pad(t, 2, 12));
    const Var logits = linear(pooled, leaf(head, dh), leaf(bias, db));
    tape.backward(mean(softmax_cross_entropy(logits, labels)));
  };
  for (int round = 0; round < 3; ++round) pass();
  const long before = allocations;
  for (int round = 0; round < 3; ++round) pass();
  CHECK(allocations == before);
  CHECK(dw[0] != 0);
  CHECK(dg[0] != 0);
}

}  // namespace
}  // namespace phasor::tests
