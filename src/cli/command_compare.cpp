// phasor-train compare: two results folders, cell by cell.
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "phasor/error.h"
#include "report/compare.h"

namespace phasor {

int run_compare(const std::vector<std::string>& args) {
  const Usage usage{
      "phasor-train compare",
      "A B [--equal]",
      "Puts the cells of two results folders side by side, with the paired differences "
      "of their test\naccuracy. With --equal it checks that both hold the same results, "
      "byte for byte.",
      {{"phasor-train compare runs/before runs/after", "what changed"},
       {"phasor-train compare runs/one-thread runs/two-threads --equal",
        "exit code 7 where a result differs"}},
      {{"equal", "", "fail where anything but the environment differs"}},
      2,
      2};
  const std::optional<Arguments> arguments = parse_arguments(usage, args);
  if (!arguments) return 0;
  const Results a = load_results(arguments->positional()[0]);
  const Results b = load_results(arguments->positional()[1]);
  if (!arguments->has("equal")) {
    write_out(comparison_markdown(a, b));
    return 0;
  }
  const std::vector<std::string> lines = result_differences(a, b);
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  text += lines.empty() ? "equal: " + std::to_string(a.cells.size()) + " cells\n"
                        : std::to_string(lines.size()) + " differences\n";
  write_out(text);
  return lines.empty() ? 0 : static_cast<int>(ErrorKind::check);
}

}  // namespace phasor
