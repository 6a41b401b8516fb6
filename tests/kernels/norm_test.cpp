// Norms of every set against the reference in double, and the values they must give.
#include <optional>
#include <string>

#include "support.h"

namespace phasor::kernels {
namespace {

using namespace test;

constexpr Statistic kStatistics[] = {Statistic::deviation, Statistic::root_mean_square,
                                     Statistic::mean_pair_modulus, Statistic::mean_absolute};

struct Case {
  NormRows shape;
  bool gain = true, bias = true, skip = true, accumulate = false;
};

template <class T>
struct Result {
  std::vector<T> out, saved, dx, dskip, dgain, dbias;
};

/// Forward and backward with everything that the case asks for; sums start at 1.
template <class T>
Result<T> run(const Table<T>& table, const Case& c, const std::vector<T>& x,
              const std::vector<T>& gain, const std::vector<T>& bias, const std::vector<T>& skip,
              const std::vector<T>& dy) {
  const NormRows& s = c.shape;
  const Index size = s.rows * s.row_size();
  const Index gains = s.gain_per_pair ? s.channels / 2 : s.channels;
  Result<T> r{std::vector<T>(size), std::vector<T>(2 * s.rows),  std::vector<T>(size, T(0.25)),
              std::vector<T>(size), std::vector<T>(gains, T(1)), std::vector<T>(s.channels, T(1))};
  table.norm_forward(s, {x.data(), c.gain ? gain.data() : nullptr, c.bias ? bias.data() : nullptr,
                         c.skip ? skip.data() : nullptr, r.out.data(), r.saved.data()});
  table.norm_backward(
      s, {x.data(), c.gain ? gain.data() : nullptr, r.out.data(), r.saved.data(), dy.data(),
          r.dx.data(), r.dskip.data(), r.dgain.data(), r.dbias.data(), c.accumulate});
  return r;
}

void check_case(const Case& c, double limit = 2e-6) {
  const NormRows& s = c.shape;
  const int statistic = static_cast<int>(s.statistic);
  CAPTURE(statistic);
  CAPTURE(s.rows);
  CAPTURE(s.positions);
  CAPTURE(s.channels);
  CAPTURE(s.relu);
  CAPTURE(s.gain_per_pair);
  const Index size = s.rows * s.row_size();
  const auto x = random_numbers(size, 1), dy = random_numbers(size, 2),
             skip = random_numbers(size, 3), bias = random_numbers(s.channels, 4);
  auto gain = random_numbers(s.channels, 5);
  const auto e = run<double>(table<double>(KernelSet::reference), c, widened(x), widened(gain),
                             widened(bias), widened(skip), widened(dy));
  std::optional<Result<float>> fma;
  for (KernelSet set : available_sets()) {
    CAPTURE(std::string(name_of(set)));
    const auto r = run<float>(table<float>(set), c, x, gain, bias, skip, dy);
    CHECK(error_by_norm(r.out, e.out) < limit);
    // A sign that rounding flips at the ReLU changes single gradients by their whole size.
    if (!s.relu || error_by_norm(r.dskip, e.dskip) == 0) {
      CHECK(error_by_norm(r.dx, e.dx) < limit);
      CHECK(error_by_norm(r.dskip, e.dskip) < limit);
      CHECK(error_by_norm(r.dgain, e.dgain) < 10 * limit);
      CHECK(error_by_norm(r.dbias, e.dbias) < limit);
    }
    if (set != KernelSet::avx2 && set != KernelSet::avx512) continue;
    if (fma) {
      CHECK(same_bits(r.out, fma->out));
      CHECK(same_bits(r.saved, fma->saved));
      CHECK(same_bits(r.dx, fma->dx));
      CHECK(same_bits(r.dskip, fma->dskip));
      CHECK(same_bits(r.dgain, fma->dgain));
      CHECK(same_bits(r.dbias, fma->dbias));
    }
    fma = r;
  }
}

TEST_CASE("norms: every statistic, both axes, tails, with and without each operand (B12, B14)") {
  for (Statistic statistic : kStatistics)
    for (Index channels : {2, 6, 14, 16, 18, 20, 32, 34, 40, 48, 64, 80, 128, 258})
      for (Index positions : {1, 9})
        for (Index rows : {1, 5, 16, 37}) {
          // The deviation of two numbers has no gradient but rounding.
          if (statistic == Statistic::deviation && channels * positions == 2) continue;
          Case c{{statistic, rows, positions, channels, false, false, 1e-5}};
          check_case(c);
          c.shape.gain_per_pair = true;
          c.shape.relu = true;
          check_case(c);
          c.bias = c.skip = false;
          c.accumulate = true;
          check_case(c);
          c.gain = false;
          c.shape.eps = 0;
          check_case(c);
        }
}

TEST_CASE("norms: odd channels and single elements where there are no phasors") {
  for (Statistic statistic :
       {Statistic::deviation, Statistic::root_mean_square, Statistic::mean_absolute})
    for (Index channels : {1, 3, 15, 17, 31, 33, 257}) {
      check_case({{statistic, 21, 1, channels, false, true, 1e-3}}, 1e-4);
      check_case({{statistic, 3, 7, channels, false, false, 1e-3}}, 1e-4);
    }
}

TEST_CASE("norms: the shapes of the ResNets, and channels beyond the fast path") {
  for (Statistic statistic : kStatistics) {
    for (Index channels : {16, 32, 64, 512})
      check_case({{statistic, 65536 / channels / 4, 1, channels, false, true, 1e-5}}, 5e-6);
    check_case({{statistic, 2, 1024, 16, false, true, 1e-5}}, 5e-6);
    check_case({{statistic, 3, 1, 2050, false, false, 1e-5}}, 5e-6);
  }
}

/// Forward of one row, gain 1 unless given.
std::vector<float> normed(KernelSet set, Statistic statistic, const std::vector<float>& x,
                          double eps, Index positions = 1) {
  const NormRows s{statistic, 1,     positions, static_cast<Index>(x.size()) / positions,
                   false,     false, eps};
  std::vector<float> out(x.size()), saved(2);
  table<float>(set).norm_forward(s,
                                 {x.data(), nullptr, nullptr, nullptr, out.data(), saved.data()});
  return out;
}

struct Gradients {
  std::vector<float> dx, dgain;
};
Gradients gradients(KernelSet set, Statistic statistic, const std::vector<float>& x,
                    const std::vector<float>& dy, double eps, bool per_pair = false) {
  const auto channels = static_cast<Index>(x.size());
  const NormRows s{statistic, 1, 1, channels, per_pair, false, eps};
  std::vector<float> out(x.size()), saved(2), dx(x.size());
  std::vector<float> dgain(per_pair ? x.size() / 2 : x.size());
  table<float>(set).norm_forward(s,
                                 {x.data(), nullptr, nullptr, nullptr, out.data(), saved.data()});
  table<float>(set).norm_backward(s, {x.data(), nullptr, out.data(), saved.data(), dy.data(),
                                      dx.data(), nullptr, dgain.data(), nullptr, false});
  return {dx, dgain};
}

void check_values(const std::vector<float>& got, const std::vector<double>& expected,
                  double tolerance = 2e-6) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(got[i] - expected[i]) <= tolerance);
  }
}

