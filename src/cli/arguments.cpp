#include "cli/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cxxopts.hpp>

#include "cli/output.h"
#include "core/nearest_name.h"
#include "phasor/error.h"

namespace phasor {
namespace {

constexpr const char* kPositional = "positional-arguments";

constexpr const char* kExitCodes = R"(Exit codes:
  0  every selected cell has a result (a diverged cell is a result)
  1  a bug of this program           5  reading, writing or memory failed
  2  command line or configuration   6  some cell failed
  3  data                            7  a check failed (verify, check-norm, compare)
  4  plugin                          8  stopped by --stop-after, state saved
  129, 130, 143  hung up, interrupted, ended: state saved, run again to continue
)";

std::string option_text(const OptionSpec& option) {
  return "--" + option.name + (option.value.empty() ? "" : ' ' + option.value);
}

[[noreturn]] void fail_usage(const Usage& usage, const std::string& text) {
  fail(ErrorKind::usage, '[', usage.command, "] ", text, "; see ", usage.command, " --help");
}

cxxopts::Options make_parser(const Usage& usage) {
  cxxopts::Options parser(usage.command);
  parser.allow_unrecognised_options();  // reported by us, with the nearest name
  auto add = parser.add_options();
  add("h,help", "");
  for (const OptionSpec& option : usage.options) {
    if (option.value.empty()) {
      add(option.name, "");
    } else {
      // Read as text, once per occurrence: cxxopts would split lists at commas and read 0x10.
      add(option.name, "", cxxopts::value<std::string>());
    }
  }
  add(kPositional, "", cxxopts::value<std::vector<std::string>>());
  parser.parse_positional(kPositional);
  return parser;
}

[[noreturn]] void fail_unknown(const Usage& usage, const std::string& argument) {
  std::vector<std::string> names{"--help"};
  for (const OptionSpec& option : usage.options) names.push_back("--" + option.name);
  const std::string name = argument.substr(0, argument.find('='));
  fail_usage(usage, "unknown option " + name + did_you_mean(name, names));
}

}  // namespace

bool Arguments::has(const std::string& option) const { return !all(option).empty(); }

std::optional<std::string> Arguments::text(const std::string& option) const {
  const std::vector<std::string> values = all(option);
  if (values.empty()) return std::nullopt;
  return values.front();
}

std::vector<std::string> Arguments::all(const std::string& option) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : given_) {
    if (name == option) values.push_back(value);
  }
  return values;
}

std::optional<std::int64_t> Arguments::integer(const std::string& option, std::int64_t least,
                                               std::int64_t most) const {
  const std::optional<std::string> value = text(option);
  if (!value) return std::nullopt;
  const std::optional<std::int64_t> number = parse_integer(*value);
  PHASOR_CHECK(number && *number >= least && *number <= most, "[command line] --", option,
               " takes a whole number from ", least, " to ", most, "; got ", *value);
  return number;
}

std::optional<Arguments> parse_arguments(const Usage& usage, const std::vector<std::string>& args) {
  for (const OptionSpec& option : usage.options) {
    if (!option.value.empty() && !args.empty() && args.back() == "--" + option.name) {
      fail_usage(usage, option_text(option) + " needs a value; got none");
    }
  }
  std::vector<const char*> argv{usage.command.c_str()};
  for (const std::string& arg : args) argv.push_back(arg.c_str());
  Arguments out;
  try {
    cxxopts::Options parser = make_parser(usage);
    const cxxopts::ParseResult result = parser.parse(static_cast<int>(argv.size()), argv.data());
    if (result.count("help") > 0) {
      write_out(help_text(usage));
      return std::nullopt;
    }
    for (const std::string& argument : result.unmatched()) {
      if (argument.size() > 1 && argument[0] == '-') fail_unknown(usage, argument);
      fail_usage(usage, "unexpected argument " + argument);
    }
    for (const cxxopts::KeyValue& given : result.arguments()) {
      if (given.key() == kPositional) {
        out.positional_.push_back(given.value());
      } else {
        out.given_.emplace_back(given.key(), given.value());
      }
    }
  } catch (const cxxopts::exceptions::exception& error) {
    fail_usage(usage, error.what());
  }
  for (const OptionSpec& option : usage.options) {
    const std::vector<std::string> values = out.all(option.name);
    if (values.size() > 1 && !option.repeats) {
      fail_usage(usage,
                 "--" + option.name + " is given " + std::to_string(values.size()) + " times");
    }
    for (const std::string& value : values) {
      if (option.value.empty()) {
        if (value != "true")
          fail_usage(usage, "--" + option.name + " takes no value; got " + value);
        continue;
      }
      if (value.empty() || value.starts_with("--")) {
        fail_usage(usage, option_text(option) + " needs a value; got \"" + value + '"');
      }
    }
  }
  for (const std::string& argument : out.positional_) {
    if (argument.size() > 1 && argument[0] == '-') fail_unknown(usage, argument);
  }
  const std::size_t count = out.positional_.size();
  if (count < usage.least_positional) fail_usage(usage, "expected " + usage.synopsis);
  if (count > usage.most_positional) {
    fail_usage(usage, "unexpected argument " + out.positional_[usage.most_positional]);
  }
  return out;
}

std::string help_text(const Usage& usage) {
  std::string out =
      "Usage: " + usage.command + ' ' + usage.synopsis + "\n\n" + usage.summary + "\n";
  if (!usage.examples.empty()) out += "\nExamples:\n";
  for (const auto& [line, meaning] : usage.examples) {
    out += "  " + line + "\n      " + meaning + "\n";
  }
  out += "\nOptions:\n";
  std::vector<OptionSpec> options = usage.options;
  options.push_back({"help", "", "this text; so does -h"});
  std::size_t width = 0;
  for (const OptionSpec& option : options) width = std::max(width, option_text(option).size());
  for (const OptionSpec& option : options) {
    const std::string name = option_text(option);
    out += "  " + name + std::string(width - name.size() + 2, ' ') + option.help + "\n";
  }
  if (!usage.notes.empty()) out += "\n" + usage.notes;
  return out + "\n" + kExitCodes;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double parse_duration(const std::string& text) {
  double value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  const double seconds = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  constexpr double kLongest = 1e9;
  PHASOR_CHECK(error == std::errc() && seconds > 0 && value > 0 && value * seconds < kLongest,
               "[command line] a duration is a number above 0 with s, m or h, like 150m; got ",
               text);
  return value * seconds;
}

std::pair<std::size_t, std::size_t> parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto first = parse_integer(std::string_view(text).substr(0, slash));
  const auto second = slash == std::string::npos
                          ? std::nullopt
                          : parse_integer(std::string_view(text).substr(slash + 1));
  PHASOR_CHECK(first && second && *first >= 0 && *first < *second,
               "[command line] --shard takes i/n with i from 0 to n-1; got ", text);
  return {static_cast<std::size_t>(*first), static_cast<std::size_t>(*second)};
}

}  // namespace phasor
