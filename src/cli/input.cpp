#include "cli/input.h"

#include <nlohmann/json.hpp>

#include "cli/data_option.h"
#include "config/config_file.h"
#include "norms/contract/plugin.h"
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
          {"kernels", "SET", "auto, reference, baseline, avx2 or avx512"},
          plugin_option()};
}

OptionSpec plugin_option() {
  return {"plugin", "FILE", "a shared object with a further norm (may repeat)", true};
}

void load_plugins(const Arguments& arguments) {
  for (const std::string& path : arguments.all("plugin")) load_norm_plugin(path);
}

std::vector<Setting> input_settings(const Arguments& arguments) {
  std::vector<Setting> settings;
  if (const auto folder = arguments.text("data")) settings = data_settings(*folder);
  add_text(arguments, "out", "run.out", settings);
  add_integer(arguments, "jobs", "run.jobs", settings);
  add_integer(arguments, "threads", "run.threads", settings);
  add_text(arguments, "kernels", "run.kernels", settings);
  for (const std::string& text : arguments.all("set")) settings.push_back(parse_setting(text));
  return settings;
}

ResolvedConfig read_input(const Arguments& arguments) {
  ConfigInput input;
  if (const auto path = arguments.text("config")) {
    ConfigText text = load_config_text(*path);
    input.text = std::move(text.text);
    input.file = std::move(text.file);
  }
  input.settings = input_settings(arguments);
  const std::vector<std::string> further = arguments.all("plugin");
  std::vector<std::string> plugins = plugin_paths(input);
  plugins.insert(plugins.end(), further.begin(), further.end());
  for (const std::string& path : plugins) load_norm_plugin(path);
  if (!further.empty()) {
    input.settings.push_back({"plugins", nlohmann::json(plugins).dump(), "--plugin"});
  }
  return read_config(input, norm_catalog());
}

}  // namespace phasor
