#include "claims/ledger.h"

#include <algorithm>
#include <cmath>

#include "claims/claim_list.h"
#include "core/nearest_name.h"
#include "phasor/error.h"

namespace phasor::claims {

Measurement about(std::string what, std::string source, double predicted, double measured,
                  double tolerance) {
  return {std::move(what),       std::move(source),     predicted,
          predicted - tolerance, predicted + tolerance, measured};
}

Measurement near(std::string what, std::string source, double predicted, double measured,
                 double relative) {
  return about(std::move(what), std::move(source), predicted, measured,
               relative * std::fabs(predicted));
}

Measurement at_most(std::string what, std::string source, double bound, double measured) {
  return {std::move(what), std::move(source), bound, 0, bound, measured};
}

Measurement exactly(std::string what, std::string source, double predicted, double measured) {
  return about(std::move(what), std::move(source), predicted, measured, 0);
}

bool Claim::passed() const {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](const Measurement& number) { return number.passed(); });
}

std::string verdict_text(const Claim& claim) {
  switch (claim.verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::holds_under:
      return "holds under " + claim.condition;
    case Verdict::does_not_hold:
      return "does not hold";
    case Verdict::open:
      break;
  }
  return "open";
}

std::span<const Entry> entries() {
  static constexpr Entry kEntries[] = {
      {"C1", phase_is_preserved},
      {"C1b", statistic_preserves_phase},
      {"C2", scale_invariance},
      {"C3", equal_gradient_magnitude},
      {"C4", gradient_clipper},
      {"C5", no_starvation},
      {"C6", no_domination},
      {"C7", linear_influence},
      {"C8", unit_norm_blocks_radially},
      {"C9", squash_blocks_radially},
      {"C10", radial_flow},
      {"C11", half_precision_is_safe},
      {"C11b", overflow_is_nan},
      {"C12", energy_weighted_cosine},
      {"C13", constant_angular_speed},
      {"C14", half_the_parameters},
      {"C15", survives_high_learning_rates},
  };
  return kEntries;
}

namespace {

Claim measure_entry(const Entry& entry) {
  Claim claim = entry.measure();
  claim.id = entry.id;
  return claim;
}

}  // namespace

Claim measure(const std::string& id) {
  std::vector<std::string> ids;
  for (const Entry& entry : entries()) {
    if (entry.id == id) return measure_entry(entry);
    ids.emplace_back(entry.id);
  }
  std::string known;
  for (const std::string& one : ids) known += (known.empty() ? "" : ", ") + one;
  fail(ErrorKind::usage, "[verify] unknown claim; got ", id, did_you_mean(id, ids),
       "; known: ", known);
}

std::vector<Claim> measure_all() {
  std::vector<Claim> claims;
  for (const Entry& entry : entries()) claims.push_back(measure_entry(entry));
  return claims;
}

}  // namespace phasor::claims
