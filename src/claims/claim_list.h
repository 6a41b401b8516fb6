// The functions behind the ledger, by file. Each derives its predictions beside the measurement.
#pragma once

#include "claims/ledger.h"

namespace phasor::claims {

// phase_claims.cpp
Claim phase_is_preserved();
Claim statistic_preserves_phase();
Claim constant_angular_speed();
// scale_claims.cpp
Claim scale_invariance();
// gradient_claims.cpp
Claim equal_gradient_magnitude();
Claim gradient_clipper();
Claim linear_influence();
// outlier_claims.cpp
Claim no_starvation();
Claim no_domination();
// radial_claims.cpp
Claim unit_norm_blocks_radially();
Claim squash_blocks_radially();
Claim radial_flow();
// precision_claims.cpp
Claim half_precision_is_safe();
Claim overflow_is_nan();
// attention_claims.cpp
Claim energy_weighted_cosine();
// parameter_claims.cpp
Claim half_the_parameters();
Claim survives_high_learning_rates();

}  // namespace phasor::claims
