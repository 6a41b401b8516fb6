// From parsed JSON to checked assignments: the strict walk over sections and axes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/setting.h"

namespace phasor {

/// Appends to `found` what `object` sets in `section` ("" is the top level, whose "$schema" is
/// ignored and whose "sweep" is left to read_axes()), and to `errors` one line for each unknown key
/// and wrong value. `pointer` is the place of `object` in the document.
void read_section(const nlohmann::json& object, const std::string& section,
                  const std::string& pointer, std::vector<Assignment>& found,
                  std::vector<std::string>& errors);

/// The axes of the object `sweep`, in the order of the expansion.
std::vector<Axis> read_axes(const nlohmann::json& sweep, const std::string& pointer,
                            std::vector<std::string>& errors);

/// Sorts axes, slowest first: seed, norm, lr, batch_size, then the others by name.
void sort_axes(std::vector<Axis>& axes);

/// One error line per key that more than one axis sets.
void check_axes_apart(const std::vector<Axis>& axes, std::vector<std::string>& errors);

/// The value of `setting` as JSON of the type that the key `path` has, checked; a usage error names
/// the option, the key and what was expected.
nlohmann::json setting_value(const std::string& path, const Setting& setting);

/// "; did you mean train.epochs?" for a name that is no key: a key with that last word, or the one
/// with the nearest name; empty where none is near.
std::string suggest_key(const std::string& name);

/// All that --set and an axis may name: dotted keys and shorthands.
std::vector<std::string> all_key_names();

}  // namespace phasor
