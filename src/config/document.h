// The table of keys as documents: help, JSON Schema, and the resolved values with their origins.
#pragma once

#include <string>

#include "config/norm_catalog.h"
#include "config/reader.h"

namespace phasor {

/// A Markdown table of all keys: type and range, default, help, whether it is part of the hash.
std::string config_help();

/// JSON Schema (draft-07) of a configuration; norms and their parameters by `catalog`. It refuses
/// what read_config() refuses, but for rules between keys, duplicate keys and equal axis values.
std::string config_schema(const NormCatalog& catalog);

/// One line per key, in the order of the table: `train.lr = 0.1  (file)`; then the axes.
std::string print_config(const ResolvedConfig& resolved);

}  // namespace phasor
