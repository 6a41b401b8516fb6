// Direct convolution of every set against the reference in double.
#include <Eigen/Core>
#include <chrono>
#include <optional>
#include <string>

#include "kernels/conv_plan.h"
#include "phasor/error.h"
#include "support.h"

namespace phasor::kernels {
namespace {

using namespace test;

struct Results {
  std::vector<float> y, dx, dw;
};

/// All three passes by the direct kernels, into buffers that hold `start` and are added to.
Results run_direct(const Table<float>& table, const ConvShape& s, const std::vector<float>& x,
                   const std::vector<float>& w, const std::vector<float>& dy, bool accumulate) {
  const std::vector<float> x_before = x, w_before = w, dy_before = dy;
  Results r;
  const auto pass = [&](const ConvPass<float>& kernel, const std::vector<float>& from, Index size) {
    CHECK(kernel.supports(s));
    Guarded prepared(kernel.prepared_size(s)), work(kernel.workspace_size(s), NAN);
    Guarded to(size, accumulate ? 0.5f : NAN);
    kernel.prepare(s, w.data(), prepared.data());
    kernel.run(s, from.data(), prepared.data(), to.data(), accumulate, work.data());
    CHECK(prepared.intact());
    CHECK(work.intact());
    CHECK(to.intact());
    return to.values();
  };
  r.y = pass(*table.conv_forward[0], x, s.out_size());
  r.dx = pass(*table.conv_backward_data[0], dy, s.in_size());
  const ConvGradient<float>& gradient = *table.conv_backward_weights[0];
  CHECK(gradient.sum_size(s) == 0);
  CHECK((gradient.finish == nullptr));
  Guarded dw(s.weight_size(), accumulate ? 0.5f : 0.0f), work(gradient.workspace_size(s), NAN);
  gradient.run(s, x.data(), dy.data(), dw.data(), work.data());
  CHECK(dw.intact());
  CHECK(work.intact());
  r.dw = dw.values();
  CHECK(same_bits(x, x_before));
  CHECK(same_bits(w, w_before));
  CHECK(same_bits(dy, dy_before));
  return r;
}

struct Expected {
  std::vector<double> y, dx, dw;
};

Expected run_double(const ConvShape& s, const std::vector<double>& x, const std::vector<double>& w,
                    const std::vector<double>& dy, double start) {
  const Table<double>& table = kernels::table<double>(KernelSet::reference);
  Expected e{std::vector<double>(s.out_size(), start), std::vector<double>(s.in_size(), start),
             std::vector<double>(s.weight_size(), start)};
  std::vector<double> prepared(s.weight_size());
  table.conv_forward[0]->prepare(s, w.data(), prepared.data());
  table.conv_forward[0]->run(s, x.data(), prepared.data(), e.y.data(), true, nullptr);
  table.conv_backward_data[0]->prepare(s, w.data(), prepared.data());
  table.conv_backward_data[0]->run(s, dy.data(), prepared.data(), e.dx.data(), true, nullptr);
  std::vector<double> work(s.weight_size());
  table.conv_backward_weights[0]->run(s, x.data(), dy.data(), e.dw.data(), work.data());
  return e;
}

/// Every set: errors within the limit, sentinels intact, AVX2 and AVX-512 equal.
void check_shape(const ConvShape& s, bool with_reference_set) {
  CAPTURE(s.n);
  CAPTURE(s.in_h);
  CAPTURE(s.in_w);
  CAPTURE(s.c_in);
  CAPTURE(s.c_out);
  CAPTURE(s.kernel);
  CAPTURE(s.stride);
  const auto x = random_numbers(s.in_size(), 1), w = random_numbers(s.weight_size(), 2),
             dy = random_numbers(s.out_size(), 3);
  const double limit = std::max(s.c_in, s.c_out) <= 128 ? 1e-6 : 2e-6;
  for (bool accumulate : {false, true}) {
    const double start = accumulate ? 0.5 : 0;
    const Expected e = run_double(s, widened(x), widened(w), widened(dy), start);
    std::optional<Results> fma;
    for (KernelSet set : available_sets()) {
      if (set == KernelSet::reference && !with_reference_set) continue;
      CAPTURE(std::string(name_of(set)));
      const Results r = run_direct(table<float>(set), s, x, w, dy, accumulate);
      CHECK(error_by_norm(r.y, e.y) < limit);
      CHECK(error_by_norm(r.dx, e.dx) < limit);
      CHECK(error_by_norm(r.dw, e.dw) < limit);
      if (set == KernelSet::baseline) continue;
      if (fma) {
        CHECK(same_bits(r.y, fma->y));
        CHECK(same_bits(r.dx, fma->dx));
        CHECK(same_bits(r.dw, fma->dw));
      }
      fma = r;
    }
  }
}

TEST_CASE("direct convolution: the shapes of the ResNets") {
  // n, h, w, c_in, c_out, kernel, stride
  for (const ConvShape& s : {
           ConvShape{2, 32, 32, 3, 16, 3, 1},    ConvShape{2, 32, 32, 16, 16, 3, 1},
           ConvShape{1, 32, 32, 16, 32, 3, 2},   ConvShape{1, 32, 32, 16, 32, 1, 2},
           ConvShape{5, 16, 16, 32, 32, 3, 1},   ConvShape{2, 16, 16, 32, 64, 3, 2},
           ConvShape{2, 16, 16, 32, 64, 1, 2},   ConvShape{3, 8, 8, 64, 64, 3, 1},
           ConvShape{1, 1, 8, 64, 100, 1, 1},    ConvShape{1, 1, 1, 64, 100, 1, 1},
           ConvShape{1, 32, 32, 3, 64, 3, 1},    ConvShape{1, 32, 32, 64, 64, 3, 1},
           ConvShape{1, 32, 32, 64, 128, 3, 2},  ConvShape{1, 32, 32, 64, 128, 1, 2},
           ConvShape{2, 16, 16, 128, 128, 3, 1}, ConvShape{1, 16, 16, 128, 256, 3, 2},
           ConvShape{2, 8, 8, 256, 256, 3, 1},   ConvShape{2, 8, 8, 256, 512, 3, 2},
           ConvShape{2, 8, 8, 256, 512, 1, 2},   ConvShape{2, 4, 4, 512, 512, 3, 1},
           ConvShape{1, 1, 8, 512, 100, 1, 1},
       })
    check_shape(s, false);
}

TEST_CASE("direct convolution: odd channels") {
  for (Index c_in : {1, 3, 5, 17, 20, 33, 40, 80})
    for (Index c_out : {1, 5, 16, 17, 20, 33, 40, 80})
      for (Index stride : {1, 2}) {
        check_shape({2, 5, 7, c_in, c_out, 3, stride}, true);
        check_shape({2, 5, 4, c_in, c_out, 1, stride}, true);
      }
}

TEST_CASE("direct convolution: every small side") {
  for (Index h : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13})
    for (Index w : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13})
      for (Index stride : {1, 2}) {
        check_shape({2, h, w, 3, 20, 3, stride}, true);
        check_shape({2, h, w, 5, 17, 1, stride}, true);
      }
}

