// C11, C11b: norms in half precision, every partial result rounded (rounding.h).
#include <algorithm>
#include <cmath>
#include <limits>

#include "check/inputs.h"
#include "claims/claim_list.h"
#include "claims/probe.h"
#include "claims/rounding.h"

namespace phasor::claims {
namespace {

constexpr Arithmetic kHalf{round_float16};
constexpr Arithmetic kBrain{round_bfloat16};
constexpr Arithmetic kSingle{round_float32};

/// One number after the other.
double sum_in_order(const Arithmetic& a, const Numbers& values) {
  double sum = 0;
  for (const double value : values) sum = a.add(sum, value);
  return sum;
}

/// Neighbours first, in rounds: the number of values is a power of two.
double sum_as_tree(const Arithmetic& a, Numbers values) {
  while (values.size() > 1) {
    for (std::size_t i = 0; i < values.size() / 2; ++i)
      values[i] = a.add(values[2 * i], values[2 * i + 1]);
    values.resize(values.size() / 2);
  }
  return values[0];
}

Numbers squares(const Arithmetic& a, const Numbers& x) {
  Numbers result;
  for (const double value : x) result.push_back(a.multiply(value, value));
  return result;
}

/// sqrt(x^2 + y^2) as written, squares and all.
Numbers naive_moduli(const Arithmetic& a, const Numbers& x) {
  Numbers result;
  for (std::size_t i = 0; i + 1 < x.size(); i += 2)
    result.push_back(a.root(a.add(a.multiply(x[i], x[i]), a.multiply(x[i + 1], x[i + 1]))));
  return result;
}

/// The same by the larger component times sqrt(1 + ratio^2).
double scaled_modulus(const Arithmetic& a, double x, double y) {
  const double large = std::max(std::fabs(x), std::fabs(y));
  const double ratio = a.divide(std::min(std::fabs(x), std::fabs(y)), large);
  return a.multiply(large, a.root(a.add(1, a.multiply(ratio, ratio))));
}

using Statistic = double (*)(const Arithmetic& a, const Numbers& x);

double naive_rms(const Arithmetic& a, const Numbers& x) {
  return a.root(a.divide(sum_in_order(a, squares(a, x)), static_cast<double>(x.size())));
}

double naive_mrs(const Arithmetic& a, const Numbers& x) {
  return a.divide(sum_in_order(a, naive_moduli(a, x)), static_cast<double>(x.size() / 2));
}

Numbers divided(const Arithmetic& a, Numbers x, double statistic) {
  for (double& value : x) value = a.divide(value, statistic);
  return x;
}

/// dx = (g - xhat mean(g xhat)) / R.
Numbers naive_rms_backward(const Arithmetic& a, const Numbers& x, const Numbers& g) {
  const double statistic = naive_rms(a, x);
  const Numbers normalised = divided(a, x, statistic);
  Numbers products;
  for (std::size_t i = 0; i < x.size(); ++i) products.push_back(a.multiply(g[i], normalised[i]));
  const double mean = a.divide(sum_in_order(a, products), static_cast<double>(x.size()));
  Numbers dx;
  for (std::size_t i = 0; i < x.size(); ++i)
    dx.push_back(a.divide(a.subtract(g[i], a.multiply(normalised[i], mean)), statistic));
  return dx;
}

Numbers naive_layernorm(const Arithmetic& a, const Numbers& x) {
  const auto n = static_cast<double>(x.size());
  const double mean = a.divide(sum_in_order(a, x), n);
  Numbers centred;
  for (const double value : x) centred.push_back(a.subtract(value, mean));
  return divided(a, centred, naive_rms(a, centred));
}

/// The largest value of float16 for which `channels` equal values leave a finite sum, in a tree.
double headroom(std::size_t channels, Numbers (*terms)(const Arithmetic&, const Numbers&)) {
  std::uint16_t low = 0, high = 0x7BFF;  // 0 and 65504
  while (low < high) {
    const auto middle = static_cast<std::uint16_t>((low + high + 1) / 2);
    const Numbers x(channels, float16_from_bits(middle));
    if (std::isfinite(sum_as_tree(kHalf, terms(kHalf, x)))) {
      low = middle;
    } else {
      high = static_cast<std::uint16_t>(middle - 1);
    }
  }
  return float16_from_bits(low);
}

double is_infinite(double value) { return std::isinf(value) ? 1 : 0; }

double count_zero(const Numbers& values) {
  return static_cast<double>(std::count(values.begin(), values.end(), 0.0));
}

double count_nan(const Numbers& values) {
  return static_cast<double>(
      std::count_if(values.begin(), values.end(), [](double v) { return std::isnan(v); }));
}

}  // namespace

// The largest float16 is 65504. With C equal values x, the sum of squares overflows from C x^2 =
// 65520 on; MRSNorm's from 2 x^2 (the pair) or P sqrt(2) x (the sum of moduli): the gain in
// headroom is the smaller of sqrt(P) and sqrt(65504/P), at most 16, at P = 256. In order, 32 moduli
// of sqrt(2048) -> 45.25 lose a quarter each above 512: 12 * 45.25 + 20 * 45 = 1443. A
// sum of ones stops at 2048, where 1 is half of the last digit.
Claim half_precision_is_safe() {
  Claim claim{.id = {},
              .statement = "MRSNorm is safe in mixed precision, because it sums no squares.",
              .verdict = Verdict::holds_under,
              .condition =
                  "plain float16 accumulation, where it has up to 16 times more headroom; "
                  "the modulus of a pair still squares. Accumulating in float32 removes "
                  "the overflow for RMSNorm too, and bfloat16 never had it.",
              .input =
                  "64 channels of 32.0 where nothing else is said; every partial result "
                  "rounded to nearest even",
              .numbers = {}};
  const Numbers row(64, 32.0);
  claim.numbers.push_back(exactly("float16: 255.875^2", "a number of float16", 65472,
                                  kHalf.multiply(255.875, 255.875)));
  claim.numbers.push_back(exactly("float16: 256^2 overflows (1: yes)", "above 65504", 1,
                                  is_infinite(kHalf.multiply(256, 256))));
  claim.numbers.push_back(exactly("float16: RMSNorm's sum overflows (1: yes)", "64 * 1024 = 65536",
                                  1, is_infinite(sum_in_order(kHalf, squares(kHalf, row)))));
  claim.numbers.push_back(exactly("float16: MRSNorm's sum of moduli", "12*45.25 + 20*45", 1443,
                                  sum_in_order(kHalf, naive_moduli(kHalf, row))));
  claim.numbers.push_back(exactly("float16: the pair (182, 182) overflows (1: yes)",
                                  "2 * 33120 = 66240", 1,
                                  is_infinite(naive_moduli(kHalf, {182, 182})[0])));
  claim.numbers.push_back(about("float16: its modulus, scaled by the larger", "182 sqrt(2) +- 2^-2",
                                182 * std::sqrt(2.0), scaled_modulus(kHalf, 182, 182), 0.25));
  const double rms = headroom(64, squares), mrs = headroom(64, naive_moduli);
  claim.numbers.push_back(near("float16, C = 64: RMSNorm's largest value", "sqrt(65504/C)",
                               std::sqrt(65504.0 / 64), rms, 2e-3));
  claim.numbers.push_back(near("float16, C = 64: MRSNorm's largest value", "sqrt(65504/2)",
                               std::sqrt(65504.0 / 2), mrs, 2e-3));
  claim.numbers.push_back(near("gain, P = 32", "sqrt(P)", std::sqrt(32.0), mrs / rms, 4e-3));
  claim.numbers.push_back(near("gain, P = 1024", "sqrt(65504/P)", std::sqrt(65504.0 / 1024),
                               headroom(2048, naive_moduli) / headroom(2048, squares), 4e-3));
  Numbers ones(8192);
  for (std::size_t i = 0; i < ones.size(); i += 2) ones[i] = 1;
  claim.numbers.push_back(exactly("float16: S of 4096 phasors of length 1 (not 1)", "2048/4096",
                                  0.5, naive_mrs(kHalf, ones)));
  const double single = round_float16(naive_rms(kSingle, row));
  claim.numbers.push_back(
      exactly("float16, sums in float32: RMSNorm's outputs", "32/32", 1, kHalf.divide(32, single)));
  claim.numbers.push_back(exactly("bfloat16: RMSNorm's outputs", "32/32", 1,
                                  kBrain.divide(32, naive_rms(kBrain, row))));
  claim.numbers.push_back(exactly("float32: (1.9e19)^2 overflows (1: yes)", "above sqrt(3.4e38)", 1,
                                  is_infinite(kSingle.multiply(1.9e19, 1.9e19))));
  const Numbers huge = {3e25, 4e25, 6e25, 8e25};
  const Numbers expected = {0.4, 8.0 / 15, 0.8, 16.0 / 15};
  claim.numbers.push_back(
      at_most("mrsnorm as trained, 10^25 (3,4,6,8): error", "0: (3,4,6,8) / 7.5", 1e-6,
              check::relative_error(Probe("mrsnorm", 4, 0).forward_float32(huge), expected)));
  return claim;
}

// An infinite statistic divides finite numbers to 0, forward and backward. NaN needs inf/inf or
// inf - inf: an input that is infinite, or a mean that overflowed before it is subtracted.
Claim overflow_is_nan() {
  Claim claim{.id = {},
              .statement = "Where a norm overflows, training ends in NaN.",
              .verdict = Verdict::holds_under,
              .condition =
                  "an infinite input, or a LayerNorm row whose plain sum overflows. An "
                  "overflow of the statistic alone is silent: outputs and gradients are "
                  "0, and learning stops without a NaN.",
              .input = "64 channels, float16, every partial result rounded",
              .numbers = {}};
  const Numbers row(64, 32.0);
  const Numbers rms = divided(kHalf, row, naive_rms(kHalf, row));
  claim.numbers.push_back(
      exactly("RMSNorm of 64 times 32: zero outputs", "32/inf = 0", 64, count_zero(rms)));
  claim.numbers.push_back(
      exactly("RMSNorm of 64 times 32: NaN outputs", "none", 0, count_nan(rms)));
  claim.numbers.push_back(exactly("RMSNorm of 64 times 32: zero gradients", "g/inf = 0", 64,
                                  count_zero(naive_rms_backward(kHalf, row, Numbers(64, 1)))));
  const Numbers large(64, 200.0);
  claim.numbers.push_back(exactly("MRSNorm of 64 times 200: zero outputs", "200/inf = 0", 64,
                                  count_zero(divided(kHalf, large, naive_mrs(kHalf, large)))));
  Numbers infinite(64, 1.0);
  infinite[5] = std::numeric_limits<double>::infinity();
  const Numbers spread = divided(kHalf, infinite, naive_rms(kHalf, infinite));
  claim.numbers.push_back(
      exactly("RMSNorm, one input infinite: NaN outputs", "inf/inf", 1, count_nan(spread)));
  claim.numbers.push_back(
      exactly("RMSNorm, one input infinite: zero outputs", "1/inf = 0", 63, count_zero(spread)));
  Numbers alternating(64, 256.0);
  for (std::size_t i = 1; i < 64; i += 2) alternating[i] = -256;
  claim.numbers.push_back(exactly("LayerNorm of +-256: zero outputs", "256/inf = 0", 64,
                                  count_zero(naive_layernorm(kHalf, alternating))));
  claim.numbers.push_back(exactly("LayerNorm of 64 times 1200: NaN outputs", "mean = inf: -inf/inf",
                                  64, count_nan(naive_layernorm(kHalf, Numbers(64, 1200.0)))));
  Numbers trained;
  for (const char* norm : {"mrsnorm", "rmsnorm", "layernorm"}) {
    const Numbers out = Probe(norm, 4, 0).forward_float32({3e25, 4e25, 6e25, 8e25});
    trained.insert(trained.end(), out.begin(), out.end());
  }
  claim.numbers.push_back(exactly("as trained, 10^25 (3,4,6,8): zeros and NaN",
                                  "none: rows are rescued", 0,
                                  count_zero(trained) + count_nan(trained)));
  return claim;
}

}  // namespace phasor::claims
