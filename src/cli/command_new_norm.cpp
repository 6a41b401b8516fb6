// phasor-train new-norm: a project for a norm of one's own, complete as it is.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "core/file.h"
#include "norms/contract/registry.h"
#include "phasor/error.h"

namespace phasor {
namespace {

namespace fs = std::filesystem;

/// `@` stands for the norm's name in all three.
constexpr std::string_view kBuildFile = R"(cmake_minimum_required(VERSION 3.22)
project(@ LANGUAGES CXX)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_package(phasor REQUIRED)
phasor_add_norm_plugin(@ @.cpp)
)";

constexpr std::string_view kNormFile = R"file(// @: say here what it does, and where it comes from.
//
//   out_c = gamma_c power x_c / sqrt(mean(x^2) + eps)
//
// This is RMSNorm times a constant, to start from. One class, one norm_spec(); no backward pass is
// needed, the ops of phasor/ops.h bring theirs. `phasor-train check-norm` tries them.
#include "phasor/norm.h"

namespace phasor::norms::@ {
namespace {

// One layer. It runs in several threads at once, so it holds what the constructor set and no more.
class Layer final : public Norm {
 public:
  explicit Layer(NormBuilder& builder)
      : affine_(builder.affine()), eps_(builder.eps()), power_(builder.number("power")) {
    // Learnable numbers, by the names that checkpoints use. `norm.affine: false` means none.
    if (affine_) {
      gamma_ = builder.parameter("weight", {builder.channels()}, builder.gamma_init());
    }
  }

  // x is [rows, positions, channels]; what is normalised together is a row, axes 1 and 2. The
  // result has the same shape.
  Var forward(const NormContext& context, const Var& x) const override {
    const Var size = sqrt(mean(square(x), {1, 2}) + eps_);  // [rows, 1, 1]
    // divide_or_zero: a row of zeros stays zero when eps is 0.
    const Var out = divide_or_zero(x, size) * power_;
    return affine_ ? out * context.parameter(gamma_) : out;
  }

 private:
  bool affine_;
  double eps_;
  double power_;
  int gamma_ = 0;
};

}  // namespace

// What phasor knows of the norm: listed by `norms`, validated in configurations, tested by
// `check-norm`. The name is that of this file.
NormSpec norm_spec() {
  return {.name = "@",
          .help = "one line on what it does",
          .formula = "gamma power x / sqrt(mean(x^2) + eps)",
          // Claim only what holds: check-norm tries each. The others are shift_invariant,
          // phase_preserving, needs_even_channels and batch_statistics.
          .properties = {.scale_invariant = true},
          // Keys of its own in the section `norm` of a configuration, with type, default and range.
          .keys = {{.name = "power",
                    .standard = 1.0,
                    .help = "root mean square of the result before the gain",
                    .minimum = 0}},
          .make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
            return std::make_unique<Layer>(builder);
          }};
}

}  // namespace phasor::norms::@
)file";

constexpr std::string_view kReadme = R"(# @

A normalisation layer for phasor, in one file: `@.cpp`.

    cmake -S . -B build -DCMAKE_PREFIX_PATH=PREFIX   # where phasor is installed
    cmake --build build
    phasor-train check-norm build/@.so
    phasor-train norms @ --plugin build/@.so
    phasor-train --config smoke.json --plugin build/@.so --set norm.name=@

`PREFIX` is that of `cmake --install BUILD --prefix PREFIX`. In a configuration, name the file in
`plugins` and the norm in `norm.name` or in `sweep.norm`.

The same file also works inside phasor: in `src/norms`, or in a folder that `-DPHASOR_NORM_DIRS=`
names. A plugin belongs to one build of phasor-train; after an update, build it again.
)";

