#include "norms/contract/plugin.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <vector>

#include "core/file.h"
#include "core/sha256.h"
#include "norms/contract/registry.h"
#include "phasor/plugin.h"

namespace phasor {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kPatience = 20;  // seconds that the first try may take

struct LoadedPlugin {
  fs::path path;
  std::string digest;
  std::string norm;
};

std::vector<LoadedPlugin>& loaded_plugins() {
  static std::vector<LoadedPlugin> plugins;
  return plugins;
}

template <class... Parts>
[[noreturn]] void refuse(const fs::path& path, const Parts&... parts) {
  fail(ErrorKind::plugin, "[plugin] ", path.string(), ": ", parts...);
}

/// The digest of a file that can be read and is an ELF shared object.
std::string shared_object_digest(const fs::path& path) {
  constexpr std::size_t kTypeAt = 16;
  constexpr char kSharedObject = 3;  // ET_DYN
  const std::string bytes = read_file(path, ErrorKind::plugin);
  if (!bytes.starts_with("\177ELF") || bytes.size() <= kTypeAt + 1 ||
      (bytes[kTypeAt] != kSharedObject && bytes[kTypeAt + 1] != kSharedObject)) {
    refuse(path, "is no shared object; build it with phasor_add_norm_plugin");
  }
  return sha256_hex(bytes.data(), bytes.size());
}

/// Loads the file and checks that its entry is of this build. Runs the file's static constructors
/// and nothing else of it.
const PluginEntry& open_entry(const fs::path& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays until the process ends
  if (library == nullptr) {
    std::string reason = ::dlerror();
    const std::string prefix = path.string() + ": ";
    if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
    refuse(path, "cannot be loaded: ", reason);
  }
  const auto* entry = static_cast<const PluginEntry*>(::dlsym(library, kPluginSymbol));
  if (entry == nullptr || entry->magic != kPluginMagic) {
    refuse(path, "has no entry ", kPluginSymbol, "; build it with phasor_add_norm_plugin");
  }
  if (entry->interface_version != kPluginInterface) {
    refuse(path, "is of plugin interface ", entry->interface_version, ", this program of ",
           kPluginInterface, "; build it again");
  }
  if (entry->fingerprint == nullptr || std::strcmp(entry->fingerprint, kBuildFingerprint) != 0) {
    refuse(path, "is of another build (",
           entry->fingerprint == nullptr ? "unknown" : entry->fingerprint, "), this program is of ",
           kBuildFingerprint, "; build it again with this program's headers and compiler");
  }
  return *entry;
}

NormSpec take_spec(const fs::path& path, const PluginEntry& entry) {
  NormSpec spec = entry.spec();
  if (spec.name != entry.file) {
    refuse(path, "a norm is called like its file; got ", spec.name, " in ", entry.file, ".cpp");
  }
  if (spec.make == nullptr) refuse(path, spec.name, " has no make function in its norm_spec()");
  for (const LoadedPlugin& other : loaded_plugins()) {
    if (other.norm == spec.name) {
      refuse(path, "the norm ", spec.name, " comes from ", other.path.string(), " already");
    }
  }
  for (const NormSpec& other : norm_specs()) {
    if (other.name == spec.name) refuse(path, "the norm ", spec.name, " is built in already");
  }
  return spec;
}

/// A layer of the norm with its defaults; null where the norm refuses this number of channels,
/// which the network's own layers will report by their names.
std::unique_ptr<Norm> make_layer(const fs::path& path, const NormSpec& spec, NormBuilder& builder) {
  try {
    std::unique_ptr<Norm> norm = spec.make(builder);
    if (norm == nullptr) refuse(path, spec.name, " made no layer: its make function returned null");
    return norm;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    return nullptr;
  }
}

/// Applies a layer once to ordinary numbers.
void apply_layer(const fs::path& path, const NormSpec& spec, const Norm& norm,
                 const NormBuilder& builder) {
  constexpr Index kRows = 4;
  Tensor input({kRows, 1, builder.channels()}, DType::float64);
  for (Index i = 0; i < input.size(); ++i) input.set(i, std::sin(1.0 + static_cast<double>(i)));
  Tape tape(DType::float64);
  std::vector<Var> parameters;
  for (const NormBuilder::Parameter& parameter : builder.parameters()) {
    Tensor value(parameter.shape, DType::float64);
    for (Index i = 0; i < value.size(); ++i) value.set(i, parameter.init);
    parameters.push_back(tape.leaf(value));
  }
  const Var x = tape.leaf(input);
  const Var y = norm.forward(NormContext(parameters, true), x);
  if (!y.defined() || !(y.shape() == input.shape())) {
    refuse(path, spec.name, " must return the shape of its input, ", input.shape().str(), "; got ",
           y.defined() ? y.shape().str() : "nothing");
  }
  const Tensor output = y.value(), after = x.value();
  for (Index i = 0; i < input.size(); ++i) {
    if (after.at(i) != input.at(i)) {
      refuse(path, spec.name, " writes to its input; element ", i, " was ", input.at(i), ", is ",
             after.at(i));
    }
    if (!std::isfinite(output.at(i))) {
      refuse(path, spec.name, " returns a non-finite number for finite input; got ", output.at(i),
             " for ", input.at(i));
    }
  }
}

constexpr const char* kStages[] = {"while it was loaded", "in norm_spec()", "in its constructor",
                                   "in forward()"};

/// What the child says: the digit of each stage as it begins, then kPassed, or kRefused and why.
constexpr char kPassed = '+', kRefused = '-';

void say(int pipe, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(pipe, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Goes through the stages; `stage` is the one under way.
void try_stages(const fs::path& path, int pipe, std::size_t& stage) {
  say(pipe, "0");
  const PluginEntry& entry = open_entry(path);
  say(pipe, "1");
  stage = 1;
  const NormSpec spec = take_spec(path, entry);
  say(pipe, "2");
  stage = 2;
  constexpr Index kChannels = 16;
  NormBuilder builder("plugin", kChannels, 1e-5, 1, true, resolve_values(spec, {}));
  const std::unique_ptr<Norm> norm = make_layer(path, spec, builder);
  if (norm == nullptr) return;
  say(pipe, "3");
  stage = 3;
  apply_layer(path, spec, *norm, builder);
}

[[noreturn]] void run_child(const fs::path& path, int pipe) {
  const rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(SIGALRM, SIG_DFL);
  ::alarm(kPatience);
  std::size_t stage = 0;
  const auto threw = [&](const auto&... what) {
    say(pipe,
        kRefused + concat("[plugin] ", path.string(), ": threw ", what..., ' ', kStages[stage]));
  };
  try {
    try_stages(path, pipe, stage);
    say(pipe, std::string_view(&kPassed, 1));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::plugin) {
      say(pipe, kRefused + std::string(error.what()));
    } else {
      threw('"', error.what(), '"');
    }
  } catch (const std::exception& error) {
    threw('"', error.what(), '"');
  } catch (...) {
    threw("an unknown exception");
  }
  ::_exit(0);
}

std::string read_all(int pipe) {
  std::string text;
  char buffer[512];
  for (;;) {
    const ssize_t count = ::read(pipe, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

/// Tries the plugin in a child, so that this process sees neither its crash nor its exit.
void try_in_child(const fs::path& path) {
  int ends[2];
  if (::pipe(ends) != 0) refuse(path, "cannot be tried: ", std::strerror(errno));
  const pid_t child = ::fork();
  if (child < 0) refuse(path, "cannot be tried: ", std::strerror(errno));
  if (child == 0) {
    ::close(ends[0]);
    run_child(path, ends[1]);
  }
  ::close(ends[1]);
  const std::string said = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const std::size_t stages = std::min(said.find_first_not_of("0123"), said.size());
  const std::string_view outcome = std::string_view(said).substr(stages);
  const char* stage = kStages[stages > 0 ? stages - 1 : 0];
  if (outcome.starts_with(kRefused)) fail(ErrorKind::plugin, outcome.substr(1));
  if (WIFSIGNALED(status)) {
    if (WTERMSIG(status) == SIGALRM) {
      refuse(path, "did not return within ", kPatience, " seconds ", stage);
    }
    refuse(path, "crashed ", stage, " (", ::strsignal(WTERMSIG(status)), ')');
  }
  if (!outcome.starts_with(kPassed)) {
    refuse(path, "ended the process ", stage, " (exit code ", WEXITSTATUS(status), ')');
  }
}

}  // namespace

std::string load_norm_plugin(const fs::path& given) {
  std::error_code error;
  const fs::path found = fs::canonical(given, error);  // dlopen searches for a name without a slash
  const fs::path path = error ? given : found;
  for (const LoadedPlugin& plugin : loaded_plugins()) {
    if (plugin.path == path) return plugin.norm;
  }
  const std::string digest = shared_object_digest(path);
  try_in_child(path);
  NormSpec spec = take_spec(path, open_entry(path));
  loaded_plugins().push_back({path, digest, spec.name});
  add_norm(std::move(spec));
  return loaded_plugins().back().norm;
}

std::string plugin_digest(const std::string& name) {
  for (const LoadedPlugin& plugin : loaded_plugins()) {
    if (plugin.norm == name) return plugin.digest;
  }
  return {};
}

}  // namespace phasor
