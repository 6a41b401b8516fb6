// Winograd convolution of every set against the reference in double.
#include <algorithm>
#include <string_view>

#include "kernels/kernels.h"
#include "support.h"

namespace phasor::kernels {
namespace {

using namespace test;

ConvShape square(Index n, Index side, Index c_in, Index c_out) {
  return {.n = n, .in_h = side, .in_w = side, .c_in = c_in, .c_out = c_out};
}

std::vector<KernelSet> winograd_sets() {
  std::vector<KernelSet> sets = available_sets();
  std::erase(sets, KernelSet::reference);
  return sets;
}

template <class Kernel>
const Kernel& named(const Kernel* const* list, std::string_view algorithm) {
  while (*list != nullptr && algorithm != (*list)->algorithm) ++list;
  REQUIRE((*list != nullptr));
  return **list;
}

/// A pass into a guarded buffer that holds `start`; every other buffer starts as NaN.
std::vector<float> run_pass(const ConvPass<float>& pass, const ConvShape& s,
                            const std::vector<float>& weights, const std::vector<float>& from,
                            Index to_size, bool accumulate = false, float start = NAN) {
  REQUIRE(pass.supports(s));
  const std::vector<float> from_before = from;
  Guarded prepared(pass.prepared_size(s), NAN), work(pass.workspace_size(s), NAN);
  Guarded to(to_size, start);
  pass.prepare(s, weights.data(), prepared.data());
  pass.run(s, from.data(), prepared.data(), to.data(), accumulate, work.data());
  CHECK(prepared.intact());
  CHECK(work.intact());
  CHECK(to.intact());
  CHECK(same_bits(from, from_before));
  return to.values();
}

std::vector<float> forward(KernelSet set, const char* algorithm, const ConvShape& s,
                           const std::vector<float>& w, const std::vector<float>& x) {
  return run_pass(named(table<float>(set).conv_forward, algorithm), s, w, x, s.out_size());
}

std::vector<float> backward_data(KernelSet set, const char* algorithm, const ConvShape& s,
                                 const std::vector<float>& w, const std::vector<float>& dy) {
  return run_pass(named(table<float>(set).conv_backward_data, algorithm), s, w, dy, s.in_size());
}

/// The gradient over the images of x, `micro_batch` at a time, as a lane adds them up.
std::vector<float> gradient(KernelSet set, ConvShape s, const std::vector<float>& x,
                            const std::vector<float>& dy, Index micro_batch) {
  const ConvGradient<float>& g = named(table<float>(set).conv_backward_weights, "winograd4");
  const Index images = s.n, x_step = s.in_size() / images, dy_step = s.out_size() / images;
  s.n = micro_batch;
  REQUIRE(g.supports(s));
  const Index sum_size = g.sum_size(s) == 0 ? s.weight_size() : g.sum_size(s);
  Guarded sum(sum_size), work(g.workspace_size(s), NAN);
  for (Index first = 0; first < images; first += micro_batch) {
    s.n = std::min(micro_batch, images - first);
    g.run(s, x.data() + first * x_step, dy.data() + first * dy_step, sum.data(), work.data());
  }
  CHECK(sum.intact());
  CHECK(work.intact());
  if (g.finish == nullptr) return sum.values();
  Guarded dw(s.weight_size(), NAN);
  g.finish(s, sum.data(), dw.data(), work.data());
  CHECK(dw.intact());
  return dw.values();
}

struct Expected {
  std::vector<double> y, dx, dw;
};

Expected expected(const ConvShape& s, const std::vector<float>& w, const std::vector<float>& x,
                  const std::vector<float>& dy) {
  const Table<double>& t = table<double>(KernelSet::reference);
  const std::vector<double> wide_w = widened(w), wide_x = widened(x), wide_dy = widened(dy);
  Expected e{std::vector<double>(s.out_size()), std::vector<double>(s.in_size()),
             std::vector<double>(s.weight_size())};
  const auto pass = [&](const ConvPass<double>& p, const std::vector<double>& from,
                        std::vector<double>& to) {
    std::vector<double> prepared(p.prepared_size(s)), work(p.workspace_size(s));
    p.prepare(s, wide_w.data(), prepared.data());
    p.run(s, from.data(), prepared.data(), to.data(), false, work.data());
  };
  pass(*t.conv_forward[0], wide_x, e.y);
  pass(*t.conv_backward_data[0], wide_dy, e.dx);
  const ConvGradient<double>& g = *t.conv_backward_weights[0];
  std::vector<double> work(g.workspace_size(s));
  g.run(s, wide_x.data(), wide_dy.data(), e.dw.data(), work.data());
  return e;
}

/// Half the limits that Winograd must keep (3e-6 up to 128 channels, 6e-6 above).
double limit(Index channels) { return channels <= 128 ? 1.5e-6 : 3e-6; }

struct Results {
  std::vector<std::vector<float>> values;
};

/// Every algorithm and pass of a set against double; the results, for comparing sets.
Results check_shape(KernelSet set, const ConvShape& s, const std::vector<float>& w,
                    const std::vector<float>& x, const std::vector<float>& dy, const Expected& e) {
  CAPTURE(name_of(set));
  Results r;
  for (const char* algorithm : {"winograd4", "winograd2"}) {
    CAPTURE(algorithm);
    const std::vector<float> y = forward(set, algorithm, s, w, x);
    const std::vector<float> dx = backward_data(set, algorithm, s, w, dy);
    CHECK(error_by_norm(y, e.y) < limit(s.c_in));
    CHECK(error_by_norm(dx, e.dx) < limit(s.c_out));
    r.values.push_back(y);
    r.values.push_back(dx);
  }
  const std::vector<float> dw = gradient(set, s, x, dy, s.n);
  CHECK(error_by_norm(dw, e.dw) < limit(std::max(s.c_in, s.c_out)));
  r.values.push_back(dw);
  return r;
}

void check_sets(const ConvShape& s) {
  CAPTURE(s.n);
  CAPTURE(s.in_h);
  CAPTURE(s.in_w);
  CAPTURE(s.c_in);
  CAPTURE(s.c_out);
  const std::vector<float> w = random_numbers(s.weight_size(), 1, 0.1f);
  const std::vector<float> x = random_numbers(s.in_size(), 2), dy = random_numbers(s.out_size(), 3);
  const Expected e = expected(s, w, x, dy);
  std::vector<Results> fma;
  for (KernelSet set : winograd_sets()) {
    Results r = check_shape(set, s, w, x, dy, e);
    if (set != KernelSet::baseline) fma.push_back(r);
  }
  for (std::size_t i = 1; i < fma.size(); ++i)
    for (std::size_t k = 0; k < fma[0].values.size(); ++k)
      CHECK(same_bits(fma[0].values[k], fma[i].values[k]));
}

TEST_CASE("Winograd: the shapes of resnet20 and resnet18, all sets, same bits for both FMA sets") {
  for (const ConvShape& s :
       {square(1, 32, 16, 16), square(2, 16, 32, 32), square(8, 8, 64, 64), square(1, 32, 64, 64),
        square(1, 16, 128, 128), square(2, 8, 256, 256), square(3, 4, 512, 512)})
    check_sets(s);
}

TEST_CASE("Winograd: channel counts that 16 does not divide") {
  const Index counts[] = {16, 17, 20, 33, 40, 64, 80};
  for (Index c_in : counts)
    for (Index c_out : counts)
      check_sets({.n = 2, .in_h = 6, .in_w = 7, .c_in = c_in, .c_out = c_out});
}

TEST_CASE("Winograd: every height and width up to 13") {
  for (Index h = 1; h <= 13; ++h)
    for (Index w = 1; w <= 13; ++w)
      check_sets({.n = 1 + (h + w) % 3, .in_h = h, .in_w = w, .c_in = 17, .c_out = 20});
}

TEST_CASE("Winograd supports 3x3 of stride 1 with 16 channels or more, nothing else") {
  for (KernelSet set : winograd_sets()) {
    const Table<float>& t = table<float>(set);
    for (const char* algorithm : {"winograd4", "winograd2"}) {
      const auto supports = named(t.conv_forward, algorithm).supports;
      CHECK(supports(square(1, 8, 16, 16)));
      CHECK_FALSE(supports(square(1, 8, 15, 16)));
      CHECK_FALSE(supports(square(1, 8, 16, 3)));
      CHECK_FALSE(supports({.n = 1, .in_h = 8, .in_w = 8, .c_in = 16, .c_out = 16, .stride = 2}));
      CHECK_FALSE(supports({.n = 1, .in_h = 8, .in_w = 8, .c_in = 16, .c_out = 16, .kernel = 1}));
    }
  }
}

TEST_CASE("Winograd: accumulate adds the result once") {
  const ConvShape s{.n = 2, .in_h = 6, .in_w = 9, .c_in = 20, .c_out = 33};
  const std::vector<float> w = random_numbers(s.weight_size(), 1, 0.1f);
  const std::vector<float> x = random_numbers(s.in_size(), 2);
  for (KernelSet set : winograd_sets()) {
    for (const char* algorithm : {"winograd4", "winograd2"}) {
      const ConvPass<float>& pass = named(table<float>(set).conv_forward, algorithm);
      std::vector<float> sum = run_pass(pass, s, w, x, s.out_size());
      for (float& y : sum) y = 0.75f + y;
      CHECK(same_bits(sum, run_pass(pass, s, w, x, s.out_size(), true, 0.75f)));
    }
  }
}

TEST_CASE("Winograd: an image's result does not depend on how many share its call") {
  for (const ConvShape& s :
       {square(8, 8, 64, 64), square(8, 5, 17, 40), square(8, 4, 20, 16), square(3, 32, 16, 16)}) {
    const std::vector<float> w = random_numbers(s.weight_size(), 1, 0.1f);
    const std::vector<float> x = random_numbers(s.in_size(), 2);
    const std::vector<float> dy = random_numbers(s.out_size(), 3);
    ConvShape one = s;
    one.n = 1;
    for (KernelSet set : winograd_sets()) {
      for (const char* algorithm : {"winograd4", "winograd2"}) {
        const std::vector<float> y = forward(set, algorithm, s, w, x);
        const std::vector<float> dx = backward_data(set, algorithm, s, w, dy);
        for (Index i = 0; i < s.n; ++i) {
          const auto image = [i](const std::vector<float>& all, Index size) {
            return std::vector<float>(all.begin() + i * size, all.begin() + (i + 1) * size);
          };
          CHECK(same_bits(image(y, one.out_size()),
                          forward(set, algorithm, one, w, image(x, one.in_size()))));
          CHECK(same_bits(image(dx, one.in_size()),
                          backward_data(set, algorithm, one, w, image(dy, one.out_size()))));
        }
      }
    }
  }
}

TEST_CASE("Winograd: weight gradients over a lane of 64 images") {
  for (const ConvShape& s : {square(64, 32, 16, 16), square(64, 16, 32, 32), square(64, 8, 64, 64),
                             square(64, 4, 128, 128)}) {
    const std::vector<float> w(s.weight_size());
    const std::vector<float> x = random_numbers(s.in_size(), 2);
    const std::vector<float> dy = random_numbers(s.out_size(), 3);
    const Expected e = expected(s, w, x, dy);
    for (Index micro_batch : {1, 5, 16, 64}) {
      std::vector<std::vector<float>> fma;
      for (KernelSet set : winograd_sets()) {
        const std::vector<float> dw = gradient(set, s, x, dy, micro_batch);
        CAPTURE(name_of(set));
        CHECK(error_by_norm(dw, e.dw) < 1.5e-6);
        if (set != KernelSet::baseline) fma.push_back(dw);
      }
      for (const std::vector<float>& dw : fma) CHECK(same_bits(dw, fma[0]));
    }
  }
}

TEST_CASE("Winograd: huge numbers keep their precision, zeros stay zeros") {
  const ConvShape s = square(2, 7, 20, 17);
  const std::vector<float> w = random_numbers(s.weight_size(), 1, 0.1f);
  const std::vector<float> x = random_numbers(s.in_size(), 2, 1e15f);
  const std::vector<float> dy = random_numbers(s.out_size(), 3, 1e15f);
  const Expected e = expected(s, w, x, dy);
  const std::vector<float> no_x(s.in_size()), no_dy(s.out_size());
  const auto all_zero = [](const std::vector<float>& a) {
    return std::all_of(a.begin(), a.end(), [](float v) { return v == 0; });
  };
  for (KernelSet set : winograd_sets()) {
    check_shape(set, s, w, x, dy, e);
    for (const char* algorithm : {"winograd4", "winograd2"}) {
      CHECK(all_zero(forward(set, algorithm, s, w, no_x)));
      CHECK(all_zero(backward_data(set, algorithm, s, w, no_dy)));
    }
    CHECK(all_zero(gradient(set, s, no_x, dy, 2)));
    CHECK(all_zero(gradient(set, s, x, no_dy, 2)));
  }
}

TEST_CASE("Winograd: one non-finite number reaches its tiles and nothing else") {
  const ConvShape s = square(1, 16, 16, 20);
  const std::vector<float> w = random_numbers(s.weight_size(), 1, 0.1f);
  std::vector<float> x = random_numbers(s.in_size(), 2);
  const std::vector<float> dy = random_numbers(s.out_size(), 3);
  // Row 5, column 8 is read by the tiles of rows 4 to 7 alone and of columns 4 to 11.
  constexpr Index kRow = 5, kColumn = 8, kChannel = 3;
  for (KernelSet set : winograd_sets()) {
    const std::vector<float> clean = forward(set, "winograd4", s, w, x);
    const std::vector<float> clean_dw = gradient(set, s, x, dy, 1);
    for (float bad : {NAN, INFINITY}) {
      std::vector<float> spoilt = x;
      spoilt[(kRow * 16 + kColumn) * 16 + kChannel] = bad;
      const std::vector<float> y = forward(set, "winograd4", s, w, spoilt);
      Index finite_near = 0, changed_far = 0;
      for (Index row = 0; row < 16; ++row)
        for (Index column = 0; column < 16; ++column) {
          const bool in_tiles = row / 4 == 1 && (column / 4 == 1 || column / 4 == 2);
          const bool reads = std::abs(row - kRow) <= 1 && std::abs(column - kColumn) <= 1;
          for (Index c = 0; c < 20; ++c) {
            const Index at = (row * 16 + column) * 20 + c;
            if (reads) finite_near += std::isfinite(y[at]);
            if (!in_tiles) changed_far += std::memcmp(&y[at], &clean[at], sizeof(float)) != 0;
          }
        }
      CHECK(finite_near == 0);
      CHECK(changed_far == 0);
      const std::vector<float> dw = gradient(set, s, spoilt, dy, 1);
      Index finite = 0, changed = 0;
      for (Index tap = 0; tap < 9; ++tap)
        for (Index i = 0; i < 16; ++i)
          for (Index o = 0; o < 20; ++o) {
            const Index at = (tap * 16 + i) * 20 + o;
            if (i == kChannel)
              finite += std::isfinite(dw[at]);
            else
              changed += std::memcmp(&dw[at], &clean_dw[at], sizeof(float)) != 0;
          }
      CHECK(finite == 0);
      CHECK(changed == 0);
    }
  }
}

}  // namespace
}  // namespace phasor::kernels
