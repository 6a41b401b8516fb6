// The rows of the table of configuration keys.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "config/keys.h"

namespace phasor {
namespace {

using nlohmann::json;

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {
  using Inner = T;
};

template <class T>
constexpr KeyType key_type() {
  if constexpr (IsOptional<T>::value) {
    return key_type<typename IsOptional<T>::Inner>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return KeyType::boolean;
  } else if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, AutoInt>) {
    return KeyType::integer;
  } else if constexpr (std::is_same_v<T, double>) {
    return KeyType::number;
  } else if constexpr (std::is_enum_v<T>) {
    return KeyType::choice;
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return KeyType::strings;
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    return KeyType::numbers;
  } else {
    static_assert(std::is_same_v<T, std::string>);
    return KeyType::string;
  }
}

template <class T>
json load(const T& member, const std::vector<std::string>& names) {
  if constexpr (std::is_enum_v<T>) {
    return names[static_cast<std::size_t>(member)];
  } else if constexpr (std::is_same_v<T, AutoInt>) {
    return member.is_auto() ? json("auto") : json(member.value);
  } else if constexpr (IsOptional<T>::value) {
    return member ? json(*member) : json(nullptr);
  } else {
    return member;
  }
}

template <class T>
void store(T& member, const json& value, const std::vector<std::string>& names) {
  if constexpr (std::is_enum_v<T>) {
    const auto found = std::find(names.begin(), names.end(), value.get<std::string>());
    member = static_cast<T>(found - names.begin());
  } else if constexpr (std::is_same_v<T, AutoInt>) {
    member.value = value.is_string() ? 0 : value.get<std::int64_t>();
  } else if constexpr (IsOptional<T>::value) {
    if (value.is_null()) {
      member.reset();
    } else {
      member = value.get<typename IsOptional<T>::Inner>();
    }
  } else {
    member = value.get<T>();
  }
}

/// A row; `members` lead from Config to the value: &Config::train, &TrainConfig::lr.
template <class... Members>
Key row(std::string path, Limits limits, std::string help, Members... members) {
  using T = std::remove_cvref_t<decltype((std::declval<Config&>().*....*members))>;
  Key key;
  key.path = std::move(path);
  key.type = key_type<T>();
  if (std::is_same_v<T, AutoInt>) key.empty_word = "auto";
  if (IsOptional<T>::value) key.empty_word = "null";
  key.help = std::move(help);
  const std::vector<std::string> names = limits.names;
  key.get = [=](const Config& config) { return load((config.*....*members), names); };
  key.set = [=](Config& config, const json& value) { store((config.*....*members), value, names); };
  key.limits = std::move(limits);
  return key;
}

Key beside_result(Key key) {
  key.determines_result = false;
  return key;
}

/// For every key that is added now that results are published.
Key joined_later(Key key) {
  key.joined_later = true;
  return key;
}

constexpr double kLargestInteger = 9007199254740991.0;  // 2^53 - 1: exact for every JSON reader
constexpr double kLargeNumber = 1e30;                   // its square overflows no double

Limits any() { return {}; }
Limits between(double minimum, double maximum) { return {.minimum = minimum, .maximum = maximum}; }
Limits above(double minimum, double maximum) {
  return {.minimum = minimum, .maximum = maximum, .above_minimum = true};
}
Limits below(double minimum, double maximum) {
  return {.minimum = minimum, .maximum = maximum, .below_maximum = true};
}
Limits one_of(std::vector<std::string> names) { return {.names = std::move(names)}; }

Limits architectures() {
  Limits limits;
  constexpr int kDeepest = 1202;
  for (int depth = 8; depth <= kDeepest; depth += 6) {
    limits.names.push_back("resnet" + std::to_string(depth));
  }
  limits.names.push_back("resnet18");
  limits.summary = "resnet{6n+2} (resnet8, resnet14, resnet20, ... resnet1202) or resnet18";
  return limits;
}

bool is_file_name(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  const auto letter_or_digit = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  return !text.empty() && text.size() <= kLongest && letter_or_digit(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return letter_or_digit(c) || c == '.' || c == '_' || c == '-';
         });
}

bool is_path(std::string_view text) {
  return !text.empty() && text.find('\0') == std::string_view::npos;
}

Limits file_name() {
  return {.summary = "a name of at most 64 letters, digits, dots, hyphens and underscores",
          .pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
          .accepts = is_file_name};
}

Limits path_text() { return {.summary = "a path", .pattern = "^[^\\u0000]+$", .accepts = is_path}; }

