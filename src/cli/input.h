// The configuration of a command: what --config names, under the settings of the command line.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "config/reader.h"

namespace phasor {

/// The options that read_input() understands.
std::vector<OptionSpec> input_options();

/// The option of every command that knows norms.
OptionSpec plugin_option();

/// Loads what --plugin names.
void load_plugins(const Arguments& arguments);

/// The settings of --data, --out, --jobs, --threads, --kernels and --set, in this order.
std::vector<Setting> input_settings(const Arguments& arguments);

/// Reads the configuration that the arguments describe, and loads its plugins and those of --plugin
/// before. Without --config it is empty but for the settings, which then must name a norm.
ResolvedConfig read_input(const Arguments& arguments);

}  // namespace phasor
