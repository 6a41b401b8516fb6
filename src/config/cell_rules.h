// Rules that tie several keys of one cell together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/norm_catalog.h"

namespace phasor {

/// Where a key of a cell was set, for messages: its own pointer unless an axis set it.
using Places = std::map<std::string, std::string>;

/// Completes `cell.norm.params` with the norm's defaults; wrong names, types and ranges go to
/// `errors`.
void resolve_norm(Config& cell, const NormCatalog& catalog, const Places& places,
                  std::vector<std::string>& errors);

/// "unknown norm ...; did you mean ...?; known: ..."
std::string unknown_norm(const std::string& name, const NormCatalog& catalog);

/// Combinations that make no sense go to `errors`, doubtful ones to `warnings`.
void check_rules(const Config& cell, const Places& places, std::vector<std::string>& errors,
                 std::vector<std::string>& warnings);

}  // namespace phasor
