// Norms of rows, backward: ReLU mask, residual split and all gradients.
//
//   for each block of 64 rows (16 wide ones, one row where a row has several positions)
//     dot = sum d h, for the deviation also sum d              d = gain * masked dy,
//                                                              h = (x - mean) * inverse
//     for each vector of channels, pair of rows:
//       dskip = masked dy
//       dx = (d - h dot/n) * inverse       (deviation: d - sum/n; phasors: v for h, v = z / |z|;
//                                           absolute: the sign of x for h)
//       chains of dgain (masked dy * h) and dbias (masked dy)
//
// The chains of dgain and dbias run over rows (positions) in order, one for each channel, and are
// added to the result after every 1,024 of them and at the end; they wait on the stack, which
// bounds the channels of this path. |z| of two rows shares one square root and one divide. Rows
// that the forward pass gave to the reference go there again.
#include "kernels/chain.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/norm_sums.h"
#include "kernels/reference/reference.h"

namespace phasor::kernels::PHASOR_ISA {
namespace {

constexpr Index kMostChannels = 2048;
constexpr float kTinySquare = 0x1p-100f;

struct Chains {
  alignas(64) float gain[kMostChannels];
  alignas(64) float bias[kMostChannels];
  Index length = 0;

  explicit Chains(Index channels) { clear(channels); }
  void clear(Index channels) {
    for (Index c = 0; c < channels; c += kLanes) {
      store(gain + c, zero());
      store(bias + c, zero());
    }
    length = 0;
  }
  /// Counts rows and ends the chain when it is full.
  void advance(const NormRows& s, const NormBackward<float>& a, Index rows) {
    length += rows;
    if (length >= kChain) end(s, a);
  }
  void end(const NormRows& s, const NormBackward<float>& a) {
    if (a.dgain != nullptr && s.gain_per_pair)
      for (Index c = 0; c + 1 < s.channels; c += 2) a.dgain[c / 2] += gain[c] + gain[c + 1];
    if (a.dgain != nullptr && !s.gain_per_pair)
      for (Index c = 0; c < s.channels; ++c) a.dgain[c] += gain[c];
    if (a.dbias != nullptr)
      for (Index c = 0; c < s.channels; ++c) a.dbias[c] += bias[c];
    clear(s.channels);
  }
};

PHASOR_INLINE Vec gain_at(const NormRows& s, const float* gain, Index c, Index lanes) {
  if (gain == nullptr) return splat(1.0f);
  return s.gain_per_pair ? load_pairs(gain + c / 2, lanes / 2) : load_lanes(gain + c, lanes);
}

template <bool relu>
PHASOR_INLINE Vec masked_dy(const NormBackward<float>& a, Index i, Index lanes) {
  const Vec g = load_lanes(a.dy + i, lanes);
  if constexpr (relu) return where_positive(load_lanes(a.out + i, lanes), g);
  return g;
}

/// Whether sixteen rows are folded as they come, four at a time, in registers: AVX2 has too few.
#if defined(PHASOR_ISA_avx512)
constexpr bool kFoldAtOnce = true;
#else
constexpr bool kFoldAtOnce = false;
#endif

/// Fetches the same place of the next block: saved activations come from L3, and a block of narrow
/// rows ends with a page, where the processor stops guessing.
template <bool relu>
PHASOR_INLINE void fetch_ahead(const NormBackward<float>& a, Index at) {
  constexpr Index kAhead = 1024;
  __builtin_prefetch(a.x + at + kAhead);
  if constexpr (relu) __builtin_prefetch(a.out + at + kAhead);
  __builtin_prefetch(a.dy + at + kAhead);
}

/// What the second loop needs of each row beside `saved`.
struct Rows {
  const float* saved;  ///< mean and 1 / statistic of row r at 2r and 2r + 1
  alignas(64) float shift[kBlock], slope[kBlock];

