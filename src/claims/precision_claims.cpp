// C11, C11b: norms in half precision, by the kernels that train with norm.stat_dtype: every partial
// result rounded (kernels/narrow_norm.h).
#include <algorithm>
#include <cmath>
#include <limits>

#include "check/inputs.h"
#include "claims/claim_list.h"
#include "claims/probe.h"
#include "kernels/narrow_norm.h"

namespace phasor::claims {
namespace {

using kernels::Statistic;

constexpr Arithmetic kHalf{kFloat16};
constexpr Arithmetic kSingle{kFloat32};
constexpr StatisticPrecision kPlainHalf{StatisticType::float16, /*rescue=*/false};
constexpr StatisticPrecision kPlainBrain{StatisticType::bfloat16, /*rescue=*/false};

/// S of one row, at eps 0.
double statistic_of(Statistic kind, const NumberFormat& format, const Numbers& row,
                    bool rescue = false) {
  kernels::NarrowNorm norm{{}, format, rescue};
  norm.rows.statistic = kind;
  norm.rows.rows = 1;
  norm.rows.channels = static_cast<Index>(row.size());
  const std::vector<float> x(row.begin(), row.end());
  std::vector<float> out(x.size()), saved(narrow_norm_saved_size(norm.rows));
  narrow_norm_forward(norm, {x.data(), nullptr, nullptr, nullptr, out.data(), saved.data()});
  return std::ldexp(saved[0], -static_cast<int>(saved[1]));
}

double square(double x) { return kHalf.multiply(x, x); }
double modulus_of_equal(double x) {
  return statistic_of(Statistic::mean_pair_modulus, kFloat16, {x, x});
}

/// The largest value x of float16 for which `count` terms term(x) leave a finite sum, in a tree:
/// equal terms double at each level, so their sum is exact until it overflows.
double headroom(double count, double (*term)(double)) {
  std::uint16_t low = 0, high = 0x7BFF;  // 0 and 65504
  while (low < high) {
    const auto middle = static_cast<std::uint16_t>((low + high + 1) / 2);
    if (std::isfinite(kHalf.multiply(count, term(float16_from_bits(middle))))) {
      low = middle;
    } else {
      high = static_cast<std::uint16_t>(middle - 1);
    }
  }
  return float16_from_bits(low);
}

/// The outputs of a norm at eps 0 and gain 1, one row.
Numbers outputs(const char* norm, const Numbers& row, const StatisticPrecision& precision) {
  const Probe probe(norm, static_cast<Index>(row.size()), 0);
  return probe.run_float32(row, Numbers(row.size()), precision).out;
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
  claim.numbers.push_back(
      exactly("float16: RMSNorm's sum overflows (1: yes)", "64 * 1024 = 65536", 1,
              is_infinite(statistic_of(Statistic::root_mean_square, kFloat16, row))));
  claim.numbers.push_back(exactly("float16: MRSNorm's sum of moduli", "12*45.25 + 20*45", 1443,
                                  32 * statistic_of(Statistic::mean_pair_modulus, kFloat16, row)));
  claim.numbers.push_back(exactly("float16: the pair (182, 182) overflows (1: yes)",
                                  "2 * 33120 = 66240", 1, is_infinite(modulus_of_equal(182))));
  const double rescued =
      statistic_of(Statistic::mean_pair_modulus, kFloat16, {182, 182}, /*rescue=*/true);
  claim.numbers.push_back(about("float16: its modulus, scaled by the larger", "182 sqrt(2) +- 2^-2",
                                182 * std::sqrt(2.0), rescued, 0.25));
  const double rms = headroom(64, square), mrs = headroom(32, modulus_of_equal);
  claim.numbers.push_back(near("float16, C = 64: RMSNorm's largest value", "sqrt(65504/C)",
                               std::sqrt(65504.0 / 64), rms, 2e-3));
  claim.numbers.push_back(near("float16, C = 64: MRSNorm's largest value", "sqrt(65504/2)",
                               std::sqrt(65504.0 / 2), mrs, 2e-3));
  claim.numbers.push_back(near("gain, P = 32", "sqrt(P)", std::sqrt(32.0), mrs / rms, 4e-3));
  claim.numbers.push_back(near("gain, P = 1024", "sqrt(65504/P)", std::sqrt(65504.0 / 1024),
                               headroom(1024, modulus_of_equal) / headroom(2048, square), 4e-3));
  Numbers ones(8192);
  for (std::size_t i = 0; i < ones.size(); i += 2) ones[i] = 1;
  claim.numbers.push_back(exactly("float16: S of 4096 phasors of length 1 (not 1)", "2048/4096",
                                  0.5, statistic_of(Statistic::mean_pair_modulus, kFloat16, ones)));
  const double single = kHalf.round(statistic_of(Statistic::root_mean_square, kFloat32, row));
  claim.numbers.push_back(
      exactly("float16, sums in float32: RMSNorm's outputs", "32/32", 1, kHalf.divide(32, single)));
  claim.numbers.push_back(
      exactly("bfloat16: RMSNorm's outputs", "32/32", 1, outputs("rmsnorm", row, kPlainBrain)[0]));
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
  Claim claim{
      .id = {},
      .statement = "Where a norm overflows, training ends in NaN.",
      .verdict = Verdict::holds_under,
      .condition =
          "an infinite input, or a LayerNorm row whose plain sum overflows. An "
          "overflow of the statistic alone is silent: outputs and gradients are "
          "0, and learning stops without a NaN.",
      .input =
          "64 channels, float16 (norm.stat_dtype), every partial result of the statistic rounded",
      .numbers = {}};
  const Numbers row(64, 32.0);
  const Numbers rms = outputs("rmsnorm", row, kPlainHalf);
  claim.numbers.push_back(
      exactly("RMSNorm of 64 times 32: zero outputs", "32/inf = 0", 64, count_zero(rms)));
  claim.numbers.push_back(
      exactly("RMSNorm of 64 times 32: NaN outputs", "none", 0, count_nan(rms)));
  const Numbers gradients = Probe("rmsnorm", 64, 0).run_float32(row, Numbers(64, 1), kPlainHalf).dx;
  claim.numbers.push_back(
      exactly("RMSNorm of 64 times 32: zero gradients", "g/inf = 0", 64, count_zero(gradients)));
  const Numbers large(64, 200.0);
  claim.numbers.push_back(exactly("MRSNorm of 64 times 200: zero outputs", "200/inf = 0", 64,
                                  count_zero(outputs("mrsnorm", large, kPlainHalf))));
  Numbers infinite(64, 1.0);
  infinite[5] = std::numeric_limits<double>::infinity();
  const Numbers spread = outputs("rmsnorm", infinite, kPlainHalf);
  claim.numbers.push_back(
      exactly("RMSNorm, one input infinite: NaN outputs", "inf/inf", 1, count_nan(spread)));
  claim.numbers.push_back(
      exactly("RMSNorm, one input infinite: zero outputs", "1/inf = 0", 63, count_zero(spread)));
  Numbers alternating(64, 256.0);
  for (std::size_t i = 1; i < 64; i += 2) alternating[i] = -256;
  claim.numbers.push_back(exactly("LayerNorm of +-256: zero outputs", "256/inf = 0", 64,
                                  count_zero(outputs("layernorm", alternating, kPlainHalf))));
  claim.numbers.push_back(
      exactly("LayerNorm of 64 times 1200: NaN outputs", "mean = inf: -inf/inf", 64,
              count_nan(outputs("layernorm", Numbers(64, 1200.0), kPlainHalf))));
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