TEST_CASE("MRSNorm: the check values of the definition") {
  for (KernelSet set : available_sets()) {
    CAPTURE(std::string(name_of(set)));
    check_values(normed(set, Statistic::mean_pair_modulus, {3, 4, 6, 8}, 0),
                 {.4, .533333333, .8, 1.066666667});
    const Gradients g =
        gradients(set, Statistic::mean_pair_modulus, {3, 4, 6, 8}, {1, 0, 0, 0}, 0, true);
    check_values(g.dx, {.117333333, -.021333333, -.016, -.021333333});
    check_values(g.dgain, {.4, 0});
  }
}

TEST_CASE("B01: huge and tiny rows give what ordinary ones give") {
  for (KernelSet set : available_sets())
    for (float scale : {1e25f, 1e15f, 8e36f, 1e-18f, 1e-25f, 1e-35f}) {
      CAPTURE(std::string(name_of(set)));
      CAPTURE(scale);
      const std::vector<float> x = {3 * scale, 4 * scale, 6 * scale, 8 * scale};
      check_values(normed(set, Statistic::root_mean_square, x, 0),
                   {.536656315, .715541753, 1.073312629, 1.431083506});
      check_values(normed(set, Statistic::mean_pair_modulus, x, 0),
                   {.4, .533333333, .8, 1.066666667});
      check_values(normed(set, Statistic::deviation, x, 0),
                   {-1.171700181, -.650944545, .390566727, 1.432077999});
      check_values(normed(set, Statistic::mean_absolute, x, 0),
                   {.571428571, .761904762, 1.142857143, 1.523809524});
      const Gradients g = gradients(set, Statistic::mean_pair_modulus, x, {1, 0, 0, 0}, 0, true);
      check_values(g.dgain, {.4, 0});
      if (scale < 1e30f)
        check_values({g.dx[0] * scale, g.dx[1] * scale, g.dx[2] * scale, g.dx[3] * scale},
                     {.117333333, -.021333333, -.016, -.021333333});
    }
}

