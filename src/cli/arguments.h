// Arguments of one command: strict parsing and the help that belongs to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace phasor {

struct OptionSpec {
  std::string name;   ///< without dashes
  std::string value;  ///< what it takes, e.g. "FILE"; empty for a switch
  std::string help;
  bool repeats = false;  ///< may be given several times
};

/// What a command takes, and how its help explains it.
struct Usage {
  std::string command;                                        ///< "phasor-train report"
  std::string synopsis;                                       ///< "DIR [options]"
  std::string summary;                                        ///< one or two sentences
  std::vector<std::pair<std::string, std::string>> examples;  ///< line, what it does
  std::vector<OptionSpec> options;
  std::size_t least_positional = 0, most_positional = 0;
  std::string notes = {};  ///< stands after the options
};

class Arguments {
 public:
  bool has(const std::string& option) const;
  /// The value of an option that was given; an empty value is refused.
  std::optional<std::string> text(const std::string& option) const;
  std::vector<std::string> all(const std::string& option) const;
  /// A whole number between the limits, read without locale; anything else is a usage error.
  std::optional<std::int64_t> integer(const std::string& option, std::int64_t least,
                                      std::int64_t most) const;
  const std::vector<std::string>& positional() const { return positional_; }

 private:
  friend std::optional<Arguments> parse_arguments(const Usage&, const std::vector<std::string>&);
  std::vector<std::pair<std::string, std::string>> given_;
  std::vector<std::string> positional_;
};

/// Parses the arguments after the command's name. Unknown options (with the nearest name), repeats,
/// missing values and a wrong count of positional arguments are usage errors. Nothing where --help
/// was asked for: it has been printed to stdout.
std::optional<Arguments> parse_arguments(const Usage& usage, const std::vector<std::string>& args);

/// The help of a command: examples first, then options and exit codes.
std::string help_text(const Usage& usage);

/// A whole decimal number with nothing around it, or nothing.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// Seconds of "90s", "150m" or "2h"; the number may have a fraction. A usage error otherwise.
double parse_duration(const std::string& text);

/// "1/4" as {1, 4}; a usage error unless 0 <= first < second.
std::pair<std::size_t, std::size_t> parse_shard(const std::string& text);

}  // namespace phasor
