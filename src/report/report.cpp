#include "report/report.h"

#include "core/file.h"
#include "report/curve_figures.h"
#include "report/groups.h"
#include "report/heat_map.h"
#include "report/page.h"
#include "report/summary.h"
#include "report/tables.h"
#include "sweep/results_folder.h"

namespace phasor {
namespace {

std::string source_line(const Results& results) {
  std::string line = "phasor report of " + results.name + ". " + progress_line(results);
  for (const std::string& data : data_lines(results)) line += " " + data;
  if (results.synthetic()) line.append(" ").append(kSyntheticNote);
  return line;
}

}  // namespace

void write_report(const Results& results) {
  const std::filesystem::path folder = ResultsFolder{results.folder}.report();
  make_folders(folder);
  write_file_atomic(folder / "tables.md", tables_markdown(results));
  write_file_atomic(folder / "tables.csv", tables_csv(results));
  write_file_atomic(folder / "tables.tex", tables_latex(results));
  const std::vector<Group> groups = groups_of(results);
  std::vector<Figure> figures;
  if (!groups.empty()) figures.push_back(verdict_map(groups));
  for (Figure& figure : curve_figures(results, groups)) figures.push_back(std::move(figure));
  for (const Figure& figure : figures) {
    write_file_atomic(folder / (figure.name + ".svg"), figure_svg(figure, source_line(results)));
  }
  write_file_atomic(folder / "report.html", report_page(results, figures));
}

}  // namespace phasor