TEST_CASE("direct convolution: a weight gradient over 64 images at 32x32") {
  const ConvShape s{64, 32, 32, 16, 16, 3, 1};
  const auto x = random_numbers(s.in_size(), 1), dy = random_numbers(s.out_size(), 3);
  const auto x2 = widened(x), dy2 = widened(dy);
  std::vector<double> expected(s.weight_size()), work(s.weight_size());
  table<double>(KernelSet::reference)
      .conv_backward_weights[0]
      ->run(s, x2.data(), dy2.data(), expected.data(), work.data());
  for (KernelSet set : available_sets()) {
    if (set == KernelSet::reference) continue;
    const ConvGradient<float>& kernel = *table<float>(set).conv_backward_weights[0];
    std::vector<float> dw(s.weight_size()), workspace(kernel.workspace_size(s));
    kernel.run(s, x.data(), dy.data(), dw.data(), workspace.data());
    CHECK(error_by_norm(dw, expected) < 1e-6);
  }
}

TEST_CASE("direct convolution: forward and backward data do not depend on images per call") {
  for (const ConvShape& s : {ConvShape{8, 8, 8, 64, 64, 3, 1}, ConvShape{4, 4, 4, 256, 256, 3, 1},
                             ConvShape{4, 9, 5, 20, 40, 3, 2}}) {
    const auto x = random_numbers(s.in_size(), 1), w = random_numbers(s.weight_size(), 2),
               dy = random_numbers(s.out_size(), 3);
    ConvShape one = s;
    one.n = 1;
    for (KernelSet set : available_sets()) {
      if (set == KernelSet::reference) continue;
      const Results all = run_direct(table<float>(set), s, x, w, dy, false);
      for (Index n = 0; n < s.n; ++n) {
        const auto cut = [&](const std::vector<float>& v, Index size) {
          return std::vector<float>(v.begin() + n * size, v.begin() + (n + 1) * size);
        };
        const Results single = run_direct(table<float>(set), one, cut(x, one.in_size()), w,
                                          cut(dy, one.out_size()), false);
        CHECK(same_bits(single.y, cut(all.y, one.out_size())));
        CHECK(same_bits(single.dx, cut(all.dx, one.in_size())));
      }
    }
  }
}

