// The paper's analysis as a ledger: each claim with its verdict, and the numbers that decide it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace phasor::claims {

/// One number, derived on paper and then measured.
struct Measurement {
  std::string what;
  std::string source;  ///< where the predicted number comes from
  double predicted;
  double low, high;  ///< the band that the measured number must lie in, inclusive
  double measured;

  /// False for NaN too.
  bool passed() const { return measured >= low && measured <= high; }
  /// The prediction is an upper bound of something that is not negative.
  bool is_bound() const { return low == 0 && high == predicted && predicted > 0; }
};

/// Within `relative` of the prediction.
Measurement near(std::string what, std::string source, double predicted, double measured,
                 double relative = 1e-9);
/// Within `tolerance` of the prediction: for numbers that hold for many random numbers only.
Measurement about(std::string what, std::string source, double predicted, double measured,
                  double tolerance);
/// Not above `bound` (and not negative).
Measurement at_most(std::string what, std::string source, double bound, double measured);
/// Equal to the prediction: counts, and results of exact arithmetic.
Measurement exactly(std::string what, std::string source, double predicted, double measured);

enum class Verdict : std::uint8_t { holds, holds_under, does_not_hold, open };

struct Claim {
  std::string id;
  std::string statement;  ///< in the paper's terms
  Verdict verdict = Verdict::open;
  std::string condition;  ///< after `holds under`; otherwise why, or empty
  std::string input;      ///< on what it was measured
  std::vector<Measurement> numbers;

  /// Every number lies in its band: the verdict stands.
  bool passed() const;
};

/// `holds`, `holds under <condition>`, `does not hold`, `open`.
std::string verdict_text(const Claim& claim);

struct Entry {
  std::string_view id;
  Claim (*measure)();  ///< pure: every call gives the same numbers
};

/// C1, C1b, C2, ... C15, in order.
std::span<const Entry> entries();

/// Measures the claim of an id; a usage error with the nearest id where there is none.
Claim measure(const std::string& id);
/// All of them, in order.
std::vector<Claim> measure_all();

}  // namespace phasor::claims
