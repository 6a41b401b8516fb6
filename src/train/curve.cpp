#include "train/curve.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/file.h"

namespace phasor {
namespace {

using nlohmann::json;

[[noreturn]] void fail_to(const char* action, const std::filesystem::path& path, int error) {
  fail(ErrorKind::io, "[curve] cannot ", action, " ", path.string(), "; got ",
       std::generic_category().message(error));
}

struct Field {
  const char* name;
  double value;
};

/// `"a":1,"b":null,"nonfinite":{"b":"nan"}`, the members of an object.
template <std::size_t N>
void append_members(std::string& out, const Field (&fields)[N]) {
  bool first = true, finite = true;
  for (const Field& field : fields) {
    if (!first) out += ',';
    first = false;
    out.append("\"").append(field.name).append("\":");
    append_number(out, field.value);
    finite = finite && std::isfinite(field.value);
  }
  if (finite) return;
  out += ",\"nonfinite\":{";
  first = true;
  for (const Field& field : fields) {
    if (std::isfinite(field.value)) continue;
    if (!first) out += ',';
    first = false;
    out.append("\"").append(field.name).append("\":\"");
    out.append(nonfinite_kind(field.value)).append("\"");
  }
  out += '}';
}

double read_number(const json& object, const char* name) {
  const json& value = object.at(name);
  if (!value.is_null()) return value.get<double>();
  const auto kind = object.at("nonfinite").at(name).get<std::string>();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (kind == "nan") return std::numeric_limits<double>::quiet_NaN();
  return kind == "-inf" ? -kInfinity : kInfinity;
}

EpochRecord read_epoch(const json& object) {
  return {read_number(object, "epoch"),
          {read_number(object, "loss"), read_number(object, "accuracy"),
           object.value("samples", Index{0})}};
}

StepRecord read_step(const json& line, const DiagnosedLayers& layers) {
  StepRecord record{line.at("step").get<Index>(),  line.at("epoch").get<Index>(),
                    read_number(line, "lr"),       read_number(line, "loss"),
                    read_number(line, "accuracy"), read_number(line, "grad_norm")};
  if (line.contains("diagnostics"))
    record.diagnostics = read_diagnostics(line["diagnostics"], layers);
  return record;
}

void read_line(const json& line, Curve& curve) {
  if (line.contains("test"))
    curve.tests.push_back(read_epoch(line["test"]));
  else if (line.contains("train"))
    curve.epochs.push_back(read_epoch(line["train"]));
  else if (line.contains("diagnostics") && !line.contains("step"))
    curve.diagnosed = read_diagnosed_layers(line["diagnostics"]);
  else
    curve.steps.push_back(read_step(line, curve.diagnosed));
}

/// Writes one object of arrays and collects the places of what is not finite.
class SeriesWriter {
 public:
  explicit SeriesWriter(std::string& out) : out_(out) {}

  void open(const char* series) {
    series_ = series;
    out_.append(first_series_ ? "{\n" : ",\n").append("  \"").append(series).append("\": {");
    first_series_ = false;
    first_array_ = true;
  }

  template <class Records, class Get>
  void array(const char* name, const Records& records, Get&& get) {
    out_.append(first_array_ ? "\n    \"" : ",\n    \"").append(name).append("\": [");
    first_array_ = false;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const double value = static_cast<double>(get(records[i]));
      if (i != 0) out_ += ", ";
      append_number(out_, value);
      if (!std::isfinite(value)) note(i, name, nonfinite_kind(value));
    }
    out_ += ']';
  }

  void close() { out_ += "\n  }"; }

  /// A member of another form: `append` writes its value.
  template <class Append>
  void member(const char* name, Append&& append) {
    out_.append(",\n  \"").append(name).append("\": ");
    append(out_);
  }

  void finish() {
    out_.append(",\n  \"nonfinite\": [").append(nonfinite_);
    out_.append(nonfinite_.empty() ? "]\n}\n" : "\n  ]\n}\n");
  }

 private:
  void note(std::size_t index, const char* field, const char* kind) {
    nonfinite_ +=
        concat(nonfinite_.empty() ? "\n" : ",\n", "    {\"series\": \"", series_,
               "\", \"index\": ", index, ", \"field\": \"", field, "\", \"kind\": \"", kind, "\"}");
  }

  std::string& out_;
  std::string nonfinite_;
  const char* series_ = "";
  bool first_series_ = true, first_array_ = true;
};

std::uint64_t whole_lines(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  const std::size_t last = text.rfind('\n');
  return last == std::string::npos ? 0 : last + 1;
}

}  // namespace

void append_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value == 0 ? 0.0 : value);
  out.append(digits, end.ptr);
}

const char* nonfinite_kind(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "+inf" : "-inf";
  return nullptr;
}

LineFile::LineFile(std::filesystem::path path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

LineFile LineFile::continue_after(const std::filesystem::path& path, std::uint64_t keep,
                                  const std::function<void()>& before_rename) {
  std::string kept = keep > 0 ? read_file(path) : "";
  if (kept.size() < keep)
    fail(ErrorKind::io, "[curve] ", path.string(), " lost its end; got ", kept.size(), " bytes of ",
         keep);
  AtomicFile whole(path);
  whole.write(kept.data(), keep);
  // This very file, whatever lies at `path` later: two owners of a cell never write to one file.
  LineFile file(path, whole.duplicate_descriptor());
  file.size_ = keep;
  whole.commit(before_rename);
  return file;
}

LineFile LineFile::append_to(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) fail_to("open", path, errno);
  LineFile file(path, descriptor);
  file.size_ = whole_lines(path);
  if (::ftruncate(file.descriptor_, static_cast<off_t>(file.size_)) != 0)
    fail_to("truncate", path, errno);
  return file;
}

