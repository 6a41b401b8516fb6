// phasor-train --config FILE: the main job, a sweep from its configuration to its tables.
#include <algorithm>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/dry_run.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/sweep_options.h"
#include "config/document.h"
#include "phasor/error.h"
#include "report/report.h"
#include "report/results.h"
#include "report/tables.h"
#include "sweep/engine.h"
#include "sweep/environment.h"
#include "sweep/plan.h"
#include "sweep/scheduler.h"

namespace phasor {
namespace {

std::string command_list() {
  std::string out = "Commands (phasor-train COMMAND --help):\n";
  for (const Command& command : commands()) {
    std::string name(command.name);
    name.resize(12, ' ');
    out += "  " + name + std::string(command.summary) + "\n";
  }
  return out;
}

constexpr const char* kProgress =
    "Progress on stderr: cells with a result, the training speed of this process (all of its jobs\n"
    "together, evaluations apart), and the time left for all cells at its pace so far.\n\n";

Usage train_usage() {
  Usage usage{"phasor-train",
              "--config FILE [options]   or   phasor-train COMMAND ...",
              "Trains every cell of a sweep (norm x learning rate x batch size ...) and prints its "
              "tables.\nRun again with the same folder to continue: a finished cell never runs "
              "twice.",
              {{"phasor-train --config smoke.json", "three norms on built-in images, in a minute"},
               {"phasor-train --config stress.json --data data/cifar-100-binary",
                "the whole sweep on real CIFAR-100"},
               {"phasor-train --config stress.json --filter lr=0.4,batch_size=128 --dry-run",
                "what part of it would run, and how long"},
               {"phasor-train --config stress.json --stop-after 150m",
                "as far as it comes in 150 minutes"}},
              input_options()};
  const std::vector<OptionSpec> more{
      {"filter", "LIST", "only these cells: lr=0.4,norm=NAME (values of one key add up)"},
      {"shard", "I/N", "only every N-th cell, from number I (0 to N-1)"},
      {"dry-run", "", "print cells, parameters, FLOPs, memory and time; train nothing"},
      {"print-config", "", "print every key with its value and where it came from"},
      {"fresh", "", "move an old results folder aside first"},
      {"version", "", "print version, commit and compiler"}};
  for (const auto& options : {running_options(), more})
    usage.options.insert(usage.options.end(), options.begin(), options.end());
  usage.notes = kProgress + command_list();
  return usage;
}

Selection selection_of(const Arguments& arguments) {
  Selection selection;
  selection.filter = arguments.text("filter").value_or("");
  if (const auto shard = arguments.text("shard")) {
    std::tie(selection.shard, selection.shards) = parse_shard(*shard);
  }
  return selection;
}

std::string say_outcome(const SweepOutcome& outcome, const std::string& out) {
  std::string text = concat(outcome.finished,
                            outcome.finished == 1 ? " cell has a result" : " cells have a result");
  if (outcome.failed > 0) text += concat(", ", outcome.failed, " failed");
  if (outcome.unfinished > 0) text += concat(", ", outcome.unfinished, " unfinished");
  if (outcome.failed + outcome.unfinished > 0) text += ": run again to continue";
  return text + "; everything is in " + out;
}

int train(const Arguments& arguments, const Plan& plan, const std::vector<std::size_t>& cells,
          Console& console) {
  SweepOptions options = sweep_options(arguments, plan.config);
  options.cells = cells;
  StopRequest stop;
  const SignalGuard signals(stop);
  for (const std::string& notice :
       open_results(options.folder, sweep_document(plan), arguments.has("fresh"))) {
    console.note(notice);
  }
  ProgressDisplay display(console);
  const SweepOutcome outcome = run_sweep(plan, options, stop, display);
  console.end_progress();
  int code = sweep_exit_code(outcome, stop);
  // The cells are safe: say what else goes wrong, and let an earlier failure keep its exit code.
  const auto attempt = [&](const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      console.error(error.what());
      if (code == 0) code = error.exit_code();
    }
  };
  attempt([&] {
    const Results results = load_results(options.folder.root);
    attempt([&] { write_report(results); });
    if (stop.signal.load() == 0) write_out(tables_markdown(results));
  });
  console.note(say_outcome(outcome, options.folder.root.string()));
  return code;
}

int dry_run(const Plan& plan, const std::vector<std::size_t>& cells) {
  const ResultsFolder folder{output_path(plan.config)};
  std::vector<bool> finished;
  for (const std::size_t number : cells) {
    finished.push_back(finished_cell(folder, plan.cells[number].id).has_value());
  }
  write_out(dry_run_text(plan, cells, finished, static_cast<int>(plan.config.run.jobs),
                         static_cast<int>(plan.config.run.threads)));
  return 0;
}

}  // namespace

int run_train(const std::vector<std::string>& args) {
  const Usage usage = train_usage();
  const std::optional<Arguments> arguments = parse_arguments(usage, args);
  if (!arguments) return 0;
  if (arguments->has("version")) {
    write_out("phasor-train " + version_text() + "\n");
    return 0;
  }
  PHASOR_CHECK(arguments->has("config"),
               "[phasor-train] --config FILE says what to run; try --config smoke.json, or --help");
  const Selection selection = selection_of(*arguments);
  sweep_deadline(*arguments);  // refuses a bad one before anything is read
  Console console;
  const ResolvedConfig resolved = read_input(*arguments);
  for (const std::string& warning : resolved.warnings) console.warn(warning);
  if (arguments->has("print-config")) {
    write_out(print_config(resolved));
    return 0;
  }
  Plan plan = plan_cells(resolved.config, norm_catalog());
  const std::vector<std::size_t> cells = select_cells(plan, selection);
  bind_data(plan);
  for (const auto& [name, dataset] : plan.datasets) {
    for (const std::string& line : dataset->description()) console.note(line);
  }
  return arguments->has("dry-run") ? dry_run(plan, cells) : train(*arguments, plan, cells, console);
}

}  // namespace phasor
