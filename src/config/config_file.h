// Where the text of a configuration comes from: a file, or one of those shipped in the program.
#pragma once

#include <string>
#include <vector>

namespace phasor {

struct ShippedConfig {
  const char* name;  ///< "smoke.json"
  const char* text;
};

/// The files of configs/ as they were when the program was built, by name.
const std::vector<ShippedConfig>& shipped_configs();

struct ConfigText {
  std::string text;
  std::string file;  ///< The path read, or the name of the shipped configuration.
  bool shipped = false;
};

/// Reads `path` (relative to the working directory). A bare name that is not found there, with or
/// without ".json", is taken from the shipped ones. A missing file, a folder and binary content are
/// usage errors; a file that cannot be read is an I/O error.
ConfigText load_config_text(const std::string& path);

}  // namespace phasor
