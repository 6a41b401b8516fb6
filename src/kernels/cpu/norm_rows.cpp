// Norms of rows, forward: statistic, scale, gain, bias, skip and ReLU in one pass.
//
//   for each block of sixteen rows (one row where a row has several positions)
//     sums of the rows by the fixed trees of norm_sums.h      sixteen statistics in one vector
//     1 / statistic by one exact divide                       saved
//     for each vector of channels, row: out = relu(fma(gain, (x - mean) * inverse, bias) + skip)
//
// A block (1 to 32 KiB) stays in L1 between the two loops; gain and bias of a vector of channels
// stay in registers for the block. A row whose 1 / statistic leaves a safe range is redone by the
// reference, in double: finite input never gives a silent zero, infinity or NaN, and a row with a
// non-finite number is NaN throughout.
#include "kernels/cpu/families.h"
#include "kernels/cpu/norm_sums.h"
#include "kernels/reference/reference.h"

namespace phasor::kernels::PHASOR_ISA {
namespace {

/// Mean and 1 / statistic of up to sixteen rows that begin at x, one in each lane. Rows past
/// `count` repeat the last one.
struct Measures {
  Vec mean, inverse;
};

template <Statistic kind>
PHASOR_INLINE Measures measure(const NormRows& s, const float* x, Index count) {
  const Index size = s.row_size();
  const auto row = [&](Index i) __attribute__((always_inline)) {
    return x + (i < count ? i : count - 1) * size;
  };
  const auto sums = [&](auto term) __attribute__((always_inline)) {
    const auto lane_sums = [&](Index i) __attribute__((always_inline)) {
      const float* at = row(i);
      return over_row(
          s, [&](Vec acc, Index offset, Index, Index lanes) __attribute__((always_inline)) {
            return term(acc, load_lanes(at + offset, lanes), i, lanes);
          });
    };
    return count == 1 ? sum_lanes_of(lane_sums(0)) : sums_of_rows(lane_sums);
  };
  const Vec n = splat(static_cast<float>(size)), eps = splat(static_cast<float>(s.eps));
  const Vec one = splat(1.0f);

  if constexpr (kind == Statistic::root_mean_square) {
    const Vec total = sums([](Vec acc, Vec v, Index, Index)
                               __attribute__((always_inline)) { return fma(v, v, acc); });
    return {zero(), one / sqrt(total / n + eps)};
  } else if constexpr (kind == Statistic::mean_absolute) {
    const Vec total = sums([](Vec acc, Vec v, Index, Index)
                               __attribute__((always_inline)) { return acc + abs(v); });
    return {zero(), one / (total / n + eps)};
  } else if constexpr (kind == Statistic::deviation) {
    const Vec mean =
        sums([](Vec acc, Vec v, Index, Index) __attribute__((always_inline)) { return acc + v; }) /
        n;
    alignas(64) float means[kBlock];
    store(means, mean);
    const Vec total =
        sums([&](Vec acc, Vec v, Index i, Index lanes) __attribute__((always_inline)) {
          Vec m = splat(means[i]);
          if (lanes != kLanes) m = m * ones(lanes);
          const Vec d = v - m;
          return fma(d, d, acc);
        });
    return {mean, one / sqrt(total / n + eps)};
  } else {
    const auto lane_sums = [&](Index i) __attribute__((always_inline)) {
      const float *a = row(2 * i), *b = row(2 * i + 1);
      return over_row(
          s, [&](Vec acc, Index offset, Index, Index lanes) __attribute__((always_inline)) {
            const Vec m = moduli(load_lanes(a + offset, lanes), load_lanes(b + offset, lanes), eps);
            return acc + (lanes == kLanes ? m : m * ones(lanes));
          });
    };
    const Vec pairs = splat(static_cast<float>(size / 2));
    const Vec total = count == 1
                          ? twice_even(add_across<2>(add_across<4>(add_across<8>(lane_sums(0)))))
                          : sums_of_row_pairs(lane_sums);
    return {zero(), one / (total / pairs)};
  }
}

/// `rows` stretches of `channels` numbers that follow each other, each with its own mean and
/// inverse (step 1) or all with the first (step 0).
struct Stretch {
  Index rows, offset;
  const float *mean, *inverse;
  Index step;
};

template <bool centred, bool skip, bool relu>
void apply(const NormRows& s, const NormForward<float>& a, const Stretch& t) {
  for (Index c = 0; c < s.channels; c += kLanes) {
    const Index left = s.channels - c, lanes = left < kLanes ? left : kLanes;
    const Vec gain = a.gain == nullptr ? splat(1.0f)
                     : s.gain_per_pair ? load_pairs(a.gain + c / 2, lanes / 2)
                                       : load(a.gain + c, lanes);
    const Vec bias = a.bias == nullptr ? zero() : load(a.bias + c, lanes);
    const auto run = [&](auto load_at, auto store_at) __attribute__((always_inline)) {
      Index i = t.offset + c;
      for (Index r = 0; r < t.rows; ++r, i += s.channels) {
        Vec v = load_at(a.x + i);
        if constexpr (centred) v = v - splat(t.mean[r * t.step]);
        v = fma(gain, v * splat(t.inverse[r * t.step]), bias);
        if constexpr (skip) v = v + load_at(a.skip + i);
        if constexpr (relu) v = max(zero(), v);  // this order keeps NaN
        store_at(a.out + i, v);
      }
    };
    if (lanes == kLanes)
      run(
          [](const float* p) __attribute__((always_inline)) { return load(p); },
          [](float* p, Vec v) __attribute__((always_inline)) { store(p, v); });
    else
      run(
          [=](const float* p) __attribute__((always_inline)) { return load(p, lanes); }, [=
      ](float* p, Vec v) __attribute__((always_inline)) { store(p, v, lanes); });
  }
}

using Apply = void (*)(const NormRows&, const NormForward<float>&, const Stretch&);

Apply apply_for(const NormRows& s, const NormForward<float>& a) {
  static const Apply of[2][2][2] = {{{apply<false, false, false>, apply<false, false, true>},
                                     {apply<false, true, false>, apply<false, true, true>}},
                                    {{apply<true, false, false>, apply<true, false, true>},
                                     {apply<true, true, false>, apply<true, true, true>}}};
  return of[s.statistic == Statistic::deviation][a.skip != nullptr][s.relu];
}

/// One row by the reference.
void redo(const NormRows& s, const NormForward<float>& a, Index row) {
  NormRows one = s;
  one.rows = 1;
  const Index at = row * s.row_size();
  reference::norm_forward<float>(
      one, {a.x + at, a.gain, a.bias, a.skip == nullptr ? nullptr : a.skip + at, a.out + at,
            a.saved + 2 * row});
}

template <Statistic kind>
void forward(const NormRows& s, const NormForward<float>& a) {
  const Apply apply_rows = apply_for(s, a);
  const Index size = s.row_size(), block = s.positions == 1 ? kBlock : 1;
  for (Index first = 0; first < s.rows; first += block) {
    const Index count = s.rows - first < block ? s.rows - first : block;
    const Measures m = measure<kind>(s, a.x + first * size, count);
    alignas(64) float mean[kBlock], inverse[kBlock];
    store(mean, m.mean);
    store(inverse, m.inverse);
    if (count == kBlock)
      store_pairs(a.saved + 2 * first, m.mean, m.inverse);
    else
      for (Index r = 0; r < count; ++r) {
        a.saved[2 * (first + r)] = mean[r];
        a.saved[2 * (first + r) + 1] = inverse[r];
      }
    const Index step = s.positions == 1 ? 1 : 0;
    if (all_within(m.inverse, kLeastInverse, kMostInverse)) {
      apply_rows(s, a, {step == 1 ? count : s.positions, first * size, mean, inverse, step});
      continue;
    }
    for (Index r = 0; r < count; ++r) {
      const bool safe = inverse[r] >= kLeastInverse && inverse[r] <= kMostInverse;
      if (safe)
        apply_rows(s, a, {s.positions, (first + r) * size, mean + r, inverse + r, 0});
      else
        redo(s, a, first + r);
    }
  }
}

}  // namespace

void norm_forward(const NormRows& s, const NormForward<float>& a) {
  switch (s.statistic) {
    case Statistic::deviation:
      forward<Statistic::deviation>(s, a);
      break;
    case Statistic::root_mean_square:
      forward<Statistic::root_mean_square>(s, a);
      break;
    case Statistic::mean_pair_modulus:
      forward<Statistic::mean_pair_modulus>(s, a);
      break;
    case Statistic::mean_absolute:
      forward<Statistic::mean_absolute>(s, a);
      break;
  }
}

}  // namespace phasor::kernels::PHASOR_ISA
