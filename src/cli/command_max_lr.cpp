// phasor-train max-lr: the largest learning rate that still trains, by bisection.
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/sweep_options.h"
#include "config/json_text.h"
#include "phasor/error.h"
#include "sweep/engine.h"
#include "sweep/max_lr.h"
#include "sweep/results_folder.h"
#include "sweep/scheduler.h"

namespace phasor {
namespace {

using nlohmann::json;

constexpr const char* kSchema = "phasor-max-lr-1";

double number_option(const Arguments& arguments, const std::string& name, double standard) {
  const std::optional<std::string> text = arguments.text(name);
  if (!text) return standard;
  double value = 0;
  const char* end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, value);
  PHASOR_CHECK(read.ec == std::errc() && read.ptr == end && value > 0 && value <= 1e6,
               "[max-lr] --", name, " takes a number above 0, at most 1e6; got ", *text);
  return value;
}

std::string budget_text(const Config& config) {
  std::string text = concat(config.train.epochs, config.train.epochs == 1 ? " epoch" : " epochs");
  if (config.train.max_steps) text += concat(", at most ", *config.train.max_steps, " steps");
  return text;
}

std::string text_or(const std::optional<double>& lr, const char* absent) {
  return lr ? number_text(*lr) : absent;
}

/// "trained 2/3" of a trial's seeds, or the verdict of the only one.
std::string trial_text(const LrTrial& trial) {
  if (trial.verdicts.size() == 1) return concat(number_text(trial.lr), " ", trial.verdicts[0]);
  const auto n = std::count(trial.verdicts.begin(), trial.verdicts.end(), "trained");
  return concat(number_text(trial.lr), " trained ", n, "/", trial.verdicts.size());
}

std::string table_text(const MaxLrSearch& search) {
  std::vector<std::vector<std::string>> rows{
      {"group", "largest lr that trained", "smallest above that did not", "trials"}};
  std::string trials;
  for (const LrGroup& group : search.groups()) {
    rows.push_back({group.label, text_or(group.bracket.trains(), "none"),
                    text_or(group.bracket.fails(), "none"), std::to_string(group.trials.size())});
    trials += concat("\n", group.label, ":");
    for (const LrTrial& trial : group.trials) trials += concat(" ", trial_text(trial), ";");
    if (trials.ends_with(';')) trials.back() = '.';
  }
  return align_columns(rows) + trials + "\n";
}

json number_or_null(const std::optional<double>& value) {
  return value ? json(*value) : json(nullptr);
}

json search_document(const MaxLrSearch& search, const LrRange& range, const Config& config) {
  json groups = json::array();
  for (const LrGroup& group : search.groups()) {
    json trials = json::array();
    for (const LrTrial& trial : group.trials)
      trials.push_back(
          {{"lr", trial.lr}, {"trained", trial.trained()}, {"verdicts", trial.verdicts}});
    groups.push_back({{"label", group.label},
                      {"norm", group.config.norm.name},
                      {"batch_size", group.config.train.batch_size},
                      {"largest_trained", number_or_null(group.bracket.trains())},
                      {"smallest_untrained", number_or_null(group.bracket.fails())},
                      {"trials", std::move(trials)}});
  }
  return {{"schema", kSchema},
          {"name", config.name},
          {"range", {{"from", range.from}, {"to", range.to}, {"ratio", range.ratio}}},
          {"budget", budget_text(config)},
          {"groups", std::move(groups)}};
}

/// Trains the cells of a round; the exit code where that did not bring all verdicts.
int run_round(Plan& plan, SweepOptions& options, StopRequest& stop, Console& console) {
  options.cells.clear();
  for (std::size_t i = 0; i < plan.cells.size(); ++i) options.cells.push_back(i);
  ProgressDisplay display(console);
  const SweepOutcome outcome = run_sweep(plan, options, stop, display);
  console.end_progress();
  return sweep_exit_code(outcome, stop);
}

std::vector<std::string> verdicts_of(const Plan& plan, const ResultsFolder& folder) {
  std::vector<std::string> verdicts;
  for (const PlannedCell& cell : plan.cells) {
    const std::optional<json> document = finished_cell(folder, cell.id);
    const json::json_pointer place("/result/verdict/kind");
    const bool there = document && document->contains(place) && document->at(place).is_string();
    const std::string verdict = there ? document->at(place).get<std::string>() : "";
    if (verdict.empty())
      fail(ErrorKind::io, "[max-lr] ", folder.cell_file(cell.id).string(),
           " holds no verdict; got a file that was changed or removed meanwhile; run again");
    verdicts.push_back(verdict);
  }
  return verdicts;
}

}  // namespace

