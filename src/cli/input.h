// The configuration of a command: what --config names, under the settings of the command line.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "config/reader.h"

namespace phasor {

/// The options that read_input() understands.
std::vector<OptionSpec> input_options();

/// Reads the configuration that the arguments describe. Without --config it is empty but for the
/// settings, which then must name a norm.
ResolvedConfig read_input(const Arguments& arguments);

}  // namespace phasor
