// phasor-train schema: the JSON Schema of configurations, or their keys as a table.
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "config/document.h"
#include "sweep/engine.h"

namespace phasor {

int run_schema(const std::vector<std::string>& args) {
  const Usage usage{"phasor-train schema",
                    "[options]",
                    "Prints the JSON Schema (draft-07) of configurations.",
                    {{"phasor-train schema > phasor.schema.json",
                      "for editors: name it as \"$schema\" in a configuration"},
                     {"phasor-train schema --keys", "every key with type, default and meaning"}},
                    {{"keys", "", "print a Markdown table of the keys instead"}, plugin_option()}};
  const std::optional<Arguments> arguments = parse_arguments(usage, args);
  if (!arguments) return 0;
  load_plugins(*arguments);
  std::string text = arguments->has("keys") ? config_help() : config_schema(norm_catalog());
  if (!text.ends_with('\n')) text += '\n';
  write_out(text);
  return 0;
}

}  // namespace phasor
