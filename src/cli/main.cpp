// phasor-train: dispatch on the first argument, and errors to exit codes.
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "core/nearest_name.h"
#include "phasor/error.h"

namespace phasor {
namespace {

int dispatch(const std::vector<std::string>& args) {
  if (args.empty() || args[0].starts_with('-')) return run_train(args);
  if (args[0] == "help") {
    return args.size() == 1 ? run_train({"--help"}) : dispatch({args[1], "--help"});
  }
  std::vector<std::string> names{"help", "--version"};
  for (const Command& command : commands()) {
    if (args[0] == command.name) return command.run({args.begin() + 1, args.end()});
    names.emplace_back(command.name);
  }
  const bool is_config = args[0].ends_with(".json");
  fail(ErrorKind::usage, "[phasor-train] unknown command ", args[0].empty() ? "\"\"" : args[0],
       is_config ? "; did you mean --config " + args[0] + "?" : did_you_mean(args[0], names),
       "; see phasor-train --help");
}

int guarded_main(const std::vector<std::string>& args) {
  Console console;
  constexpr const char* kBug = "; this is a bug, please report it with the command line";
  try {
    return dispatch(args);
  } catch (const Error& error) {
    console.error(error.kind() == ErrorKind::internal ? error.what() + std::string(kBug)
                                                      : error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    console.error("[memory] out of memory; a higher memory limit helps");
    return static_cast<int>(ErrorKind::io);
  } catch (const std::system_error& error) {  // a limit of threads, a folder that went away
    console.error(std::string("[system] ") + error.what());
    return static_cast<int>(ErrorKind::io);
  } catch (const std::exception& error) {
    console.error(std::string("[internal] ") + error.what() + kBug);
  } catch (...) {
    console.error(std::string("[internal] unknown exception") + kBug);
  }
  return static_cast<int>(ErrorKind::internal);
}

}  // namespace
}  // namespace phasor

int main(int argc, char** argv) {
  phasor::hold_standard_streams();
  phasor::ignore_write_signals();
  return phasor::guarded_main({argv + (argc > 0 ? 1 : 0), argv + argc});
}