TEST_CASE("direct convolution: the reference equals im2col and Eigen's product") {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const ConvShape s{2, 7, 6, 5, 9, 3, 2};
  const auto x = widened(random_numbers(s.in_size(), 1)),
             w = widened(random_numbers(s.weight_size(), 2)),
             dy = widened(random_numbers(s.out_size(), 3));
  const Expected e = run_double(s, x, w, dy, 0);
  Matrix columns = Matrix::Zero(s.n * s.out_h() * s.out_w(), 9 * s.c_in);
  for (Index n = 0; n < s.n; ++n)
    for (Index oh = 0; oh < s.out_h(); ++oh)
      for (Index ow = 0; ow < s.out_w(); ++ow)
        for (Index k = 0; k < 9; ++k) {
          const Index ih = oh * s.stride + k / 3 - 1, iw = ow * s.stride + k % 3 - 1;
          if (ih < 0 || ih >= s.in_h || iw < 0 || iw >= s.in_w) continue;
          for (Index c = 0; c < s.c_in; ++c)
            columns((n * s.out_h() + oh) * s.out_w() + ow, k * s.c_in + c) =
                x[((n * s.in_h + ih) * s.in_w + iw) * s.c_in + c];
        }
  const Eigen::Map<const Matrix> weights(w.data(), 9 * s.c_in, s.c_out);
  const Eigen::Map<const Matrix> gradient(dy.data(), columns.rows(), s.c_out);
  const Matrix y = columns * weights, dw = columns.transpose() * gradient;
  for (Index i = 0; i < y.size(); ++i) CHECK(e.y[i] == doctest::Approx(y.data()[i]).epsilon(1e-12));
  for (Index i = 0; i < dw.size(); ++i)
    CHECK(e.dw[i] == doctest::Approx(dw.data()[i]).epsilon(1e-12));
  double left = 0, right = 0;  // <y, dy> = <x, dx>: backward data is the adjoint of forward
  for (std::size_t i = 0; i < dy.size(); ++i) left += e.y[i] * dy[i];
  for (std::size_t i = 0; i < x.size(); ++i) right += e.dx[i] * x[i];
  CHECK(left == doctest::Approx(right).epsilon(1e-12));
}

TEST_CASE("direct convolution: large, zero and non-finite input") {
  const ConvShape s{1, 8, 8, 16, 16, 3, 1};
  const auto w = random_numbers(s.weight_size(), 2);
  for (KernelSet set : available_sets()) {
    CAPTURE(std::string(name_of(set)));
    const std::vector<float> none(s.in_size(), 0.0f);
    for (float v : run_direct(table<float>(set), s, none, w, none, false).y) CHECK(v == 0);
    const auto large = random_numbers(s.in_size(), 1, 1e15f);
    for (float v : run_direct(table<float>(set), s, large, w, large, false).y)
      CHECK(std::isfinite(v));
    auto x = random_numbers(s.in_size(), 1);
    x[(3 * 8 + 4) * 16 + 5] = INFINITY;
    const auto y = run_direct(table<float>(set), s, x, w, large, false).y;
    for (Index h = 0; h < 8; ++h)
      for (Index c = 0; c < 8; ++c) {
        const bool reached = std::abs(h - 3) <= 1 && std::abs(c - 4) <= 1;
        for (Index oc = 0; oc < 16; ++oc)
          CHECK(std::isfinite(y[(h * 8 + c) * 16 + oc]) == !reached);
      }
  }
}

TEST_CASE("B29: subnormal weights cost no time with FlushSubnormals") {
  const ConvShape s{1, 32, 32, 16, 16, 3, 1};
  const Table<float>& table = kernels::table<float>(default_set());
  const ConvPass<float>& kernel = *table.conv_forward[0];
  const auto x = random_numbers(s.in_size(), 1), w = random_numbers(s.weight_size(), 2);
  const std::vector<float> tiny(s.weight_size(), 1e-42f);
  std::vector<float> y(s.out_size()), work(kernel.workspace_size(s));
  const FlushSubnormals flush;
  const auto best_time = [&](const std::vector<float>& weights) {
    std::vector<float> prepared(kernel.prepared_size(s));
    kernel.prepare(s, weights.data(), prepared.data());
    double best = 1e9;
    for (int i = 0; i < 40; ++i) {
      const auto start = std::chrono::steady_clock::now();
      kernel.run(s, x.data(), prepared.data(), y.data(), false, work.data());
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      best = std::min(best, taken.count());
    }
    return best;
  };
  const double normal = best_time(w), subnormal = best_time(tiny);
  MESSAGE("subnormal over normal weights: " << subnormal / normal);
  CHECK(subnormal / normal < 2);
}

TEST_CASE("plan_conv: direct and automatic always give a plan, by shape alone") {
  for (KernelSet set : available_sets()) {
    const Table<float>& table = kernels::table<float>(set);
    for (const ConvShape& s : {ConvShape{1, 32, 32, 3, 16, 3, 1}, ConvShape{1, 8, 8, 64, 64, 3, 1},
                               ConvShape{4, 16, 16, 32, 64, 1, 2}}) {
      const auto direct = plan_conv(table, s, ConvChoice::direct);
      CHECK(std::string(direct.forward->algorithm) == "direct");
      CHECK(std::string(direct.backward_data->algorithm) == "direct");
      CHECK(std::string(direct.backward_weights->algorithm) == "direct");
      const auto automatic = plan_conv(table, s, ConvChoice::automatic);
      CHECK(automatic.forward->supports(s));
      CHECK(automatic.backward_data->supports(s));
      CHECK(automatic.backward_weights->supports(s));
      if (s.c_in < 16 || s.stride == 2)
        CHECK(std::string(automatic.forward->algorithm) == "direct");
    }
  }
  CHECK_THROWS_AS(plan_conv(table<double>(KernelSet::reference), ConvShape{}, ConvChoice::winograd),
                  Error);
}

}  // namespace
}  // namespace phasor::kernels