TEST_CASE("B03: a large mean does not swamp the deviation") {
  for (KernelSet set : available_sets()) {
    std::vector<float> x(64);
    const float pattern[] = {.1249f, .4133f, -1.6235f, 1.0852f};
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2000 + pattern[i % 4];
    double mean = 0, square = 0;
    for (float v : normed(set, Statistic::deviation, x, 1e-5)) {
      mean += v / 64;
      square += v * v / 64;
    }
    CHECK(std::abs(mean) < 1e-3);
    CHECK(square == doctest::Approx(1).epsilon(1e-2));
  }
}

TEST_CASE("B04: no negative variance") {
  for (KernelSet set : available_sets()) {
    check_values(normed(set, Statistic::deviation, {40000, 40001, 40002, 40003}, 1e-5),
                 {-1.341635, -.447212, .447212, 1.341635}, 1e-3);
    const std::vector<float> same(256, 1234.0f), ones(256, 1.0f);
    for (float v : normed(set, Statistic::deviation, same, 1e-5)) CHECK(v == 0);
    for (float v : gradients(set, Statistic::deviation, same, ones, 1e-5).dx)
      CHECK(std::isfinite(v));
  }
}

TEST_CASE("B05: the zero row and the zero phasor") {
  for (KernelSet set : available_sets()) {
    const std::vector<float> none(16, 0.0f), ones(16, 1.0f);
    for (Statistic statistic : kStatistics) {
      for (float v : normed(set, statistic, none, 1e-5)) CHECK(v == 0);
      for (float v : normed(set, statistic, none, 0)) CHECK(v == 0);
      for (float v : gradients(set, statistic, none, ones, 0).dx) CHECK(v == 0);
    }
    for (Statistic statistic : {Statistic::root_mean_square, Statistic::mean_pair_modulus})
      for (float v : gradients(set, statistic, none, ones, 1e-5).dx)
        CHECK(v == doctest::Approx(316.2278).epsilon(1e-5));
    check_values(normed(set, Statistic::mean_pair_modulus, {3, 4, 0, 0}, 0), {1.2, 1.6, 0, 0});
    for (float v : gradients(set, Statistic::mean_pair_modulus, {3, 4, 0, 0}, {1, 2, 3, 4}, 0).dx)
      CHECK(std::isfinite(v));
    // A phasor whose square is lost keeps its direction: dz = g/S - v (A/S)/(P S).
    const Gradients g =
        gradients(set, Statistic::mean_pair_modulus, {3, 4, 6e-30f, 8e-30f}, {1, 0, 0, 0}, 0);
    check_values({g.dx[2], g.dx[3]}, {-.6 * 3 / 2.5 / 5, -.8 * 3 / 2.5 / 5});
  }
}

