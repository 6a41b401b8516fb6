// What the configuration must know of the norms. The caller fills it from the registry and the
// plugins, so that this layer names no norm.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "config/config.h"

namespace phasor {

enum class ParamType { boolean, integer, number, string };

/// One parameter of a norm's own, a further key of the section `norm`.
struct NormParam {
  std::string name;
  ParamType type = ParamType::number;
  Scalar default_value;
  std::string range;  ///< In words, for help and messages, e.g. "above 0".
  std::string help;
  double minimum = -std::numeric_limits<double>::infinity();  ///< For integer and number.
  double maximum = std::numeric_limits<double>::infinity();
};

struct NormEntry {
  std::string name;
  std::vector<NormParam> params;
  bool narrow_statistic = false;  ///< Takes norm.stat_dtype and norm.rescue.
};

struct NormCatalog {
  std::vector<NormEntry> norms;

  const NormEntry* find(const std::string& name) const {
    for (const NormEntry& norm : norms) {
      if (norm.name == name) return &norm;
    }
    return nullptr;
  }
};

}  // namespace phasor