int run_max_lr(const std::vector<std::string>& args) {
  Usage usage{"phasor-train max-lr",
              "--config FILE [options]",
              "Finds the largest learning rate that still trains, for every combination of the "
              "sweep's other\naxes, by bisection on a logarithmic scale. Each trial is an ordinary "
              "cell with the configuration's\nepochs; a learning rate trains where every seed's "
              "verdict is `trained`. Survival need not be\nmonotone in the learning rate: all "
              "trials are listed. Run again to continue.",
              {{"phasor-train max-lr --config mini.json --set train.epochs=2",
                "three norms x three batch sizes, two epochs a trial"},
               {"phasor-train max-lr --config mini.json --from 0.1 --to 3 --ratio 1.05",
                "closer, in a narrower range"}},
              input_options()};
  const std::vector<OptionSpec> more{
      {"from", "LR", "lower end of the range (default 0.01)"},
      {"to", "LR", "upper end (default 10)"},
      {"ratio", "R", "stop when the bracket's ends differ by this factor (default 1.1)"},
      {"fresh", "", "move an old results folder aside first"}};
  for (const auto& options : {running_options(), more})
    usage.options.insert(usage.options.end(), options.begin(), options.end());
  const std::optional<Arguments> arguments = parse_arguments(usage, args);
  if (!arguments) return 0;
  PHASOR_CHECK(arguments->has("config"),
               "[max-lr] --config FILE says what to train; try --config mini.json, or --help");
  LrRange range;
  range.from = number_option(*arguments, "from", range.from);
  range.to = number_option(*arguments, "to", range.to);
  range.ratio = number_option(*arguments, "ratio", range.ratio);
  sweep_deadline(*arguments);  // refuses a bad one before anything is read

  Console console;
  ResolvedConfig resolved = read_input(*arguments);
  for (const std::string& warning : resolved.warnings) console.warn(warning);
  Config& config = resolved.config;
  config.name += "-max-lr";  // its folder is not that of the sweep
  MaxLrSearch search(config, norm_catalog(), range);
  SweepOptions options = sweep_options(*arguments, config);
  StopRequest stop;
  const SignalGuard signals(stop);
  bool fresh = arguments->has("fresh");
  int code = 0;
  while (std::optional<Plan> plan = search.next_round()) {
    bind_data(*plan);
    for (const std::string& notice : open_results(options.folder, sweep_document(*plan), fresh))
      console.note(notice);
    fresh = false;
    code = run_round(*plan, options, stop, console);
    if (code != 0) break;
    search.record(*plan, verdicts_of(*plan, options.folder));
  }
  Plan tried = search.tried();
  if (!tried.cells.empty()) {
    bind_data(tried);
    open_results(options.folder, sweep_document(tried), false);
  }
  save_object(options.folder.root / "max-lr.json", search_document(search, range, config));
  if (stop.signal.load() == 0)
    write_out(table_text(search) + "\nBudget of a trial: " + budget_text(config) + ".\n");
  console.note("everything is in " + options.folder.root.string() +
               (code == 0 ? "" : "; run again to continue"));
  return code;
}

}  // namespace phasor