TEST_CASE("B08: eps stands inside the root") {
  for (KernelSet set : available_sets())
    check_values(normed(set, Statistic::root_mean_square, std::vector<float>(4, 1e-3f), 1e-5),
                 std::vector<double>(4, .301511345));
}

TEST_CASE("B09: the bits do not depend on where the rows lie") {
  const NormRows s{Statistic::mean_pair_modulus, 40, 1, 20, false, false, 1e-5};
  const auto x = random_numbers(40 * 20, 1);
  for (KernelSet set : available_sets()) {
    std::vector<float> out(x.size()), saved(80);
    table<float>(set).norm_forward(s,
                                   {x.data(), nullptr, nullptr, nullptr, out.data(), saved.data()});
    for (Index r = 0; r < s.rows; ++r) {
      Guarded copy(std::vector<float>(x.begin() + r * 20, x.begin() + (r + 1) * 20)), to(20);
      float one_saved[2];
      NormRows one = s;
      one.rows = 1;
      table<float>(set).norm_forward(
          one, {copy.data(), nullptr, nullptr, nullptr, to.data(), one_saved});
      CHECK(to.intact());
      CHECK(same_bits(to.values(),
                      std::vector<float>(out.begin() + r * 20, out.begin() + (r + 1) * 20)));
      CHECK(one_saved[1] == saved[2 * r + 1]);
    }
  }
}

TEST_CASE("norms: results may overwrite their operands") {
  for (KernelSet set : available_sets())
    for (Statistic statistic : kStatistics) {
      const Case c{{statistic, 37, 1, 48, false, true, 1e-5}};
      const NormRows& s = c.shape;
      const Index size = s.rows * s.row_size();
      const auto x = random_numbers(size, 1), dy = random_numbers(size, 2),
                 skip = random_numbers(size, 3), bias = random_numbers(48, 4),
                 gain = random_numbers(48, 5);
      const auto e = run<float>(table<float>(set), c, x, gain, bias, skip, dy);
      auto over_x = x, over_skip = skip, over_dy = dy;
      std::vector<float> saved(2 * s.rows), dskip(size), dx(size);
      const auto& kernels = table<float>(set);
      kernels.norm_forward(
          s, {over_x.data(), gain.data(), bias.data(), skip.data(), over_x.data(), saved.data()});
      CHECK(same_bits(over_x, e.out));
      kernels.norm_forward(s, {x.data(), gain.data(), bias.data(), over_skip.data(),
                               over_skip.data(), saved.data()});
      CHECK(same_bits(over_skip, e.out));
      kernels.norm_backward(s, {x.data(), gain.data(), e.out.data(), saved.data(), over_dy.data(),
                                over_dy.data(), dskip.data(), nullptr, nullptr, false});
      CHECK(same_bits(over_dy, e.dx));
      CHECK(same_bits(dskip, e.dskip));
      over_dy = dy;
      kernels.norm_backward(s, {x.data(), gain.data(), e.out.data(), saved.data(), over_dy.data(),
                                dx.data(), over_dy.data(), nullptr, nullptr, false});
      CHECK(same_bits(dx, e.dx));
      CHECK(same_bits(over_dy, e.dskip));
    }
}