bool is_pairing(std::string_view text) {
  constexpr std::string_view kRandom = "random:";
  constexpr std::size_t kDigits = 15;  // exact for every JSON reader, were it a number
  if (text == "adjacent" || text == "half") return true;
  if (!text.starts_with(kRandom)) return false;
  text.remove_prefix(kRandom.size());
  return !text.empty() && text.size() <= kDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Limits pairing_text() {
  return {.summary = "adjacent, half or random:<seed>",
          .pattern = "^(adjacent|half|random:[0-9]{1,15})$",
          .accepts = is_pairing};
}

void add_general(std::vector<Key>& t) {
  t.push_back(beside_result(row("name", file_name(),
                                "Name of the run; the file's own name where it is absent.",
                                &Config::name)));
  t.push_back(beside_result(
      row("description", any(), "What the run is for, in words.", &Config::description)));
  t.push_back(beside_result(
      row("plugins", any(), "Shared objects that bring further norms.", &Config::plugins)));
}

void add_data(std::vector<Key>& t) {
  const auto section = &Config::data;
  t.push_back(row("data.kind", one_of({"cifar100", "cifar10", "synthetic"}),
                  "The data set; synthetic needs no files.", section, &DataConfig::kind));
  t.push_back(beside_result(
      row("data.path", path_text(),
          "Folder of the data set; null is data/cifar-100-binary or data/cifar-10-batches-bin by "
          "kind, and memory for synthetic.",
          section, &DataConfig::path)));
  t.push_back(row("data.augment", one_of({"none", "crop_flip"}),
                  "crop_flip pads by 4, crops 32x32 at random and flips at random.", section,
                  &DataConfig::augment));
  t.push_back(row("data.order", one_of({"shuffle", "file"}),
                  "Order of the training images in an epoch.", section, &DataConfig::order));
  t.push_back(row("data.drop_last", any(), "Leave out the last, smaller batch of an epoch.",
                  section, &DataConfig::drop_last));
  t.push_back(row("data.train_limit", between(1, 1e9), "Use only the first training images.",
                  section, &DataConfig::train_limit));
  t.push_back(row("data.test_limit", between(1, 1e9), "Use only the first test images.", section,
                  &DataConfig::test_limit));
}

void add_model(std::vector<Key>& t) {
  const auto section = &Config::model;
  t.push_back(row("model.arch", architectures(), "The network.", section, &ModelConfig::arch));
  t.push_back(row("model.width", above(0, 64), "Multiplies the numbers of channels, rounded.",
                  section, &ModelConfig::width));
  t.push_back(row("model.shortcut", one_of({"projection", "pad"}),
                  "Shortcut where shapes change: 1x1 convolution and norm, or zero channels.",
                  section, &ModelConfig::shortcut));
  t.push_back(row("model.init", one_of({"kaiming_fan_out", "pytorch"}),
                  "Initial convolutions: normal by fan-out, or uniform by fan-in.", section,
                  &ModelConfig::init));
}

void add_norm(std::vector<Key>& t) {
  const auto section = &Config::norm;
  Limits name = any();
  name.summary = "the name of a norm";
  t.push_back(row("norm.name", name,
                  "The normalisation layer. No default: given here or by the sweep.", section,
                  &NormConfig::name));
  t.push_back(row("norm.axes", one_of({"channel", "sample"}),
                  "Normalise over C at each pixel, or over H, W and C of an image.", section,
                  &NormConfig::axes));
  t.push_back(row("norm.eps", between(0, 1), "Added under the root; 0 is allowed.", section,
                  &NormConfig::eps));
  t.push_back(row("norm.gamma_init", between(-1e6, 1e6), "Initial gain.", section,
                  &NormConfig::gamma_init));
  t.push_back(row("norm.affine", any(), "Learn the gain (and the bias of a norm that has one).",
                  section, &NormConfig::affine));
  t.push_back(joined_later(
      row("norm.pairing", pairing_text(),
          "Which channels a norm of phasors takes together: neighbours, i with i + C/2, or a "
          "permutation drawn for each number of channels.",
          section, &NormConfig::pairing)));
  t.push_back(joined_later(row("norm.stat_dtype", one_of({"float32", "float16", "bfloat16"}),
                               "Compute the statistic with every partial result rounded to this "
                               "type (emulated, slower); gradients stay in float32.",
                               section, &NormConfig::stat_dtype)));
  t.push_back(joined_later(row("norm.rescue", any(),
                               "Redo rows whose statistic leaves the range of its type, scaled by "
                               "their maximum; false is plain arithmetic (emulated, slower).",
                               section, &NormConfig::rescue)));
}

void add_train(std::vector<Key>& t) {
  const auto section = &Config::train;
  t.push_back(row("train.epochs", between(1, 1e6), "Training ends after so many epochs.", section,
                  &TrainConfig::epochs));
  t.push_back(row("train.max_steps", between(1, kLargestInteger),
                  "Training ends after so many steps, if that is sooner.", section,
                  &TrainConfig::max_steps));
  t.push_back(row("train.lr", between(0, 1e6), "Learning rate.", section, &TrainConfig::lr));
  t.push_back(row("train.batch_size", between(1, 65536), "Images of a step.", section,
                  &TrainConfig::batch_size));
  t.push_back(row("train.seed", between(0, kLargestInteger),
                  "Seed of initialisation, order and augmentation.", section, &TrainConfig::seed));
  t.push_back(
      row("train.momentum", below(0, 1), "Momentum of SGD.", section, &TrainConfig::momentum));
  t.push_back(row("train.dampening", between(0, 1), "Dampening of the momentum.", section,
                  &TrainConfig::dampening));
  t.push_back(row("train.nesterov", any(), "Nesterov momentum (needs momentum, no dampening).",
                  section, &TrainConfig::nesterov));
  t.push_back(row("train.weight_decay", between(0, 1e6), "L2 penalty added to the gradient.",
                  section, &TrainConfig::weight_decay));
  t.push_back(row("train.wd_on_norm", any(), "Weight decay on the norms' parameters too.", section,
                  &TrainConfig::wd_on_norm));
  t.push_back(row("train.clip_norm", above(0, kLargeNumber),
                  "Largest global norm of the gradient; null does not clip.", section,
                  &TrainConfig::clip_norm));
  t.push_back(row("train.schedule.kind", one_of({"constant", "multistep", "cosine"}),
                  "Course of the learning rate.", section, &TrainConfig::schedule,
                  &ScheduleConfig::kind));
  t.push_back(row("train.schedule.milestones", between(0, 1e6),
                  "multistep: epochs at which the learning rate is multiplied by gamma.", section,
                  &TrainConfig::schedule, &ScheduleConfig::milestones));
  t.push_back(row("train.schedule.gamma", above(0, 1e6), "multistep: factor at each milestone.",
                  section, &TrainConfig::schedule, &ScheduleConfig::gamma));
  t.push_back(row("train.warmup_epochs", between(0, 1e6), "Epochs of linear warm-up.", section,
                  &TrainConfig::warmup_epochs));
  t.push_back(row("train.dtype", one_of({"float32", "float64"}),
                  "Number type; float64 uses the reference kernels.", section,
                  &TrainConfig::dtype));
  t.push_back(row("train.conv", one_of({"auto", "direct", "winograd"}),
                  "Convolution algorithm; auto is a written table by shape.", section,
                  &TrainConfig::conv));
  t.push_back(row("train.lanes", between(1, 1024), "Lanes of a batch (see README).", section,
                  &TrainConfig::lanes));
  t.push_back(row("train.micro_batch", between(1, 65536), "Images of a micro-batch.", section,
                  &TrainConfig::micro_batch));
  t.push_back(row("train.init_from", path_text(),
                  "Safetensors file whose weights the training starts from.", section,
                  &TrainConfig::init_from));
  t.push_back(row("train.init_missing", one_of({"error", "default"}),
                  "What to do about tensors that init_from lacks.", section,
                  &TrainConfig::init_missing));
  t.push_back(row("train.log_every", between(1, kLargestInteger), "Steps between logged steps.",
                  section, &TrainConfig::log_every));
  t.push_back(row("train.eval_every_epochs", between(1, 1e6), "Epochs between evaluations.",
                  section, &TrainConfig::eval_every_epochs));
  t.push_back(beside_result(row("train.checkpoint_minutes", between(0, 1e6),
                                "Minutes between checkpoints; 0 is after every step.", section,
                                &TrainConfig::checkpoint_minutes)));
  t.push_back(row("train.diagnostics", any(), "Record statistics of each layer.", section,
                  &TrainConfig::diagnostics));
}

void add_verdict(std::vector<Key>& t) {
  const auto section = &Config::verdict;
  t.push_back(row("verdict.grace_epochs", between(0, 1e6),
                  "Epochs in which a high loss does not count as divergence.", section,
                  &VerdictConfig::grace_epochs));
  t.push_back(row("verdict.diverged_loss", above(0, kLargeNumber),
                  "Loss above which a step counts as diverged.", section,
                  &VerdictConfig::diverged_loss));
  t.push_back(row("verdict.diverged_steps", between(1, kLargestInteger),
                  "So many consecutive steps make the verdict diverged.", section,
                  &VerdictConfig::diverged_steps));
  t.push_back(row("verdict.trained_sigma", between(0, 1e6),
                  "Standard deviations above chance that make the verdict trained.", section,
                  &VerdictConfig::trained_sigma));
  t.push_back(row("verdict.stop", one_of({"nonfinite", "diverged", "never"}),
                  "End a cell early when non-finite, when diverged too, or never.", section,
                  &VerdictConfig::stop));
}

void add_run(std::vector<Key>& t) {
  const auto section = &Config::run;
  t.push_back(
      beside_result(row("run.out", path_text(), "Folder of the results; null is runs/<name>.",
                        section, &RunConfig::out)));
  t.push_back(beside_result(row("run.jobs", between(0, 1024),
                                "Cells that run side by side; 0 is one per core.", section,
                                &RunConfig::jobs)));
  t.push_back(beside_result(row("run.threads", between(0, 1024),
                                "Threads of a cell; 0 shares the cores among the jobs.", section,
                                &RunConfig::threads)));
  t.push_back(beside_result(
      row("run.kernels", one_of({"auto", "reference", "baseline", "avx2", "avx512"}),
          "Kernel set; auto is the best that the CPU has.", section, &RunConfig::kernels)));
}

std::vector<Key> make_table() {
  std::vector<Key> table;
  add_general(table);
  add_data(table);
  add_model(table);
  add_norm(table);
  add_train(table);
  add_verdict(table);
  add_run(table);
  return table;
}

}  // namespace

const std::vector<Key>& key_table() {
  static const std::vector<Key> table = make_table();
  return table;
}

}  // namespace phasor
