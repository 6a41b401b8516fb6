// The configuration of a run as plain values. key_table.cpp holds the one table that names, checks
// and documents every member; the defaults are the member initialisers below.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace phasor {

// The order of enumerators is the order of the names in key_table.cpp.
enum class DataKind { cifar100, cifar10, synthetic };
enum class Augment { none, crop_flip };
enum class SampleOrder { shuffle, file };
enum class ShortcutKind { projection, pad };
enum class InitKind { kaiming_fan_out, pytorch };
enum class NormAxes { channel, sample };
enum class StatDType { float32, float16, bfloat16 };
enum class ScheduleKind { constant, multistep, cosine };
enum class FloatType { float32, float64 };
enum class ConvChoice { automatic, direct, winograd };
enum class InitMissing { error, use_default };
enum class StopRule { nonfinite, diverged, never };
enum class KernelChoice { automatic, reference, baseline, avx2, avx512 };

/// A positive count, or 0 where a written table chooses (spelled "auto" in JSON).
struct AutoInt {
  std::int64_t value = 0;
  bool is_auto() const { return value == 0; }
};

struct DataConfig {
  DataKind kind = DataKind::synthetic;
  std::optional<std::string> path;
  Augment augment = Augment::crop_flip;
  SampleOrder order = SampleOrder::shuffle;
  bool drop_last = false;
  std::optional<std::int64_t> train_limit;
  std::optional<std::int64_t> test_limit;
};

struct ModelConfig {
  std::string arch = "resnet20";
  double width = 1;
  ShortcutKind shortcut = ShortcutKind::projection;
  InitKind init = InitKind::kaiming_fan_out;
};

/// A norm's own parameter: a JSON scalar.
using Scalar = std::variant<bool, std::int64_t, double, std::string>;

struct NormConfig {
  std::string
      name;  ///< No default: empty until the configuration or an axis of the sweep names it.
  NormAxes axes = NormAxes::channel;
  double eps = 1e-5;
  double gamma_init = 1.0;
  bool affine = true;
  std::string pairing = "adjacent";
  StatDType stat_dtype = StatDType::float32;
  bool rescue = true;
  std::map<std::string, Scalar> params;    ///< Further keys of `norm`; complete in a cell.
  std::map<std::string, Scalar> defaults;  ///< Of those keys; complete in a cell.
};

struct ScheduleConfig {
  ScheduleKind kind = ScheduleKind::constant;
  std::vector<double> milestones;  ///< In epochs.
  double gamma = 0.1;
};

struct TrainConfig {
  std::int64_t epochs = 20;
  std::optional<std::int64_t> max_steps;
  double lr = 0.1;
  std::int64_t batch_size = 128;
  std::int64_t seed = 0;
  double momentum = 0.9;
  double dampening = 0;
  bool nesterov = false;
  double weight_decay = 5e-4;
  bool wd_on_norm = true;
  std::optional<double> clip_norm;
  ScheduleConfig schedule;
  double warmup_epochs = 0;
  FloatType dtype = FloatType::float32;
  ConvChoice conv = ConvChoice::automatic;
  AutoInt lanes;
  AutoInt micro_batch;
  std::optional<std::string> init_from;
  InitMissing init_missing = InitMissing::error;
  std::int64_t log_every = 1;
  std::int64_t eval_every_epochs = 1;
  double checkpoint_minutes = 5;
  bool diagnostics = false;
};

struct VerdictConfig {
  double grace_epochs = 1;
  double diverged_loss = 46.0;
  std::int64_t diverged_steps = 100;
  double trained_sigma = 3.0;
  StopRule stop = StopRule::nonfinite;
};

struct RunConfig {
  std::optional<std::string> out;
  std::int64_t jobs = 0;
  std::int64_t threads = 0;
  KernelChoice kernels = KernelChoice::automatic;
};

/// One key set by an axis value; `value` is canonical JSON, `where` names its place in messages.
struct Assignment {
  std::string key;
  std::string value;
  std::string where;
};

/// The keys that one value of an axis sets.
using AxisValue = std::vector<Assignment>;

struct Axis {
  std::string key;  ///< A dotted key, e.g. "norm.name", or a section, e.g. "train.schedule".
  std::vector<AxisValue> values;
};

/// Axes by their place in the expansion, slowest first (see expand()).
struct SweepConfig {
  std::vector<Axis> axes;
};

struct Config {
  std::string name = "unnamed";
  std::string description;
  DataConfig data;
  ModelConfig model;
  NormConfig norm;
  TrainConfig train;
  VerdictConfig verdict;
  SweepConfig sweep;
  std::vector<std::string> plugins;
  RunConfig run;
};

/// Where the data set lies: `data.path`, or the usual folder of its kind; empty for the synthetic
/// set that is made in memory.
std::string data_path(const DataConfig& data);

/// Where results go: `run.out`, or runs/<name>.
std::string output_path(const Config& config);

}  // namespace phasor
