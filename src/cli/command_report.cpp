// phasor-train report: the tables of a results folder.
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/output.h"
#include "report/report.h"
#include "report/results.h"
#include "report/tables.h"

namespace phasor {

int run_report(const std::vector<std::string>& args) {
  const Usage usage{
      "phasor-train report",
      "DIR [options]",
      "Prints the tables of a results folder and writes DIR/report: report.html (one page that\n"
      "needs nothing else), the figures as SVG, tables.md, tables.csv and tables.tex. Partial,\n"
      "mixed and damaged folders are reported as far as they go; equal results give equal bytes.",
      {{"phasor-train report runs/stress", "tables to stdout, the report to runs/stress/report"},
       {"phasor-train report results/mini --csv --print-only",
        "one line per cell, writing nothing"}},
      {{"csv", "", "print the CSV instead of Markdown"}, {"print-only", "", "write no files"}},
      1,
      1};
  const std::optional<Arguments> arguments = parse_arguments(usage, args);
  if (!arguments) return 0;
  const Results results = load_results(arguments->positional()[0]);
  if (!arguments->has("print-only")) write_report(results);
  write_out(arguments->has("csv") ? tables_csv(results) : tables_markdown(results));
  return 0;
}

}  // namespace phasor
