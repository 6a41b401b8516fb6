// The ledger for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "claims/ledger.h"

namespace phasor::claims {

/// Every claim with its verdict, input and numbers, then one line per claim. At most 100 columns,
/// ASCII. A number outside its band is marked and its band printed.
std::string ledger_text(const std::vector<Claim>& claims);

/// {"passed", "claims": [{"id", "claim", "verdict", "condition", "input", "passed", "numbers":
/// [{"what", "source", "predicted", "low", "high", "measured", "passed"}]}]}. A number that is not
/// finite is null, with "<name>_kind" beside it.
std::string ledger_json(const std::vector<Claim>& claims);

}  // namespace phasor::claims
