#include "layers/layer_rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <stdexcept>

namespace phasor::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kThirdParty{"nlohmann/", "Eigen/", "spdlog/", "cxxopts"};
constexpr std::array<std::string_view, 5> kMayNameNorms{"norms", "kernels", "claims", "bench",
                                                        "cli"};
constexpr std::array<std::string_view, 3> kTelling{"norm", "rms", "mrs"};

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

bool is_source(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".h" || extension == ".cpp" || extension == ".inl" || extension == ".cu" ||
         extension == ".cuh";
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Lower case without underscores, so that layer_norm, LayerNorm and layernorm are one name.
std::string folded(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

class Checker {
 public:
  explicit Checker(const fs::path& root) : root_(root), order_(layer_order(root)) {
    // A norm is a *.cpp directly in src/norms; what all norms share lies in folders below.
    for (const auto& entry : fs::directory_iterator(root_ / "src" / "norms")) {
      const std::string name = folded(entry.path().stem().string());
      // Names that are ordinary words (`none`, `scale`) cannot be told from other code.
      const bool telling =
          std::any_of(kTelling.begin(), kTelling.end(),
                      [&](std::string_view part) { return name.find(part) != std::string::npos; });
      if (entry.path().extension() == ".cpp" && telling) norms_.push_back(name);
    }
  }

  std::vector<std::string> run() {
    for (std::size_t level = 0; level < order_.size(); ++level) {
      for (const fs::path& path : files_below(root_ / "src" / order_[level])) {
        if (path.filename() == "CMakeLists.txt") check_depends(path, level);
        if (is_source(path)) check_source(path, level);
      }
    }
    for (const fs::path& path : files_below(root_ / "include")) check_source(path, std::nullopt);
    if (fs::exists(root_ / "src")) check_folders();
    return breaches_;
  }

 private:
  void report(const fs::path& path, std::size_t line, const std::string& what) {
    breaches_.push_back(path.lexically_relative(root_).generic_string() + ":" +
                        std::to_string(line) + ": " + what);
  }

  std::optional<std::size_t> level_of(const std::string& layer) const {
    const auto found = std::find(order_.begin(), order_.end(), layer);
    if (found == order_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - order_.begin());
  }

  void check_folders() {
    for (const auto& entry : fs::directory_iterator(root_ / "src")) {
      const std::string name = entry.path().filename().string();
      if (entry.is_directory() && !level_of(name)) {
        report(entry.path(), 0, "is not in the list of layers of CMakeLists.txt");
      }
    }
  }

  void check_depends(const fs::path& path, std::size_t level) {
    static const std::regex call(R"(phasor_layer\(([^)]*)\))");
    static const std::regex word(R"([^\s]+)");
    const std::string text = read(path);
    std::smatch match;
    if (!std::regex_search(text, match, call)) return;
    const std::string arguments = match[1];
    bool depends = false;
    for (std::sregex_iterator it(arguments.begin(), arguments.end(), word), end; it != end; ++it) {
      const std::string token = it->str();
      if (token == "DEPENDS" || token == "SOURCES" || token == "LIBRARIES") {
        depends = token == "DEPENDS";
      } else if (const auto other = level_of(token); depends && other && *other >= level) {
        report(path, 0, "depends upwards, on " + token);
      }
    }
  }

  /// level: of the layer that the file belongs to; none for a public header.
  void check_source(const fs::path& path, std::optional<std::size_t> level) {
    static const std::regex include(R"(^\s*#\s*include\s*([<"])([^">]+)[">])");
    const bool may_name = level && std::find(kMayNameNorms.begin(), kMayNameNorms.end(),
                                             order_[*level]) != kMayNameNorms.end();
    const std::vector<std::string> lines = lines_of(without_comments(read(path)));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::smatch match;
      if (std::regex_search(lines[i], match, include)) {
        check_include(path, i + 1, level, match[2], match[1] == "\"");
      }
      if (may_name) continue;
      const std::string text = folded(lines[i]);
      for (const std::string& norm : norms_) {
        if (text.find(norm) != std::string::npos) report(path, i + 1, "names the norm " + norm);
      }
    }
  }

  /// CMake makes `target` from a template, or by a script, beside the layer's sources.
  bool generated(std::size_t level, const std::string& target) const {
    const fs::path layer = root_ / "src" / order_[level];
    return fs::exists(layer / (target + ".in")) ||
           fs::exists(layer / ("write_" + fs::path(target).stem().string() + ".cmake"));
  }

  void check_include(const fs::path& path, std::size_t line, std::optional<std::size_t> level,
                     const std::string& target, bool quoted) {
    const std::size_t slash = target.find('/');
    const std::string folder = slash == std::string::npos ? "" : target.substr(0, slash);
    if (folder == "phasor") return;
    const std::optional<std::size_t> other = level_of(folder);
    if (!level) {
      const bool foreign =
          std::any_of(kThirdParty.begin(), kThirdParty.end(),
                      [&](std::string_view library) { return target.starts_with(library); });
      if (other || quoted || foreign) report(path, line, "a public header includes " + target);
    } else if (other && *other > *level) {
      report(path, line, order_[*level] + " includes upwards, " + target);
    } else if (!other && quoted && !generated(*level, target)) {
      report(path, line, "includes " + target + ", which is not of the form \"layer/file.h\"");
    }
  }

  fs::path root_;
  std::vector<std::string> order_;
  std::vector<std::string> norms_;
  std::vector<std::string> breaches_;
};

}  // namespace

