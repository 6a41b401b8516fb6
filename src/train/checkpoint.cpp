#include "train/checkpoint.h"

#include <charconv>
#include <cmath>
#include <map>
#include <system_error>

#include "core/file.h"
#include "train/safetensors.h"

namespace phasor {
namespace {

namespace fs = std::filesystem;
using Metadata = std::map<std::string, std::string>;

constexpr const char* kFormat = "phasor-checkpoint-1";
constexpr const char* kPairing = "pairing";    // in the metadata, where it is not
constexpr const char* kAdjacent = "adjacent";  // the usual one

// Doubles are stored as hexadecimal text, which is exact and the same in every locale.
std::string hex_text(double value) {
  if (std::isnan(value)) return "nan";  // whatever its sign
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::hex);
  return {text, end.ptr};
}

/// Reads the metadata of one file; anything missing or malformed is an io error.
class Fields {
 public:
  Fields(const Metadata& metadata, const fs::path& path) : metadata_(metadata), path_(path) {}

  bool has(const std::string& key) const { return metadata_.count(key) != 0; }

  const std::string& text(const std::string& key) const {
    const auto found = metadata_.find(key);
    if (found == metadata_.end()) bad(key, "nothing");
    return found->second;
  }

  Index integer(const std::string& key) const {
    Index value = 0;
    parse(key, value);
    if (value < 0) bad(key, text(key));
    return value;
  }

  double number(const std::string& key) const {
    double value = 0;
    parse(key, value, std::chars_format::hex);
    return value;
  }

 private:
  template <class T, class... Format>
  void parse(const std::string& key, T& value, Format... format) const {
    const std::string& digits = text(key);
    const char* end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, value, format...);
    if (result.ec != std::errc() || result.ptr != end) bad(key, digits);
  }

  [[noreturn]] void bad(const std::string& key, const std::string& got) const {
    fail(ErrorKind::io, "[checkpoint] ", path_.string(), " is damaged; got ", key, " = ", got);
  }

  const Metadata& metadata_;
  const fs::path& path_;
};

Metadata to_metadata(const std::string& id, const LoopState& state) {
  Metadata out{{"format", kFormat},
               {"cell", id},
               {"step", concat(state.step)},
               {"epoch", concat(state.epoch)},
               {"epoch_loss", hex_text(state.sums.loss)},
               {"epoch_correct", hex_text(state.sums.correct)},
               {"epoch_samples", concat(state.sums.samples)},
               {"diverged_run", concat(state.diverged_run)},
               {"curve_bytes", concat(state.curve.bytes)},
               {"curve_sha256", state.curve.sha256}};
  if (state.pairing != kAdjacent) out[kPairing] = state.pairing;
  if (state.diverged_step) out["diverged_step"] = concat(*state.diverged_step);
  if (state.test) {
    out["test_loss"] = hex_text(state.test->loss);
    out["test_accuracy"] = hex_text(state.test->accuracy);
    out["test_samples"] = concat(state.test->samples);
  }
  if (state.nonfinite_step) out["nonfinite_step"] = concat(*state.nonfinite_step);
  if (state.nonfinite) {
    out["nonfinite_layer"] = state.nonfinite->layer;
    out["nonfinite_tensor"] = state.nonfinite->tensor;
    out["nonfinite_pass"] = state.nonfinite->pass;
    out["nonfinite_kind"] = state.nonfinite->kind;
  }
  return out;
}

LoopState from_metadata(const Fields& fields) {
  LoopState state;
  state.step = fields.integer("step");
  state.epoch = fields.integer("epoch");
  state.sums = {fields.number("epoch_loss"), fields.number("epoch_correct"),
                fields.integer("epoch_samples")};
  state.diverged_run = fields.integer("diverged_run");
  state.curve = {static_cast<std::uint64_t>(fields.integer("curve_bytes")),
                 fields.text("curve_sha256")};
  if (fields.has(kPairing)) state.pairing = fields.text(kPairing);
  if (fields.has("diverged_step")) state.diverged_step = fields.integer("diverged_step");
  if (fields.has("test_loss"))
    state.test = Metrics{fields.number("test_loss"), fields.number("test_accuracy"),
                         fields.integer("test_samples")};
  if (fields.has("nonfinite_step")) state.nonfinite_step = fields.integer("nonfinite_step");
  if (fields.has("nonfinite_layer"))
    state.nonfinite = NonFinite{fields.text("nonfinite_layer"), fields.text("nonfinite_tensor"),
                                fields.text("nonfinite_pass"), fields.text("nonfinite_kind")};
  return state;
}