TEST_CASE("B15: parameter gradients over 50,000 rows") {
  for (Statistic statistic : kStatistics) {
    const Case c{{statistic, 50000, 1, 16, false, false, 1e-5}};
    const Index size = 50000 * 16;
    auto x = random_numbers(size, 1), dy = random_numbers(size, 2);
    for (float& v : dy) v += 0.5f;
    const auto gain = random_numbers(16, 5), bias = random_numbers(16, 4);
    const auto e = run<double>(table<double>(KernelSet::reference), c, widened(x), widened(gain),
                               widened(bias), widened(x), widened(dy));
    for (KernelSet set : available_sets()) {
      const auto r = run<float>(table<float>(set), c, x, gain, bias, x, dy);
      CHECK(error_by_norm(r.dgain, e.dgain) < 1e-4);
      CHECK(error_by_norm(r.dbias, e.dbias) < 1e-5);
    }
  }
}

TEST_CASE("B16: losses that a norm holds constant have no gradient; Euler's identity elsewhere") {
  for (KernelSet set : available_sets()) {
    const auto x = random_numbers(32, 1), dy = random_numbers(32, 2);
    const auto out = normed(set, Statistic::mean_pair_modulus, x, 0);
    std::vector<float> unit(32), twice(32);
    for (std::size_t i = 0; i < 32; ++i)
      unit[i] = out[i] / std::hypot(out[i & ~std::size_t(1)], out[i | 1]);
    for (float v : gradients(set, Statistic::mean_pair_modulus, x, unit, 0).dx)
      CHECK(std::abs(v) < 1e-6);
    const auto rms = normed(set, Statistic::root_mean_square, x, 0);
    for (std::size_t i = 0; i < 32; ++i) twice[i] = 2 * rms[i];
    for (float v : gradients(set, Statistic::root_mean_square, x, twice, 0).dx)
      CHECK(std::abs(v) < 2e-6);

    for (double eps : {0.0, 1e-3}) {
      const auto dx = gradients(set, Statistic::mean_pair_modulus, x, dy, eps).dx;
      double left = 0, a = 0, modulus_sum = 0, inverse_sum = 0;
      for (std::size_t i = 0; i < 32; ++i) {
        left += double(x[i]) * dx[i];
        a += double(x[i]) * dy[i];
      }
      for (std::size_t p = 0; p < 32; p += 2) {
        const double m = std::sqrt(double(x[p]) * x[p] + double(x[p + 1]) * x[p + 1] + eps);
        modulus_sum += m;
        inverse_sum += 1 / m;
      }
      const double S = modulus_sum / 16;
      CHECK(left == doctest::Approx((a / S) * eps * inverse_sum / (16 * S)).epsilon(1e-4));
    }
  }
}

TEST_CASE("B19: channel rows and sample rows") {
  for (KernelSet set : available_sets()) {
    const std::vector<float> x = {1, 3, 2, 4};  // NHWC of x(1,2,1,2) = [[1,2],[3,4]]
    const NormRows channel{Statistic::deviation, 2, 1, 2, false, false, 0};
    std::vector<float> out(4), saved(4);
    table<float>(set).norm_forward(channel,
                                   {x.data(), nullptr, nullptr, nullptr, out.data(), saved.data()});
    check_values(out, {-1, 1, -1, 1});
    check_values(normed(set, Statistic::deviation, x, 0, 2),
                 {-1.341641, .447214, -.447214, 1.341641});
  }
}

TEST_CASE("norms: a non-finite number makes its row NaN and no other") {
  for (KernelSet set : available_sets())
    for (Statistic statistic : kStatistics)
      for (float bad : {INFINITY, -INFINITY, NAN}) {
        const NormRows s{statistic, 20, 1, 16, false, true, 1e-5};
        auto x = random_numbers(320, 1);
        x[5 * 16 + 3] = bad;
        std::vector<float> out(320), saved(40);
        table<float>(set).norm_forward(
            s, {x.data(), nullptr, nullptr, nullptr, out.data(), saved.data()});
        for (Index i = 0; i < 320; ++i) CHECK(std::isnan(out[i]) == (i / 16 == 5));
      }
}

}  // namespace
}  // namespace phasor::kernels