LineFile::LineFile(LineFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

LineFile& LineFile::operator=(LineFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

LineFile::~LineFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void LineFile::write(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = ::write(descriptor_, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_to("write", path_, errno);
    line.remove_prefix(static_cast<std::size_t>(written));
    size_ += static_cast<std::uint64_t>(written);
  }
}

void LineFile::sync() {
  // Pipes and devices cannot be synced (EINVAL); there is nothing to lose there.
  if (::fdatasync(descriptor_) != 0 && errno != EINVAL) fail_to("sync", path_, errno);
}

bool begins_with(const std::filesystem::path& path, const Prefix& prefix) {
  if (!std::filesystem::exists(path)) return prefix.bytes == 0;
  const std::string text = read_file(path);
  return text.size() >= prefix.bytes && sha256_hex(text.data(), prefix.bytes) == prefix.sha256;
}

CurveWriter::CurveWriter(const std::filesystem::path& folder, std::uint64_t keep,
                         const std::function<void()>& before_publish)
    : file_(LineFile::continue_after(folder / "curve.jsonl", keep, before_publish)) {
  if (keep == 0) return;
  const std::string kept = read_file(folder / "curve.jsonl");
  hash_.update(kept.data(), kept.size());
}

void CurveWriter::write_line() {
  line_ += '\n';
  file_.write(line_);
  hash_.update(line_.data(), line_.size());
}

void CurveWriter::diagnosed_layers(const DiagnosedLayers& layers) {
  line_ = "{\"diagnostics\":";
  append_diagnosed_layers(line_, layers);
  line_ += '}';
  write_line();
}

void CurveWriter::step(const StepRecord& record) {
  line_ = '{';
  append_members(line_, {{"step", static_cast<double>(record.step)},
                         {"epoch", static_cast<double>(record.epoch)},
                         {"lr", record.lr},
                         {"loss", record.loss},
                         {"accuracy", record.accuracy},
                         {"grad_norm", record.grad_norm}});
  if (!record.diagnostics.empty()) {
    line_ += ",\"diagnostics\":";
    append_diagnostics(line_, record.diagnostics);
  }
  line_ += '}';
  write_line();
}

void CurveWriter::test(const EpochRecord& record) {
  line_ = "{\"test\":{";
  append_members(line_, {{"epoch", record.epoch},
                         {"loss", record.metrics.loss},
                         {"accuracy", record.metrics.accuracy}});
  line_ += "}}";
  write_line();
}

void CurveWriter::epoch(const EpochRecord& record) {
  line_ = "{\"train\":{";
  append_members(line_, {{"epoch", record.epoch},
                         {"loss", record.metrics.loss},
                         {"accuracy", record.metrics.accuracy},
                         {"samples", static_cast<double>(record.metrics.samples)}});
  line_ += "}}";
  write_line();
}

Prefix CurveWriter::sync() {
  file_.sync();
  Sha256 hash = hash_;
  return {file_.size(), hash.hex()};
}

Curve read_curve(const std::filesystem::path& path) {
  return parse_curve(read_file(path), path.string());
}

Curve parse_curve(const std::string& text, const std::string& origin) {
  Curve curve;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    ++number;
    try {
      read_line(json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                            text.begin() + static_cast<std::ptrdiff_t>(end)),
                curve);
    } catch (const std::exception& error) {
      fail(ErrorKind::io, "[curve] ", origin, " is damaged in line ", number, "; got ",
           error.what());
    }
    begin = end + 1;
  }
  return curve;
}

std::string curve_json(const Curve& curve) {
  std::string out;
  SeriesWriter writer(out);
  const auto epoch = [](const EpochRecord& r) { return r.epoch; };
  const auto loss = [](const EpochRecord& r) { return r.metrics.loss; };
  const auto accuracy = [](const EpochRecord& r) { return r.metrics.accuracy; };

  writer.open("train");
  writer.array("step", curve.steps, [](const StepRecord& r) { return r.step; });
  writer.array("epoch", curve.steps, [](const StepRecord& r) { return r.epoch; });
  writer.array("lr", curve.steps, [](const StepRecord& r) { return r.lr; });
  writer.array("loss", curve.steps, [](const StepRecord& r) { return r.loss; });
  writer.array("accuracy", curve.steps, [](const StepRecord& r) { return r.accuracy; });
  writer.array("grad_norm", curve.steps, [](const StepRecord& r) { return r.grad_norm; });
  writer.close();

  writer.open("test");
  writer.array("epoch", curve.tests, epoch);
  writer.array("loss", curve.tests, loss);
  writer.array("accuracy", curve.tests, accuracy);
  writer.close();

  writer.open("epochs");
  writer.array("epoch", curve.epochs, epoch);
  writer.array("loss", curve.epochs, loss);
  writer.array("accuracy", curve.epochs, accuracy);
  writer.array("samples", curve.epochs, [](const EpochRecord& r) { return r.metrics.samples; });
  writer.close();

  if (!curve.diagnosed.empty()) {
    std::vector<DiagnosedStep> steps;
    for (const StepRecord& record : curve.steps)
      if (!record.diagnostics.empty()) steps.push_back({record.step, &record.diagnostics});
    writer.member("diagnostics",
                  [&](std::string& text) { append_diagnostics(text, curve.diagnosed, steps); });
  }

  writer.finish();
  return out;
}

}  // namespace phasor
