#include "autograd/conv.h"
#include "autograd/support.h"

namespace phasor::tests {
namespace {

using Vars = std::span<const Var>;

/// The convolution by its definition.
std::vector<double> plain_convolution(const Tensor& x, const Tensor& w, Index stride) {
  const Shape in = x.shape();
  const Index k = w.shape()[0], c_out = w.shape()[3], pad = k / 2;
  const Index out_h = (in[1] - 1) / stride + 1, out_w = (in[2] - 1) / stride + 1;
  std::vector<double> y;
  for (Index n = 0; n < in[0]; ++n)
    for (Index i = 0; i < out_h; ++i)
      for (Index j = 0; j < out_w; ++j)
        for (Index oc = 0; oc < c_out; ++oc) {
          double total = 0;
          for (Index kh = 0; kh < k; ++kh)
            for (Index kw = 0; kw < k; ++kw) {
              const Index h = i * stride + kh - pad, v = j * stride + kw - pad;
              if (h < 0 || h >= in[1] || v < 0 || v >= in[2]) continue;
              for (Index ic = 0; ic < in[3]; ++ic)
                total += x.at(((n * in[1] + h) * in[2] + v) * in[3] + ic) *
                         w.at(((kh * k + kw) * in[3] + ic) * c_out + oc);
            }
          y.push_back(total);
        }
  return y;
}

TEST_CASE("conv2d: values, gradients of both arguments, float32 on every kernel set") {
  for (const Index k : {1, 3})
    for (const int stride : {1, 2})
      for (const Shape& in : {Shape{2, 5, 4, 3}, Shape{1, 1, 1, 2}, Shape{1, 3, 2, 17}}) {
        const Shape weights{k, k, in[3], in[3] == 17 ? 16 : 4};
        const auto function = [stride](Tape&, Vars v) { return conv2d(v[0], v[1], stride); };
        const std::vector<Tensor> arguments = {check::random_tensor(in, 1),
                                               check::random_tensor(weights, 2)};
        INFO(in.str(), " with ", weights.str(), " stride ", stride);
        CHECK(check::relative_error(values_of(function, arguments),
                                    plain_convolution(arguments[0], arguments[1], stride)) < 1e-13);
        if (in[3] < 17) check_gradients(function, arguments);
        check_float32(function, arguments);
      }
}

TEST_CASE("conv2d: arguments with several consumers get the sum of the gradients") {
  const std::vector<Tensor> arguments = {check::random_tensor({1, 4, 4, 3}, 1),
                                         check::random_tensor({3, 3, 3, 3}, 2)};
  check_gradients(
      [](Tape&, Vars v) { return conv2d(conv2d(v[0], v[1], 1), v[1], 1) + square(v[0]); },
      arguments);
}

TEST_CASE("conv2d with prepared weights: the same values; the lane's sum collects the gradient") {
  for (const kernels::KernelSet set : check::available_sets())
    for (const auto choice : {kernels::ConvChoice::direct, kernels::ConvChoice::automatic}) {
      const auto& table = kernels::table<float>(set);
      const kernels::ConvShape shape{0, 8, 8, 16, 16, 3, 1};
      const kernels::ConvShape with_images{2, 8, 8, 16, 16, 3, 1};
      PreparedConv<float> prepared;
      prepared.shape = shape;
      prepared.plan = kernels::plan_conv(table, shape, choice);
      const Tensor weights = check::random_tensor({3, 3, 16, 16}, 2, 0.1).to(DType::float32);
      const Tensor input = check::random_tensor({2, 8, 8, 16}, 1).to(DType::float32);
      std::vector<float> forward(prepared.plan.forward->prepared_size(shape));
      std::vector<float> backward(prepared.plan.backward_data->prepared_size(shape));
      prepared.plan.forward->prepare(shape, weights.data<float>(), forward.data());
      prepared.plan.backward_data->prepare(shape, weights.data<float>(), backward.data());
      prepared.forward = forward.data();
      prepared.backward_data = backward.data();
      const Index sum_size = prepared.plan.backward_weights->sum_size(shape);
      std::vector<float> sums(sum_size), dw(static_cast<std::size_t>(shape.weight_size()));
      if (sum_size > 0) prepared.gradient_sum = sums.data();

      const auto run = [&](Tape& tape, const Var& w) {
        const Var x = tape.leaf(input);
        const Var y = conv2d(x, w, 1);
        tape.backward(sum(square(y)));
        return std::pair{y.value().values(), x.grad().values()};
      };
      Tape plain(DType::float32, true, set), lane(DType::float32, true, set);
      const Var own = plain.leaf(weights);
      const auto expected = run(plain, own);
      const Var carried = lane.leaf(weights.shape(), weights.data<float>(), dw.data(), &prepared);
      const auto got = run(lane, carried);
      if (sum_size > 0) {
        std::vector<float> workspace(prepared.plan.backward_weights->workspace_size(with_images));
        prepared.plan.backward_weights->finish(with_images, sums.data(), dw.data(),
                                               workspace.data());
      }
      INFO(kernels::name_of(set), ", ", prepared.plan.forward->algorithm);
      CHECK(check::relative_error(got.first, expected.first) < 3e-6);
      CHECK(check::relative_error(got.second, expected.second) < 5e-6);
      const std::vector<double> own_gradient = own.grad().values();
      CHECK(check::relative_error(std::vector<double>(dw.begin(), dw.end()), own_gradient) < 5e-6);
    }
}

TEST_CASE("conv2d explains wrong arguments") {
  Tape tape(DType::float64);
  const Var x = tape.leaf(filled({1, 4, 4, 3}, 1));
  const auto weights = [&](const Shape& shape) { return tape.leaf(filled(shape, 1)); };
  CHECK(message_of([&] {
          conv2d(x, weights({3, 3, 4, 8}), 1);
        }) ==
        "[conv2d] x and weights must agree on C_in; got x [1,4,4,3] and weights [3,3,4,8]; "
        "weights are [k,k,C_in,C_out]");
  CHECK(message_of([&] {
          conv2d(x, weights({5, 5, 3, 8}), 1);
        }) == "[conv2d] needs weights [k,k,C_in,C_out] with k = 1 or 3; got [5,5,3,8]");
  CHECK(message_of([&] {
          conv2d(x, weights({3, 3, 3, 8}), 3);
        }) == "[conv2d] stride is 1 or 2; got 3");
}

TEST_CASE("linear: values, gradients of the three arguments, float32 on every kernel set") {
  const auto function = [](Tape&, Vars v) { return linear(v[0], v[1], v[2]); };
  CHECK(values_of(function, {tensor({1, 2}, {1, 2}), tensor({2, 3}, {1, 2, 3, 4, 5, 6}),
                             tensor({3}, {10, 20, 30})}) == std::vector<double>{19, 32, 45});
  for (const Index n : {1, 2, 5})
    for (const Index c : {1, 15, 16, 17})
      for (const Index k : {1, 10, 33}) {
        const std::vector<Tensor> arguments = {check::random_tensor({n, c}, 1),
                                               check::random_tensor({c, k}, 2),
                                               check::random_tensor({k}, 3)};
        INFO(n, " x ", c, " x ", k);
        check_gradients(function, arguments);
        check_float32(function, arguments);
      }
}

TEST_CASE("global average pool: values and gradients") {
  const auto function = [](Tape&, Vars v) { return global_average_pool(v[0]); };
  CHECK(values_of(function, {tensor({1, 2, 2, 2}, {1, 10, 2, 20, 3, 30, 6, 60})}) ==
        std::vector<double>{3, 30});
  for (const Index c : {1, 15, 16, 17, 33}) {
    const std::vector<Tensor> x = {check::random_tensor({2, 3, 2, c}, 1)};
    check_gradients(function, x);
    check_gradients(
        [](Tape&, Vars v) {
          return global_average_pool(v[0]) + sum(square(v[0]), {1, 2}, false);
        },
        x);
    check_float32(function, x);
  }
}

TEST_CASE("subsample_pad: every second pixel, zero channels appended") {
  const auto function = [](Tape&, Vars v) { return subsample_pad(v[0], 2, 3); };
  CHECK(values_of(function, {tensor({1, 3, 2, 2}, {1, 2, 0, 0, 0, 0, 0, 0, 3, 4, 0, 0})}) ==
        std::vector<double>{1, 2, 0, 3, 4, 0});
  for (const int stride : {1, 2})
    for (const Index channels : {5, 9}) {
      const auto shortcut = [&](Tape&, Vars v) { return subsample_pad(v[0], stride, channels); };
      check_gradients(shortcut, {check::random_tensor({2, 3, 4, 5}, 1)});
      check_float32(shortcut, {check::random_tensor({2, 3, 4, 5}, 1)});
    }
  check_gradients([](Tape&, Vars v) { return subsample_pad(v[0], 1, 5) + square(v[0]); },
                  {check::random_tensor({1, 2, 2, 5}, 1)});
}

TEST_CASE("reshape, phasors and channels reinterpret without a copy") {
  Tape tape(DType::float64);
  const Var x = tape.leaf(check::random_tensor({2, 6}, 1));
  const Var z = phasors(x);
  CHECK(z.shape() == Shape{2, 3, 2});
  CHECK(z.node().data == x.node().data);
  CHECK(channels(z).shape() == x.shape());
  check_gradients([](Tape&, Vars v) { return square(phasors(v[0])); },
                  {check::random_tensor({2, 6}, 1)});
  check_gradients(
      [](Tape&, Vars v) {
        const Var flat = reshape(v[0], {12});
        return flat * flat + reshape(channels(square(phasors(v[0]))), {12});
      },
      {check::random_tensor({2, 6}, 1)});
  CHECK(message_of([&] {
          phasors(tape.leaf(filled({2, 5}, 1)));
        }) == "[phasors] needs an even number of channels in the last of 1 to 5 axes; got [2,5]");
  CHECK(message_of([&] { reshape(x, {5}); }) ==
        "[reshape] the number of elements must not change; got [2,6] to [5]");
}

}  // namespace
}  // namespace phasor::tests
