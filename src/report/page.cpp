#include "report/page.h"

#include "report/summary.h"
#include "report/table.h"
#include "report/tables.h"

namespace phasor {
namespace {

constexpr const char* kStyle = R"css(
:root{color-scheme:light}
*{box-sizing:border-box}
body{margin:0;background:#fff;color:#1d1d1f;
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1120px;margin:0 auto;padding:20px 18px 60px}
h1{font-size:1.75rem;line-height:1.2;margin:.3em 0 .2em}
h2{font-size:1.15rem;margin:2.2em 0 .4em;padding-top:.5em;border-top:1px solid #ddd}
p{margin:.4em 0;max-width:76ch}
ul{margin:.4em 0;padding-left:1.2em;max-width:90ch}
li{margin:.15em 0;overflow-wrap:anywhere}
.lead{font-size:1.05rem;color:#444}
.state{font-weight:600}
.synthetic{background:#fff3cd;border:1px solid #d9b84a;border-radius:4px;padding:.5em .8em}
.note{color:#555;font-size:.88rem}
nav{font-size:.9rem;margin:.8em 0}nav a{margin-right:1em;color:#0b5a94}
figure{margin:0}
.legend{max-width:none;font-size:.88rem}
.legend span{display:inline-block;margin-right:1.2em;white-space:nowrap}
.legend svg{vertical-align:-1px}
.panels{display:grid;gap:16px;margin-top:10px;
grid-template-columns:repeat(var(--columns),minmax(0,calc(var(--width)*1.08)))}
.panels svg{width:100%;height:auto;display:block}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums;min-width:40%}
th,td{padding:.28em .7em;text-align:left;border-bottom:1px solid #e6e6e6;white-space:nowrap}
th{border-bottom:1.5px solid #888;font-weight:600}
th.n,td.n{text-align:right}
tbody tr:hover{background:#f5f8fb}
pre{background:#f6f6f6;border:1px solid #e2e2e2;border-radius:4px;padding:.7em .9em;
font-size:.82rem;line-height:1.4;overflow-x:auto}
details{margin:.6em 0}summary{cursor:pointer}
@media(max-width:820px){.panels{grid-template-columns:repeat(auto-fit,minmax(min(290px,100%),1fr))}
main{padding:12px 12px 40px}h1{font-size:1.45rem}th,td{padding:.28em .45em}}
@media print{body{font-size:10.5pt}main{max-width:none;padding:0}nav{display:none}
section{break-inside:auto}h2{break-after:avoid}.panels svg,tr,pre{break-inside:avoid}
.panels{grid-template-columns:repeat(var(--columns),minmax(0,1fr));gap:8px}
.scroll{overflow:visible}table{font-size:8pt}th,td{padding:.15em .4em;white-space:normal}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
)css";

std::string paragraph(const std::string& text, const char* kind = "") {
  return std::string("<p") + kind + ">" + xml_text(text) + "</p>\n";
}

std::string list(const std::vector<std::string>& lines) {
  std::string out = "<ul>\n";
  for (const std::string& line : lines) out += "<li>" + xml_text(line) + "</li>\n";
  return out + "</ul>\n";
}

std::string section(const std::string& anchor, const std::string& title, const std::string& body) {
  return "<section id=\"" + anchor + "\">\n<h2>" + title + "</h2>\n" + body + "</section>\n";
}

std::string head(const Results& results) {
  const std::string name = xml_text(results.name);
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n";
  out += "<title>" + name + ": phasor report</title>\n<style>" + kStyle + "</style>\n</head>\n";
  out += "<body>\n<main>\n<header>\n<h1>" + name + "</h1>\n";
  if (!results.description.empty()) out += paragraph(results.description, " class=\"lead\"");
  out += paragraph(progress_line(results), " class=\"state\"");
  if (results.synthetic()) out += paragraph(kSyntheticNote, " class=\"synthetic\"");
  out +=
      "<nav><a href=\"#verdicts\">Verdicts</a> <a href=\"#tables\">Tables</a> "
      "<a href=\"#curves\">Curves</a> <a href=\"#assumptions\">Assumptions</a> "
      "<a href=\"#repeat\">Repeat it</a>";
  if (!results.problems.empty()) out += " <a href=\"#missing\">Missing</a>";
  return out + "</nav>\n</header>\n";
}

std::string assumptions(const Results& results) {
  std::vector<std::string> lines;
  for (const std::string& line : data_lines(results)) lines.push_back("Data: " + line);
  for (const std::string& line : assumption_lines(results)) lines.push_back(line);
  for (const std::string& line : verdict_lines(results)) lines.push_back("Verdicts: " + line);
  lines.emplace_back(
      "Means are over all finished seeds, ± is the standard deviation between them; a seed that "
      "ended without an evaluation counts as 0%. Training accuracy is the mean over an epoch.");
  return list(lines);
}

std::string repeat(const Results& results) {
  std::string commands;
  for (const std::string& line : command_lines(results)) commands += line + "\n";
  std::string out;
  const std::string configuration = configuration_text(results);
  if (!configuration.empty()) {
    out +=
        "<p>The first command trains every cell, the second makes this page from the results. "
        "The configuration is the one below, saved as the file that the command names.</p>\n";
  }
  out += "<pre>" + xml_text(commands) + "</pre>\n";
  if (!configuration.empty()) {
    out += "<details>\n<summary>Configuration</summary>\n<pre>" + xml_text(configuration) +
           "</pre>\n</details>\n";
  }
  return out;
}

}  // namespace

std::string report_page(const Results& results, const std::vector<Figure>& figures) {
  std::string out = head(results);
  out += "<div id=\"verdicts\">\n";
  if (!figures.empty()) out += figure_html(figures[0]);
  out += "</div>\n<div id=\"tables\">\n";
  for (const Table& table : result_tables(results)) out += table_html(table);
  out += "</div>\n<div id=\"curves\">\n";
  for (std::size_t i = 1; i < figures.size(); ++i) out += figure_html(figures[i]);
  if (figures.size() < 2) out += section("no-curves", "Curves", paragraph("No cell has a curve."));
  out += "</div>\n";
  out += section("assumptions", "Assumptions", assumptions(results));
  out += section("machine", "Machine", list(machine_lines(results)));
  out += section("repeat", "Repeat it", repeat(results));
  const Table cells = cell_table(results);
  if (!cells.rows.empty()) out += table_html(cells);
  if (!results.problems.empty()) {
    out += section("missing", "Missing", list(problem_lines(results)));
  }
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace phasor
