// The cells of a folder by configuration: what tables and figures have rows and panels for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/results.h"

namespace phasor {

/// All seeds of one configuration. Cells of the sweep without a readable file are in it too (state
/// "missing"); they belong to the configuration whose label they share.
struct Group {
  std::string norm;
  double lr = 0;
  std::int64_t batch_size = 0;
  /// What else differs: "gamma_init=0.7979", or "setup 2" where cells of one label come from
  /// different configurations, as in a mixed folder; often empty.
  std::string variant;
  std::vector<const CellRecord*> cells;  ///< by seed

  const CellRecord& first() const { return *cells[0]; }
  /// Whether some cell has a readable file.
  bool known() const;
  std::vector<const CellRecord*> done() const;
  int trained() const;
};

/// In the order of the sweep: by variant, norm, lr, batch size as each is first met. Cells whose
/// norm nothing tells are left out. `results` must outlive the groups.
std::vector<Group> groups_of(const Results& results);

/// How the configurations of "setup 2", "setup 3", ... differ from the first of their norm, a line
/// each; empty for a folder of one sweep.
std::vector<std::string> setup_lines(const Results& results);

/// The different values of a member, in the order in which they are first met.
template <typename Items, typename Member>
auto values_of(const Items& items, Member member) {
  std::vector<std::decay_t<decltype((*items.begin()).*member)>> values;
  for (const auto& item : items) {
    bool seen = false;
    for (const auto& value : values) seen = seen || value == item.*member;
    if (!seen) values.push_back(item.*member);
  }
  return values;
}

/// The verdict of a cell with its step, or why it has none: "nonfinite at step 812", "not run".
std::string verdict_text(const CellRecord& cell);

}  // namespace phasor
