// Reads a configuration: text and command line in, checked values with their origins out.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/norm_catalog.h"
#include "config/setting.h"

namespace phasor {

/// Everything that says what to run.
struct ConfigInput {
  std::string text = "{}";  ///< JSON; comments are allowed.
  std::string file;         ///< Its name in messages, and the default of `name`.
  std::vector<Setting> settings = {};
};

struct ResolvedConfig {
  Config config;
  /// Dotted keys and "sweep.<axis>" -> "file" or the option that set it; absent keys are defaults.
  std::map<std::string, std::string> origins;
  std::vector<std::string> warnings;  ///< One line each.
};

/// Reads, checks and resolves. One usage error lists all faults, one line each:
/// `/train/momentun: unknown key; did you mean momentum?`. Every cell of the sweep is checked too.
/// A setting of a swept key replaces its axis.
ResolvedConfig read_config(const ConfigInput& input, const NormCatalog& catalog);

/// `plugins` of the input, read before the norms are known; empty where they are absent or wrong
/// (read_config() says so).
std::vector<std::string> plugin_paths(const ConfigInput& input);

}  // namespace phasor
