// Spelling help: the known name that a misspelt one most likely means.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace phasor {

/// The least number of insertions, deletions, replacements and swaps of neighbours that turn `a`
/// into `b` (each place edited once), ignoring the case of ASCII letters.
int edit_distance(std::string_view a, std::string_view b);

/// The first of the closest `candidates`, if it is within a third of the length of `name` (at least
/// one edit); nothing otherwise.
std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string>& candidates);

/// "; did you mean X?", or nothing where no candidate is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace phasor
