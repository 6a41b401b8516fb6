#include "report/curves.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/file.h"
#include "phasor/error.h"
#include "sweep/results_folder.h"

namespace phasor {
namespace {

using nlohmann::json;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Steps of an epoch, or 0 where the file does not tell.
double steps_of_epoch(const CellRecord& cell) {
  const json& data = cell.document["data"];
  if (cell.batch_size <= 0 || !data.contains("train_images") ||
      !data["train_images"].is_number_integer()) {
    return 0;
  }
  auto images = data["train_images"].get<double>();
  bool drop_last = false;
  const json& configuration = cell.document["configuration"];
  if (configuration.contains("data") && configuration["data"].is_object()) {
    const json& settings = configuration["data"];
    if (settings.contains("train_limit") && settings["train_limit"].is_number()) {
      images = std::min(images, settings["train_limit"].get<double>());
    }
    drop_last = settings.contains("drop_last") && settings["drop_last"] == true;
  }
  const double steps = images / static_cast<double>(cell.batch_size);
  return drop_last ? std::floor(steps) : std::ceil(steps);
}

double number(const json& value) {
  if (value.is_null()) return kNone;
  return value.get<double>();  // what is no number throws, and the file is damaged
}

/// Array `y` of `part` over array `x`; throws where they are not as documented.
Series series_of(const json& part, const char* x, const char* y, double scale) {
  Series out;
  const json& places = part.at(x);
  const json& values = part.at(y);
  if (!places.is_array() || places.size() != values.size()) {
    fail(ErrorKind::io, "[curve] arrays of equal length expected");
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    out.x.push_back(places[i].get<double>() / scale);
    out.y.push_back(number(values[i]));
  }
  return out;
}

std::string first_kind(const json& nonfinite) {
  if (!nonfinite.is_array() || nonfinite.empty() || !nonfinite[0].is_object()) return "";
  return text_member(nonfinite[0], "kind");
}

/// Mean of an array; what a layer does not have is left out, and of nothing the mean is NaN.
double mean_of(const json& values) {
  double sum = 0, count = 0;
  for (const json& value : values) {
    if (value.is_null()) continue;
    sum += number(value);
    count += 1;
  }
  return sum / count;
}

/// One step's diagnostics: `of(group, quantity)` is the array over its layers.
template <typename Of>
void add_diagnostics(double x, const Of& of, CellCurve& curve) {
  const auto add = [x](Series& series, double y) {
    series.x.push_back(x);
    series.y.push_back(y);
  };
  const std::size_t norms = of("norms", "statistic_mean").size();
  const std::array<std::size_t, 3> places{0, norms / 2, norms - 1};
  for (std::size_t i = 0; i < places.size() && norms > 0; ++i) {
    const auto entry = [&](const char* name) { return number(of("norms", name).at(places[i])); };
    StatisticCurve& statistic = curve.statistics[i];
    add(statistic.least, entry("statistic_min"));
    add(statistic.mean, entry("statistic_mean"));
    add(statistic.greatest, entry("statistic_max"));
  }
  add(curve.dead_relu, mean_of(of("norms", "dead_relu")));
  add(curve.effective_lr, mean_of(of("layers", "effective_lr")));
}

void name_layers(const json& names, CellCurve& curve) {
  if (names.empty()) return;
  const std::array<std::size_t, 3> places{0, names.size() / 2, names.size() - 1};
  for (std::size_t i = 0; i < places.size(); ++i)
    curve.statistics[i].layer = names.at(places[i]).get<std::string>();
}

/// Null throughout is what a network does not have: no series at all.
void drop_empty(CellCurve& curve) {
  const auto drop = [](Series& series) {
    const auto finite = [](double y) { return std::isfinite(y); };
    if (std::none_of(series.y.begin(), series.y.end(), finite)) series = {};
  };
  for (StatisticCurve& statistic : curve.statistics)
    for (Series* series : {&statistic.least, &statistic.mean, &statistic.greatest}) drop(*series);
  drop(curve.dead_relu);
  drop(curve.effective_lr);
}

CellCurve from_document(const json& document, double scale) {
  CellCurve curve;
  const json& train = document.at("train");
  curve.loss = series_of(train, "step", "loss", scale);
  curve.grad_norm = series_of(train, "step", "grad_norm", scale);
  curve.test_accuracy = series_of(document.at("test"), "epoch", "accuracy", 1);
  curve.test_loss = series_of(document.at("test"), "epoch", "loss", 1);
  curve.train_accuracy = series_of(document.at("epochs"), "epoch", "accuracy", 1);
  if (document.contains("nonfinite")) curve.nonfinite = first_kind(document["nonfinite"]);
  if (document.contains("diagnostics")) {
    const json& diagnostics = document["diagnostics"];
    const json& steps = diagnostics.at("step");
    name_layers(diagnostics.at("norms").at("layer"), curve);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto of = [&](const char* group, const char* quantity) -> const json& {
        return diagnostics.at(group).at(quantity).at(i);
      };
      add_diagnostics(steps[i].get<double>() / scale, of, curve);
    }
    drop_empty(curve);
  }
  return curve;
}

void add(Series& series, double x, const json& line, const char* y) {
  series.x.push_back(x);
  series.y.push_back(number(line.at(y)));
}

/// Throws where the line is not as documented.
void add_line(const json& line, double scale, CellCurve& curve) {
  if (line.contains("test")) {
    const json& test = line["test"];
    add(curve.test_accuracy, test.at("epoch").get<double>(), test, "accuracy");
    add(curve.test_loss, test.at("epoch").get<double>(), test, "loss");
  } else if (line.contains("train")) {
    const json& epoch = line["train"];
    add(curve.train_accuracy, epoch.at("epoch").get<double>(), epoch, "accuracy");
  } else if (line.contains("diagnostics") && !line.contains("step")) {
    name_layers(line["diagnostics"].at("norms"), curve);
  } else {
    const double x = line.at("step").get<double>() / scale;
    add(curve.loss, x, line, "loss");
    add(curve.grad_norm, x, line, "grad_norm");
    if (line.contains("diagnostics")) {
      const auto of = [&](const char* group, const char* quantity) -> const json& {
        return line["diagnostics"].at(group).at(quantity);
      };
      add_diagnostics(x, of, curve);
    }
  }
}

/// The lines of a curve.jsonl up to the first that is damaged, as the last of a torn file is.
CellCurve from_lines(const std::string& text, double scale) {
  CellCurve curve;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    try {
      add_line(json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                           text.begin() + static_cast<std::ptrdiff_t>(end)),
               scale, curve);
    } catch (const json::exception&) {
      break;
    }
    begin = end + 1;
  }
  drop_empty(curve);
  return curve;
}

}  // namespace

std::optional<CellCurve> load_curve(const Results& results, const CellRecord& cell) {
  const double scale = cell.known() ? steps_of_epoch(cell) : 0;
  if (scale <= 0) return std::nullopt;
  const ResultsFolder folder{results.folder};
  try {
    if (cell.done()) {
      CellCurve curve = from_document(json::parse(read_file(folder.curve_file(cell.id))), scale);
      curve.complete = true;
      return curve;
    }
    return from_lines(read_file(folder.cell(cell.id) / "curve.jsonl"), scale);
  } catch (const json::exception&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<Bin> thinned(const Series& series, double end, int bins) {
  struct Sum {
    double x = 0, value = 0;
    int n = 0;
  };
  std::vector<Sum> sums(static_cast<std::size_t>(bins));
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double part = series.x[i] / end * bins;
    if (!(part >= 0)) continue;
    Sum& sum = sums[static_cast<std::size_t>(std::min(part, bins - 1.0))];
    sum.x += series.x[i];
    sum.value += series.y[i];
    ++sum.n;
  }
  std::vector<Bin> out;
  for (const Sum& sum : sums) {
    if (sum.n > 0) out.push_back({sum.x / sum.n, sum.value / sum.n});
  }
  return out;
}

}  // namespace phasor