  PHASOR_INLINE Vec mean(Index r) const { return splat(saved[2 * r]); }
  PHASOR_INLINE Vec inverse(Index r) const { return splat(saved[2 * r + 1]); }
};

/// shift = sum(d) / n (deviation only), slope = dot / n (dot / P for phasors) of `count` rows.
template <Statistic kind, bool relu, int width>
__attribute__((noinline)) void reduce(const NormRows& s, const NormBackward<float>& a, Index first,
                                      Index count, Rows& rows) {
  constexpr bool centred = kind == Statistic::deviation;
  const Index size = s.row_size();
  const Vec n = splat(static_cast<float>(size));
  const Vec share =
      splat(static_cast<float>(kind == Statistic::mean_pair_modulus ? size / 2 : size));
  const auto sums_of_row = [&](Index r, Vec & dot, Vec & sum) __attribute__((always_inline)) {
    const Index start = (first + r) * size;
    dot = zero(), sum = zero();
    over_row<width>(
        s, [&](Index offset, Index c, Index lanes) __attribute__((always_inline)) {
          const Index at = start + offset;
          const Vec d = gain_at(s, a.gain, c, lanes) * masked_dy<relu>(a, at, lanes);
          Vec x = load_lanes(a.x + at, lanes);
          if constexpr (width > 0) fetch_ahead<relu>(a, at);
          if constexpr (centred) {
            x = x - rows.mean(r);
            sum = sum + d;
          }
          dot = fma(d, x * rows.inverse(r), dot);
        });
  };
  for (Index base = 0; base < count; base += kLanes) {
    if constexpr (width > 0 && kFoldAtOnce) {
      if (base + kLanes <= count) {
        Vec dots[4], sums[4];
        unroll<4>([&](auto i) __attribute__((always_inline)) {
          Vec dot[4], sum[4];
          unroll<4>([&](auto k) __attribute__((always_inline)) {
            sums_of_row(base + i.at + 4 * k.at, dot[k.at], sum[k.at]);
          });
          dots[i.at] = sums_of_quarter(dot);
          if constexpr (centred) sums[i.at] = sums_of_quarter(sum);
        });
        store(rows.slope + base, sums_of_quarters(dots) / share);
        if constexpr (centred) store(rows.shift + base, sums_of_quarters(sums) / n);
        continue;
      }
    }
    Vec dots[kLanes], sums[kLanes];
    const bool single = width == 0 && count == 1;
    for (Index i = 0; i < (single ? 1 : kLanes); ++i)
      sums_of_row(base + i < count ? base + i : count - 1, dots[i], sums[i]);
    store(rows.slope + base, (single ? sum_lanes_of(dots[0]) : sums_of_rows(dots)) / share);
    if constexpr (centred)
      store(rows.shift + base, (single ? sum_lanes_of(sums[0]) : sums_of_rows(sums)) / n);
  }
}

/// `count` stretches of `channels` numbers from `offset` on; row r of them uses rows[r * step].
struct Stretch {
  Index count, offset, step;
};

template <Statistic kind, bool relu>
__attribute__((noinline)) void apply(const NormRows& s, const NormBackward<float>& a,
                                     const Rows& rows, const Stretch& t, Chains& chains) {
  const Vec eps = splat(static_cast<float>(s.eps)), one = splat(1.0f);
  for (Index c = 0; c < s.channels; c += kLanes) {
    const Index left = s.channels - c, lanes = left < kLanes ? left : kLanes;
    const Vec gain = gain_at(s, a.gain, c, lanes);
    Vec gain_chain = load(chains.gain + c), bias_chain = load(chains.bias + c);

    // One vector of one row; `unit` is z / |z| where the statistic is of phasors.
    const auto finish = [&](Index r, Vec x, Vec unit, Index width) __attribute__((always_inline)) {
      const Index i = t.offset + r * s.channels + c, at = r * t.step;
      const Vec inverse = rows.inverse(at), slope = splat(rows.slope[at]);
      const Vec g = masked_dy<relu>(a, i, width);
      const Vec h = (kind == Statistic::deviation ? x - rows.mean(at) : x) * inverse;
      gain_chain = fma(g, h, gain_chain);
      bias_chain = bias_chain + g;
      Vec d = gain * g;
      if constexpr (kind == Statistic::deviation) d = d - splat(rows.shift[at]);
      if constexpr (kind == Statistic::mean_pair_modulus)
        d = fnma(unit, slope, d);
      else if constexpr (kind == Statistic::mean_absolute)
        d = d - signed_like(slope, x);
      else
        d = fnma(h, slope, d);
      Vec dx = d * inverse;
      if (a.dskip != nullptr)
        width == kLanes ? store(a.dskip + i, g) : store(a.dskip + i, g, width);
      if (a.accumulate) dx = dx + load_lanes(a.dx + i, width);
      width == kLanes ? store(a.dx + i, dx) : store(a.dx + i, dx, width);
    };
    const auto run = [&](Index width) __attribute__((always_inline)) {
      const auto x_of = [&](Index r) __attribute__((always_inline)) {
        return load_lanes(a.x + t.offset + r * s.channels + c, width);
      };
      if constexpr (kind == Statistic::mean_pair_modulus) {
        for (Index r = 0; r < t.count; r += 2) {
          const bool second = r + 1 < t.count;
          const Vec x0 = x_of(r), x1 = second ? x_of(r + 1) : x0;
          const Vec m = moduli(x0, x1, eps);
          const Vec w = where_positive(m, one / m);  // the zero phasor at eps 0 has slope zero
          finish(r, x0, x0 * twice_even(w), width);
          if (second) finish(r + 1, x1, x1 * twice_odd(w), width);
        }
      } else {
        for (Index r = 0; r < t.count; ++r) finish(r, x_of(r), zero(), width);
      }
    };
    if (lanes == kLanes)
      run(kLanes);
    else
      run(lanes);
    store(chains.gain + c, gain_chain);
    store(chains.bias + c, bias_chain);
  }
}

/// Whether a phasor of the row is so small that its square is lost, though it is not zero. Matters
/// only where eps does not cover it.
bool has_tiny_phasor(const NormRows& s, const float* x) {
  Vec found = zero();
  over_row<0>(
      s, [&](Index offset, Index, Index lanes) __attribute__((always_inline)) {
        const Vec v = load_lanes(x + offset, lanes);
        found = max(found, where_positive(splat(kTinySquare) - squared_moduli(v), abs(v)));
      });
  return !all_within(found, 0, 0);
}

/// One row by the reference; its part of dgain and dbias joins the result at once.
void redo(const NormRows& s, const NormBackward<float>& a, Index row) {
  NormRows one = s;
  one.rows = 1;
  const Index at = row * s.row_size();
  NormBackward<float> b = a;
  b.x += at;
  if (b.out != nullptr) b.out += at;
  b.saved += 2 * row;
  b.dy += at;
  b.dx += at;
  if (b.dskip != nullptr) b.dskip += at;
  reference::norm_backward<float>(one, b);
}

bool in_range(float inverse) { return inverse >= kLeastInverse && inverse <= kMostInverse; }

/// Whether 1 / statistic of all rows is in the safe range.
bool all_in_range(const float* saved, Index rows) {
  Index r = 0;
  const Vec one = splat(1.0f);
  for (; r + kLanes / 2 <= rows; r += kLanes / 2)
    if (!all_within(weave(one, load(saved + 2 * r)), kLeastInverse, kMostInverse)) return false;
  for (; r < rows; ++r)
    if (!in_range(saved[2 * r + 1])) return false;
  return true;
}

template <Statistic kind, bool relu, int width>
void backward(const NormRows& s, const NormBackward<float>& a) {
  Chains chains(s.channels);
  const bool look_for_tiny = kind == Statistic::mean_pair_modulus && s.eps < kTinySquare;
  const Index size = s.row_size(), block = block_rows(s);
  const auto safe = [&](Index row) {
    return in_range(a.saved[2 * row + 1]) &&
           !(look_for_tiny && has_tiny_phasor(s, a.x + row * size));
  };
  Rows rows;
  for (Index first = 0; first < s.rows; first += block) {
    const Index count = s.rows - first < block ? s.rows - first : block;
    bool all_safe = all_in_range(a.saved + 2 * first, count);
    if (look_for_tiny)
      for (Index r = 0; r < count && all_safe; ++r) all_safe = safe(first + r);
    if (all_safe && s.positions == 1) {
      rows.saved = a.saved + 2 * first;
      reduce<kind, relu, width>(s, a, first, count, rows);
      apply<kind, relu>(s, a, rows, {count, first * size, 1}, chains);
      chains.advance(s, a, count);
      continue;
    }
    for (Index r = first; r < first + count; ++r) {
      if (!safe(r)) {
        redo(s, a, r);
        chains.advance(s, a, s.positions == 1 ? 1 : 0);
        continue;
      }
      rows.saved = a.saved + 2 * r;
      reduce<kind, relu, width>(s, a, r, 1, rows);
      for (Index p = 0; p < s.positions;) {
        Index part = s.positions - p < 2 * kLanes ? s.positions - p : 2 * kLanes;
        if (part > kChain - chains.length) part = kChain - chains.length;
        apply<kind, relu>(s, a, rows, {part, r * size + p * s.channels, 0}, chains);
        chains.advance(s, a, part);
        p += part;
      }
    }
  }
  chains.end(s, a);
}

template <Statistic kind>
void backward(const NormRows& s, const NormBackward<float>& a) {
  with_width(s, [&](auto width) {
    if (s.relu)
      backward<kind, true, width.at>(s, a);
    else
      backward<kind, false, width.at>(s, a);
  });
}

}  // namespace

void norm_backward(const NormRows& s, const NormBackward<float>& a) {
  if (s.channels > kMostChannels) {
    reference::norm_backward<float>(s, a);
    return;
  }
  switch (s.statistic) {
    case Statistic::deviation:
      backward<Statistic::deviation>(s, a);
      break;
    case Statistic::root_mean_square:
      backward<Statistic::root_mean_square>(s, a);
      break;
    case Statistic::mean_pair_modulus:
      backward<Statistic::mean_pair_modulus>(s, a);
      break;
    case Statistic::mean_absolute:
      backward<Statistic::mean_absolute>(s, a);
      break;
  }
}

}  // namespace phasor::kernels::PHASOR_ISA