std::vector<std::string> layer_order(const fs::path& root) {
  static const std::regex list(R"(foreach\(layer\s+([^)]*)\))");
  static const std::regex word(R"(\w+)");
  const std::string text = read(root / "CMakeLists.txt");
  std::smatch match;
  if (!std::regex_search(text, match, list)) {
    throw std::runtime_error("CMakeLists.txt has no foreach(layer ...)");
  }
  const std::string names = match[1];
  std::vector<std::string> order;
  for (std::sregex_iterator it(names.begin(), names.end(), word), end; it != end; ++it) {
    order.push_back(it->str());
  }
  return order;
}

std::vector<std::string> layer_breaches(const fs::path& root) { return Checker(root).run(); }

std::string without_comments(std::string_view source) {
  std::string out(source);
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t k = from; k < to; ++k) {
      if (out[k] != '\n') out[k] = ' ';
    }
  };
  const auto end_of = [&](std::string_view closing, std::size_t from) {
    const std::size_t found = source.find(closing, from);
    return found == std::string_view::npos ? source.size() : found + closing.size();
  };
  std::size_t i = 0;
  while (i < source.size()) {
    const std::string_view rest = source.substr(i);
    if (rest.starts_with("//")) {
      const std::size_t end = std::min(source.find('\n', i), source.size());
      blank(i, end);
      i = end;
    } else if (rest.starts_with("/*")) {
      const std::size_t end = end_of("*/", i + 2);
      blank(i, end);
      i = end;
    } else if (rest.starts_with("R\"")) {
      const std::size_t open = std::min(source.find('(', i), source.size());
      const std::string delimiter(source.substr(i + 2, open - i - 2));
      i = end_of(")" + delimiter + "\"", open);
    } else if (rest[0] == '"' ||
               (rest[0] == '\'' &&
                (i == 0 || !std::isalnum(static_cast<unsigned char>(source[i - 1]))))) {
      // A quote after a digit separates digits.
      std::size_t end = i + 1;
      while (end < source.size() && source[end] != rest[0] && source[end] != '\n') {
        end += source[end] == '\\' ? 2 : 1;
      }
      i = std::min(end + 1, source.size());
    } else {
      ++i;
    }
  }
  return out;
}

}  // namespace phasor::tests
