// The configuration as JSON, and the hashes by which results are found again.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"

namespace phasor {

/// The whole resolved configuration as a document that read_config() takes; every key is written.
std::string config_json(const Config& config, int indent = 2);

/// Canonical JSON of what determines the result by the table (no name, paths, run, sweep).
std::string result_json(const Config& config);

/// What determines the result of a cell beyond its configuration.
struct IdentityExtras {
  std::string data_digest = {};    ///< Of train and test set.
  std::string plugin_digest = {};  ///< Of the plugin that brings the norm; empty without.
  std::string kernel_class = {};   ///< "fma" or "baseline".
  std::int64_t numerics = 0;       ///< Raised whenever bits change.
  std::string init_digest = {};    ///< Of the file train.init_from; empty without.
};

/// What determines the result of `cell`, and the first 8 hexadecimal digits of its SHA-256. The
/// caller has put written choices in place of `auto` (lanes, micro_batch) before.
struct CellIdentity {
  std::string canonical;
  std::string hash;
};
CellIdentity cell_identity(const Config& cell, const IdentityExtras& extras);

/// 8 hexadecimal digits that a results folder and a configuration share when the one may continue
/// the other: result_json() of the configuration without its axes.
std::string compatibility_hash(const Config& config);

/// SHA-256 of `text` in hexadecimal, the first `digits` of it.
std::string short_hash(const std::string& text, std::size_t digits = 8);

}  // namespace phasor
