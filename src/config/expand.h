// From a sweep to its cells.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/norm_catalog.h"

namespace phasor {

/// One cell: a complete configuration without axes, and with all parameters of its norm.
struct CellConfig {
  Config config;
  std::string label;  ///< For people and file names: "mrsnorm-lr0.1-bs128-s0".
};

inline constexpr std::size_t kMostCells = 10000;

/// The cells in order: the seed changes slowest (a whole grid is done before the next seed), then
/// norm, lr, batch_size, then further axes by name, the last fastest. A configuration without axes
/// is one cell. Throws a usage error that lists all wrong cells' faults.
std::vector<CellConfig> expand(const Config& config, const NormCatalog& catalog);

/// As above for the reader: faults go to `errors` and warnings to `warnings`, one line each,
/// without repeats. `places` says where keys outside the axes were set, if not in the file; a
/// missing norm name is a fault only where `need_norm`.
std::vector<CellConfig> expand_checked(const Config& config, const NormCatalog& catalog,
                                       const std::map<std::string, std::string>& places,
                                       bool need_norm, std::vector<std::string>& errors,
                                       std::vector<std::string>& warnings);

/// `<norm>-lr<lr>-bs<batch size>-s<seed>`, then `-<key>=<value>` for each of `further` keys whose
/// value differs from `base`, so that growing a sweep by an axis renames no finished cell. The key
/// is without its section. Only [A-Za-z0-9._=+-], at most 120 characters; not unique without the
/// hash.
std::string cell_label(const Config& cell, const Config& base,
                       const std::vector<std::string>& further);

/// Checks a cell against `filter`, e.g. "lr=0.4,batch_size=128,norm=rmsnorm": every key named must
/// have one of the values given for it. Unknown keys and wrong values are usage errors.
bool matches_filter(const Config& cell, std::string_view filter);

}  // namespace phasor
