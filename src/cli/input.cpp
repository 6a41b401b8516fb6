#include "cli/input.h"

#include <nlohmann/json.hpp>

#include "cli/data_option.h"
#include "config/config_file.h"
#include "sweep/engine.h"

namespace phasor {
namespace {

constexpr std::int64_t kMostThreads = 1024;

void add_integer(const Arguments& arguments, const char* option, const char* key,
                 std::vector<Setting>& settings) {
  if (const auto value = arguments.integer(option, 0, kMostThreads)) {
    settings.push_back({key, std::to_string(*value), std::string("--") + option});
  }
}

void add_text(const Arguments& arguments, const char* option, const char* key,
              std::vector<Setting>& settings) {
  if (const auto value = arguments.text(option)) {
    settings.push_back({key, nlohmann::json(*value).dump(), std::string("--") + option});
  }
}

}  // namespace

std::vector<OptionSpec> input_options() {
  return {{"config", "FILE", "configuration (JSON), or the name of one that is built in"},
          {"data", "DIR", "folder of the data set; its kind is seen from the content"},
          {"set", "KEY=VALUE", "set one key, e.g. --set train.epochs=2 (may repeat)", true},
          {"kernels", "SET", "auto, reference, baseline, avx2 or avx512"}};
}

ResolvedConfig read_input(const Arguments& arguments) {
  ConfigInput input;
  if (const auto path = arguments.text("config")) {
    ConfigText text = load_config_text(*path);
    input.text = std::move(text.text);
    input.file = std::move(text.file);
  }
  if (const auto folder = arguments.text("data")) input.settings = data_settings(*folder);
  add_text(arguments, "out", "run.out", input.settings);
  add_integer(arguments, "jobs", "run.jobs", input.settings);
  add_integer(arguments, "threads", "run.threads", input.settings);
  add_text(arguments, "kernels", "run.kernels", input.settings);
  for (const std::string& text : arguments.all("set")) {
    input.settings.push_back(parse_setting(text));
  }
  return read_config(input, norm_catalog());
}

}  // namespace phasor
