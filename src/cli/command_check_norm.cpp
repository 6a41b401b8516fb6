// phasor-train check-norm: the conformance kit on one norm.
#include "check/conformance.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"
#include "norms/contract/plugin.h"
#include "norms/contract/registry.h"
#include "phasor/error.h"

namespace phasor {

int run_check_norm(const std::vector<std::string>& args) {
  const Usage usage{
      "phasor-train check-norm",
      "NAME|FILE [options]",
      "Tries a norm as the tests do: gradients in double, declared properties, extreme "
      "rows, every\nkernel set, the fused pair against its definition. Exit code 7 "
      "where something fails.",
      {{"phasor-train norms", "the names there are"},
       {"phasor-train check-norm build/softclip.so", "the norm of a plugin"}},
      {{"all", "", "print every check, not only those that failed"}, plugin_option()},
      1,
      1};
  const std::optional<Arguments> arguments = parse_arguments(usage, args);
  if (!arguments) return 0;
  load_plugins(*arguments);
  const std::string& given = arguments->positional()[0];
  const bool is_file = given.find('/') != std::string::npos || given.ends_with(".so");
  const NormSpec& spec = find_norm(is_file ? load_norm_plugin(given) : given);
  const check::ConformanceReport report = check::check_norm(spec);
  std::size_t failed = 0;
  for (const check::CheckLine& line : report.lines) failed += line.passed ? 0 : 1;
  std::string text = report.str(arguments->has("all"));
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += spec.name + ": " + std::to_string(report.lines.size()) + " checks, " +
          (failed == 0 ? "all passed" : std::to_string(failed) + " failed") + '\n';
  write_out(text);
  return report.passed() ? 0 : static_cast<int>(ErrorKind::check);
}

}  // namespace phasor
