// phasor-train verify: the paper's claims, each measured.
#include <algorithm>

#include "claims/ledger.h"
#include "claims/print.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "phasor/error.h"

namespace phasor {

int run_verify(const std::vector<std::string>& args) {
  const Usage usage{
      "phasor-train verify",
      "[--only ID] [--json]",
      "The claims of the paper about MRSNorm as a ledger: each with its verdict and, side by "
      "side, the\nnumbers predicted by the formulas and those measured through this engine. Takes "
      "seconds, needs no\ndata. Exit code 7 where a measured number leaves its predicted band.",
      {{"phasor-train verify", "all claims"},
       {"phasor-train verify --only C4 --only C11", "two of them"}},
      {{"only", "ID", "this claim (C1, C1b, C2, ... C15); repeatable", true},
       {"json", "", "as JSON"}}};
  const std::optional<Arguments> arguments = parse_arguments(usage, args);
  if (!arguments) return 0;
  std::vector<claims::Claim> ledger;
  for (const std::string& id : arguments->all("only")) ledger.push_back(claims::measure(id));
  if (ledger.empty()) ledger = claims::measure_all();
  write_out(arguments->has("json") ? claims::ledger_json(ledger) : claims::ledger_text(ledger));
  const bool passed = std::all_of(ledger.begin(), ledger.end(),
                                  [](const claims::Claim& claim) { return claim.passed(); });
  return passed ? 0 : static_cast<int>(ErrorKind::check);
}

}  // namespace phasor
