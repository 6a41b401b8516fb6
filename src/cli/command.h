// The commands of phasor-train: to add one, write command_<name>.cpp and a row in commands.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace phasor {

struct Command {
  std::string_view name;
  std::string_view summary;
  /// Takes the arguments after the name; returns the exit code. Errors are thrown.
  int (*run)(const std::vector<std::string>& args);
};

/// All commands that have a name; training, the main job, has none.
std::span<const Command> commands();

int run_train(const std::vector<std::string>& args);

int run_check_norm(const std::vector<std::string>& args);
int run_compare(const std::vector<std::string>& args);
int run_describe(const std::vector<std::string>& args);
int run_eval(const std::vector<std::string>& args);
int run_make_data(const std::vector<std::string>& args);
int run_max_lr(const std::vector<std::string>& args);
int run_new_norm(const std::vector<std::string>& args);
int run_norms(const std::vector<std::string>& args);
int run_report(const std::vector<std::string>& args);
int run_schema(const std::vector<std::string>& args);
int run_verify(const std::vector<std::string>& args);

}  // namespace phasor
