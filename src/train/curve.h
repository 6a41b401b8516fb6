// The curve of a cell: one line of JSON per logged step, per evaluation and per epoch in
// curve.jsonl while it runs, and curve.json when it has ended.
//
//   {"step":1,"epoch":1,"lr":0.1,"loss":4.7,"accuracy":0.03,"grad_norm":1.9}
//   {"test":{"epoch":1,"loss":4.1,"accuracy":0.06}}
//   {"train":{"epoch":1,"loss":4.3,"accuracy":0.05,"samples":50000}}
//
// Steps and epochs count from 1; the loss of a step is before its update. The epoch of an
// evaluation or a mean says how many epochs are done, with a fraction where max_steps cuts one.
// Numbers are written in their shortest form that reads back alike, a non-finite one as null with
// its kind beside it: "nonfinite":{"loss":"nan"}. Times are elsewhere, so that equal runs give
// equal bytes. With train.diagnostics there is more (train/diagnostics.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sha256.h"
#include "train/trainer.h"

namespace phasor {

struct StepRecord {
  Index step = 0, epoch = 0;
  double lr = 0, loss = 0, accuracy = 0, grad_norm = 0;
  Diagnostics diagnostics{};  ///< empty where the step was not looked at
};

struct EpochRecord {
  double epoch = 0;
  Metrics metrics;
};

/// A text file that grows by whole lines, each handed to the system at once. Move-only. Errors are
/// of kind io, with path and cause.
class LineFile {
 public:
  /// Continues the file at `path` after its first `keep` bytes, which it has; the rest is dropped.
  /// The file is replaced by a copy, so that another process that still has the old one open writes
  /// to nobody. `before_rename` as in AtomicFile::commit.
  static LineFile continue_after(const std::filesystem::path& path, std::uint64_t keep,
                                 const std::function<void()>& before_rename = {});
  /// Continues the file at `path`, if there is one, after its last whole line.
  static LineFile append_to(const std::filesystem::path& path);

  LineFile(LineFile&& other) noexcept;
  LineFile& operator=(LineFile&& other) noexcept;
  ~LineFile();

  void write(std::string_view line);
  void sync();

  std::uint64_t size() const { return size_; }

 private:
  LineFile(std::filesystem::path path, int descriptor);

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// Length and SHA-256 of the first part of a file.
struct Prefix {
  std::uint64_t bytes = 0;
  std::string sha256;
};

/// Whether the file at `path` begins with `prefix`.
bool begins_with(const std::filesystem::path& path, const Prefix& prefix);

/// Writes curve.jsonl. After the first line it allocates nothing.
class CurveWriter {
 public:
  /// Continues curve.jsonl in `folder` after its first `keep` bytes; `before_publish` throws where
  /// the cell is another process's by now.
  CurveWriter(const std::filesystem::path& folder, std::uint64_t keep,
              const std::function<void()>& before_publish = {});

  /// The layers of the diagnostics to come; before the first step.
  void diagnosed_layers(const DiagnosedLayers& layers);
  void step(const StepRecord& record);
  void test(const EpochRecord& record);
  void epoch(const EpochRecord& record);

  /// Everything written so far, on the disk.
  Prefix sync();

 private:
  void write_line();

  LineFile file_;
  Sha256 hash_;
  std::string line_;
};

/// A curve in memory.
struct Curve {
  DiagnosedLayers diagnosed;  ///< empty where there are no diagnostics
  std::vector<StepRecord> steps;
  std::vector<EpochRecord> tests;   ///< metrics.samples is not recorded
  std::vector<EpochRecord> epochs;  ///< means over the training samples of an epoch
};

/// Reads curve.jsonl; null reads back as the number it stands for. Lines that are damaged are an io
/// error.
Curve read_curve(const std::filesystem::path& path);

/// The same for its text; `origin` stands for the path in messages.
Curve parse_curve(const std::string& text, const std::string& origin);

/// Text of curve.json: {"train":{...},"test":{...},"epochs":{...},"nonfinite":[...]}, where the
/// three are objects of equally long arrays, and "nonfinite" names series, index, field and kind of
/// each null; with "diagnostics" before it where there are any.
std::string curve_json(const Curve& curve);

/// Shortest text that reads back as `value`, into `out`; "null" where it is not finite.
void append_number(std::string& out, double value);

/// "nan", "+inf" or "-inf"; null for a finite number.
const char* nonfinite_kind(double value);

}  // namespace phasor
