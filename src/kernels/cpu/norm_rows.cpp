// Norms of rows, forward: statistic, scale, gain, bias, skip and ReLU in one pass.
//
//   for each block of 64 rows (16 wide ones, one row where a row has several positions)
//     sums of the rows by the fixed trees of norm_sums.h      sixteen statistics to a vector
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

/// Row sums of term(acc, numbers, row, lanes).
template <int width, class Term>
PHASOR_INLINE Vec sums_of(const NormRows& s, const float* x, Index count, Term term) {
  const Index size = s.row_size();
  const auto lane_sums = [&](Index i) __attribute__((always_inline)) {
    const float* row = x + (i < count ? i : count - 1) * size;
    Vec acc = zero();
    over_row<width>(
        s, [&](Index offset, Index, Index lanes) __attribute__((always_inline)) {
          acc = term(acc, load_lanes(row + offset, lanes), i, lanes);
        });
    return acc;
  };
  if (width == 0 && count == 1) return sum_lanes_of(lane_sums(0));
  Vec v[kLanes];
  for (Index i = 0; i < kLanes; ++i) v[i] = lane_sums(i);
  return sums_of_rows(v);
}

/// Row sums of the moduli of the phasors.
template <int width>
PHASOR_INLINE Vec modulus_sums(const NormRows& s, const float* x, Index count, Vec eps) {
  const Index size = s.row_size();
  const auto lane_sums = [&](Index i) __attribute__((always_inline)) {
    const float* a = x + (2 * i < count ? 2 * i : count - 1) * size;
    const float* b = x + (2 * i + 1 < count ? 2 * i + 1 : count - 1) * size;
    Vec acc = zero();
    over_row<width>(
        s, [&](Index offset, Index, Index lanes) __attribute__((always_inline)) {
          const Vec m = moduli(load_lanes(a + offset, lanes), load_lanes(b + offset, lanes), eps);
          acc = acc + (lanes == kLanes ? m : m * ones(lanes));
        });
    return acc;
  };
  if (width == 0 && count == 1)
    return twice_even(add_across<2>(add_across<4>(add_across<8>(lane_sums(0)))));
  Vec v[kLanes / 2];
  for (Index i = 0; i < kLanes / 2; ++i) v[i] = lane_sums(i);
  return sums_of_row_pairs(v);
}

template <Statistic kind, int width>
PHASOR_INLINE Measures measure(const NormRows& s, const float* x, Index count) {
  const Vec n = splat(static_cast<float>(s.row_size())), eps = splat(static_cast<float>(s.eps));
  const Vec one = splat(1.0f);
  if constexpr (kind == Statistic::root_mean_square) {
    const Vec total = sums_of<width>(
        s, x, count,
        [](Vec acc, Vec v, Index, Index) __attribute__((always_inline)) { return fma(v, v, acc); });
    return {zero(), one / sqrt(total / n + eps)};
  } else if constexpr (kind == Statistic::mean_absolute) {
    const Vec total = sums_of<width>(
        s, x, count,
        [](Vec acc, Vec v, Index, Index) __attribute__((always_inline)) { return acc + abs(v); });
    return {zero(), one / (total / n + eps)};
  } else if constexpr (kind == Statistic::deviation) {
    const Vec total = sums_of<width>(
        s, x, count,
        [](Vec acc, Vec v, Index, Index) __attribute__((always_inline)) { return acc + v; });
    const Vec mean = total / n;
    alignas(64) float means[kLanes];
    store(means, mean);
    const Vec squares = sums_of<width>(
        s, x, count, [&](Vec acc, Vec v, Index i, Index lanes) __attribute__((always_inline)) {
          Vec m = splat(means[i]);
          if (lanes != kLanes) m = m * ones(lanes);
          const Vec d = v - m;
          return fma(d, d, acc);
        });
    return {mean, one / sqrt(squares / n + eps)};
  } else {
    const Vec total = modulus_sums<width>(s, x, count, eps);
    return {zero(), one / (total / splat(static_cast<float>(s.row_size() / 2)))};
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

template <Statistic kind, int width>
void forward(const NormRows& s, const NormForward<float>& a) {
  const Apply apply_rows = apply_for(s, a);
  const Index size = s.row_size(), block = block_rows(s), step = s.positions == 1 ? 1 : 0;
  alignas(64) float mean[kBlock], inverse[kBlock];
  for (Index first = 0; first < s.rows; first += block) {
    const Index count = s.rows - first < block ? s.rows - first : block;
    bool all_safe = true;
    for (Index i = 0; i < count; i += kLanes) {
      const Index part = count - i < kLanes ? count - i : kLanes;
      const Measures m = measure<kind, width>(s, a.x + (first + i) * size, part);
      store(mean + i, m.mean);
      store(inverse + i, m.inverse);
      float* saved = a.saved + 2 * (first + i);
      if (part == kLanes) {
        store_pairs(saved, m.mean, m.inverse);
      } else {
        for (Index r = 0; r < part; ++r) {
          saved[2 * r] = mean[i + r];
          saved[2 * r + 1] = inverse[i + r];
        }
      }
      all_safe = all_safe && all_within(m.inverse, kLeastInverse, kMostInverse);
    }
    if (all_safe) {
      apply_rows(s, a, {step == 1 ? count : s.positions, first * size, mean, inverse, step});
      continue;
    }
    for (Index r = 0; r < count; ++r) {
      if (inverse[r] >= kLeastInverse && inverse[r] <= kMostInverse)
        apply_rows(s, a, {s.positions, (first + r) * size, mean + r, inverse + r, 0});
      else
        redo(s, a, first + r);
    }
  }
}

template <Statistic kind>
void forward(const NormRows& s, const NormForward<float>& a) {
  with_width(s, [&](auto width) { forward<kind, width.at>(s, a); });
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