/// A sound checkpoint of any cell; throws an io error otherwise.
Checkpoint read_checkpoint(const fs::path& path, const std::string& id) {
  TensorFile file = read_safetensors(path, Checksum::required);
  const Fields fields(file.metadata, path);
  if (fields.text("format") != kFormat)
    fail(ErrorKind::io, "[checkpoint] ", path.string(), " has an unknown format; got ",
         fields.text("format"), ", expected ", kFormat);
  PHASOR_CHECK(fields.text("cell") == id, "[checkpoint] ", path.string(),
               " belongs to another cell; got ", fields.text("cell"), ", expected ", id,
               "; remove the folder or use its own configuration");
  return {from_metadata(fields), std::move(file.tensors)};
}

/// Gives the newest checkpoint a second name, so that a last.safetensors exists at every moment.
void rotate(const fs::path& folder, const std::function<void()>& before_publish) {
  const fs::path last = last_checkpoint(folder), previous = previous_checkpoint(folder);
  std::error_code error;
  if (!fs::exists(last, error)) return;
  fs::remove(previous, error);
  fs::create_hard_link(last, previous, error);
  // File systems without hard links get a copy.
  if (error) write_file_atomic(previous, read_file(last), before_publish);
}

}  // namespace

fs::path last_checkpoint(const fs::path& folder) { return folder / "last.safetensors"; }
fs::path previous_checkpoint(const fs::path& folder) { return folder / "prev.safetensors"; }

void save_checkpoint(const fs::path& folder, const std::string& id, const Checkpoint& checkpoint,
                     const std::function<void()>& before_publish) {
  rotate(folder, before_publish);
  write_safetensors(last_checkpoint(folder), checkpoint.tensors, to_metadata(id, checkpoint.state),
                    before_publish);
}

std::optional<Checkpoint> load_checkpoint(const fs::path& folder, const std::string& id,
                                          const std::function<void(const std::string&)>& say) {
  for (const fs::path& path : {last_checkpoint(folder), previous_checkpoint(folder)}) {
    std::error_code error;
    if (!fs::exists(path, error)) continue;
    try {
      Checkpoint checkpoint = read_checkpoint(path, id);
      if (begins_with(folder / "curve.jsonl", checkpoint.state.curve)) {
        if (path == previous_checkpoint(folder)) fs::rename(path, last_checkpoint(folder), error);
        return checkpoint;
      }
      say(concat("[checkpoint] ", path.string(), " does not fit curve.jsonl; it is passed over"));
    } catch (const Error& problem) {
      if (problem.kind() != ErrorKind::io) throw;
      say(concat(problem.what(), "; it is passed over"));
    }
  }
  return std::nullopt;
}

void check_pairing(const std::map<std::string, std::string>& metadata, const std::string& pairing,
                   const fs::path& path) {
  if (pairing.empty()) return;
  const auto found = metadata.find(kPairing);
  const std::string recorded = found == metadata.end() ? kAdjacent : found->second;
  if (recorded != pairing)
    fail(ErrorKind::data, "[checkpoint] ", path.string(), " pairs channels as ", recorded,
         ", this network as ", pairing, "; set norm.pairing to ", recorded);
}

bool all_finite(const std::vector<NamedTensor>& tensors) {
  for (const NamedTensor& tensor : tensors) {
    const bool finite = dispatch(tensor.value.dtype(), [&](auto zero) {
      const auto* values = tensor.value.data<decltype(zero)>();
      // x - x is zero exactly for finite x; the sum keeps any NaN and vectorises.
      decltype(zero) sum = 0;
      for (Index i = 0; i < tensor.value.size(); ++i) sum += values[i] - values[i];
      return sum == 0;
    });
    if (!finite) return false;
  }
  return true;
}

}  // namespace phasor