/// Names that C++ or the namespace phasor has taken.
constexpr std::string_view kTaken[] = {
    "abs",       "alignas",   "alignof",  "and",       "asm",       "auto",     "bitand",
    "bitor",     "bool",      "break",    "broadcast", "case",      "catch",    "channels",
    "char",      "class",     "compl",    "concat",    "concept",   "const",    "consteval",
    "constexpr", "constinit", "continue", "conv2d",    "decltype",  "default",  "delete",
    "dispatch",  "do",        "double",   "draw",      "else",      "enum",     "exp",
    "explicit",  "export",    "extern",   "fail",      "false",     "float",    "for",
    "friend",    "goto",      "if",       "inline",    "int",       "kernels",  "linear",
    "long",      "magnitude", "main",     "mean",      "modulus",   "mutable",  "namespace",
    "new",       "noexcept",  "norms",    "not",       "nullptr",   "operator", "or",
    "phasor",    "phasors",   "philox",   "private",   "protected", "public",   "register",
    "relu",      "requires",  "reshape",  "return",    "short",     "signed",   "sizeof",
    "sqrt",      "square",    "static",   "std",       "struct",    "sum",      "switch",
    "tanh",      "template",  "test",     "this",      "throw",     "true",     "try",
    "typedef",   "typeid",    "typename", "uniform",   "union",     "unix",     "unsigned",
    "using",     "virtual",   "void",     "volatile",  "while",     "xor"};

void check_name(const std::string& name) {
  constexpr std::size_t kLongest = 40;
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const bool plain =
      !name.empty() && name.size() <= kLongest && is_lower(name[0]) &&
      std::all_of(name.begin(), name.end(),
                  [&](char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_'; }) &&
      name.find("__") == std::string::npos;
  PHASOR_CHECK(
      plain,
      "[new-norm] a norm's name starts with a small letter, then has small letters, digits "
      "and single underscores, 40 at most; got ",
      name);
  PHASOR_CHECK(std::find(std::begin(kTaken), std::end(kTaken), name) == std::end(kTaken),
               "[new-norm] C++ or phasor has taken the name ", name, "; choose another");
  for (const NormSpec& spec : norm_specs()) {
    PHASOR_CHECK(spec.name != name, "[new-norm] there is a norm ", name, " already: ", spec.formula,
                 "; choose another name");
  }
}

std::string filled(std::string_view text, const std::string& name) {
  std::string out;
  for (const char c : text) {
    if (c == '@') {
      out += name;
    } else {
      out += c;
    }
  }
  return out;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  PHASOR_CHECK(!fs::exists(folder, error) ||
                   (fs::is_directory(folder, error) && fs::is_empty(folder, error)),
               "[new-norm] ", folder.string(), " exists already; choose another --out");
  fs::create_directories(folder, error);
  if (error) {
    fail(ErrorKind::io, "[new-norm] cannot make the folder ", folder.string(), ": ",
         error.message());
  }
}

}  // namespace

int run_new_norm(const std::vector<std::string>& args) {
  const Usage usage{
      "phasor-train new-norm",
      "NAME [--out DIR]",
      "Writes a project for a norm of your own: NAME.cpp, CMakeLists.txt and README.md. It builds "
      "and\npasses check-norm as it is; then change the formula.",
      {{"phasor-train new-norm softclip", "into the folder softclip"}},
      {{"out", "DIR", "the folder to make (default: NAME)"}},
      1,
      1};
  const std::optional<Arguments> arguments = parse_arguments(usage, args);
  if (!arguments) return 0;
  const std::string name = arguments->positional()[0];
  check_name(name);
  const fs::path folder = arguments->text("out").value_or(name);
  make_folder(folder);
  write_file_atomic(folder / "CMakeLists.txt", filled(kBuildFile, name));
  write_file_atomic(folder / (name + ".cpp"), filled(kNormFile, name));
  write_file_atomic(folder / "README.md", filled(kReadme, name));
  write_out("wrote " + (folder / (name + ".cpp")).string() +
            ", CMakeLists.txt and README.md; next:\n  cmake -S " + folder.string() + " -B " +
            (folder / "build").string() + " -DCMAKE_PREFIX_PATH=PREFIX && cmake --build " +
            (folder / "build").string() + "\n  phasor-train check-norm " +
            (folder / "build" / (name + ".so")).string() + "\n");
  return 0;
}

}  // namespace phasor
