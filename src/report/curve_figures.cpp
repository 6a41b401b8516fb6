#include "report/curve_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "config/json_text.h"
#include "report/chart.h"
#include "report/curves.h"

namespace phasor {
namespace {

constexpr int kBins = 100;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct GroupCurves {
  const Group* group;
  LineStyle style;
  std::vector<CellCurve> seeds;
};

/// What a figure shows of a curve.
struct Quantity {
  Series CellCurve::*series;
  bool thinned;  ///< by bins; else every point
  bool thin = false;
};

struct Topic {
  const char* name;
  const char* title;
  const char* unit;
  std::vector<Quantity> quantities;
  bool log;
  double least, most;  ///< what lies outside is drawn at the edge
};

std::vector<Bin> points_of(const CellCurve& curve, const Quantity& quantity, double end) {
  const Series& series = curve.*quantity.series;
  if (quantity.thinned) return thinned(series, end, kBins);
  std::vector<Bin> points;
  for (std::size_t i = 0; i < series.x.size(); ++i) points.push_back({series.x[i], series.y[i]});
  return points;
}

ChartLine line_of(const std::vector<Bin>& points, const LineStyle& style) {
  ChartLine line{.style = style};
  for (const Bin& point : points) line.points.push_back({point.x, point.value});
  return line;
}

/// Mean, band and what is left of single seeds.
void add_seeds(const std::vector<std::vector<Bin>>& seeds, const LineStyle& style, Chart& chart,
               bool thin, bool markers) {
  if (seeds.size() == 1) {
    ChartLine line = line_of(seeds[0], style);
    line.thin = thin;
    line.markers = markers;
    chart.lines.push_back(std::move(line));
    return;
  }
  std::map<double, std::vector<double>> places;
  for (const auto& seed : seeds) {
    for (const Bin& point : seed) {
      if (std::isfinite(point.value)) places[point.x].push_back(point.value);
    }
  }
  ChartLine mean{.style = style, .thin = thin, .markers = markers};
  ChartBand band{.style = style};
  double last_common = -1;
  for (const auto& [x, values] : places) {
    if (values.size() < seeds.size()) {
      mean.points.push_back({x, kNone});
      continue;
    }
    double sum = 0;
    for (const double value : values) sum += value / static_cast<double>(values.size());
    mean.points.push_back({x, sum});
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    band.low.push_back({x, *low});
    band.high.push_back({x, *high});
    last_common = x;
  }
  chart.lines.push_back(std::move(mean));
  chart.bands.push_back(std::move(band));
  for (const auto& seed : seeds) {
    ChartLine rest{.style = style, .thin = true};
    for (const Bin& point : seed) {
      if (point.x >= last_common) rest.points.push_back({point.x, point.value});
    }
    if (rest.points.size() > 1) chart.lines.push_back(std::move(rest));
  }
}

/// The first place where a number was not finite.
std::optional<double> first_break(const Series& series) {
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!std::isfinite(series.y[i])) return series.x[i];
  }
  return std::nullopt;
}

void add_marks(const GroupCurves& curves, Series CellCurve::*series, Chart& chart) {
  for (const CellCurve& seed : curves.seeds) {
    if (const auto x = first_break(seed.*series)) {
      chart.marks.push_back(
          {curves.style, *x, seed.nonfinite.empty() ? "not finite" : seed.nonfinite});
    }
  }
}

class FigureMaker {
 public:
  FigureMaker(const Results& results, const std::vector<Group>& groups) : groups_{groups} {
    const std::vector<std::string> norms = values_of(groups, &Group::norm);
    for (const Group& group : groups) {
      const auto norm = std::find(norms.begin(), norms.end(), group.norm) - norms.begin();
      GroupCurves curves{&group, line_style(static_cast<std::size_t>(norm)), {}};
      for (const CellRecord* cell : group.cells) {
        auto curve = load_curve(results, *cell);
        if (!curve || curve->loss.x.empty()) continue;
        end_ = std::max(
            {end_, curve->loss.x.back(), static_cast<double>(curve->complete ? 0 : cell->epochs)});
        unfinished_ = unfinished_ || !curve->complete;
        curves.seeds.push_back(std::move(*curve));
      }
      several_ = several_ || curves.seeds.size() > 1;
      curves_.push_back(std::move(curves));
    }
    for (std::size_t n = 0; n < norms.size(); ++n) {
      legend_.push_back({svg_swatch(0, 0, line_style(n)), norms[n]});
    }
  }

  bool empty() const { return end_ <= 0; }

  Figure make(const Topic& topic) const {
    Figure figure{.name = topic.name, .title = topic.title, .legend = legend_};
    const Axis y = y_axis(topic, figure.notes);
    for (const std::string& variant : values_of(groups_, &Group::variant)) {
      for (const double rate : sorted(values_of(groups_, &Group::lr))) {
        for (const std::int64_t size : sorted(values_of(groups_, &Group::batch_size))) {
          add_panel(topic, y, variant, rate, size, figure);
        }
      }
    }
    const std::size_t sizes = values_of(groups_, &Group::batch_size).size();
    figure.columns = std::min<std::size_t>(sizes == 2 ? 2 : 3, figure.panels.size());
    if (several_) {
      figure.notes.emplace_back(
          "Several seeds: mean, and a band from the least to the greatest; where a seed has no "
          "number any more, the others are thin lines of their own.");
    }
    if (unfinished_) figure.notes.emplace_back("Some cells are unfinished: their lines end early.");
    return figure;
  }

 private:
  template <typename Values>
  static Values sorted(Values values) {
    std::sort(values.begin(), values.end());
    return values;
  }

  Axis y_axis(const Topic& topic, std::vector<std::string>& notes) const {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const GroupCurves& curves : curves_) {
      for (const CellCurve& seed : curves.seeds) {
        for (const Quantity& quantity : topic.quantities) {
          for (const Bin& point : points_of(seed, quantity, end_)) {
            if (!std::isfinite(point.value)) continue;
            least = std::min(least, point.value);
            most = std::max(most, point.value);
          }
        }
      }
    }
    if (least < topic.least || most > topic.most) {
      notes.push_back("Values outside " + number_text(topic.least) + " to " +
                      number_text(topic.most) + " are drawn at the edge.");
    }
    if (!(least <= most)) return {topic.log ? topic.least : 0, topic.most, topic.log};
    least = std::clamp(least, topic.least, topic.most);
    most = std::clamp(most, topic.least, topic.most);
    Axis axis = axis_for(topic.log ? least : 0, most, topic.log);
    axis.percent = !topic.log;
    return axis;
  }

  void add_panel(const Topic& topic, const Axis& y, const std::string& variant, double rate,
                 std::int64_t size, Figure& figure) const {
    Chart chart{.title = "lr " + number_text(rate) + ", batch " + std::to_string(size),
                .x_label = "epoch",
                .y_label = topic.unit};
    if (!variant.empty()) chart.title += ", " + variant;
    chart.x = {0, end_};
    chart.y = y;
    bool planned = false, drawn = false;
    for (const GroupCurves& curves : curves_) {
      const Group& group = *curves.group;
      if (group.variant != variant || group.lr != rate || group.batch_size != size) continue;
      planned = true;
      if (curves.seeds.empty()) continue;
      drawn = true;
      for (const Quantity& quantity : topic.quantities) {
        std::vector<std::vector<Bin>> seeds;
        for (const CellCurve& seed : curves.seeds) {
          seeds.push_back(points_of(seed, quantity, end_));
        }
        add_seeds(seeds, curves.style, chart, quantity.thin, !quantity.thinned && !quantity.thin);
      }
      add_marks(curves, topic.quantities[0].series, chart);
    }
    if (!planned) return;
    if (!drawn) chart.note = "no curve: not run yet, or missing";
    figure.panels.push_back({std::string(topic.title) + ", " + chart.title, kChartWidth,
                             kChartHeight, chart_content(chart)});
  }

  const std::vector<Group>& groups_;
  std::vector<GroupCurves> curves_;
  std::vector<LegendEntry> legend_;
  double end_ = 0;
  bool several_ = false, unfinished_ = false;
};

}  // namespace

std::vector<Figure> curve_figures(const Results& results, const std::vector<Group>& groups) {
  const FigureMaker maker(results, groups);
  if (maker.empty()) return {};
  std::vector<Figure> figures;
  figures.push_back(maker.make(
      {"loss", "Training loss", "log scale", {{&CellCurve::loss, true}}, true, 1e-4, 1e3}));
  figures.back().notes.insert(figures.back().notes.begin(),
                              "Loss of the logged steps, averaged over a hundredth of the axis; a "
                              "cross is the first number that is not finite.");
  figures.push_back(
      maker.make({"accuracy",
                  "Accuracy",
                  "",
                  {{&CellCurve::test_accuracy, false}, {&CellCurve::train_accuracy, false, true}},
                  false,
                  0,
                  1}));
  figures.back().notes.insert(figures.back().notes.begin(),
                              "With markers: test accuracy after each evaluation. Thin: training "
                              "accuracy, the mean over each epoch (augmented images).");
  figures.push_back(maker.make({"grad_norm",
                                "Gradient norm",
                                "log scale",
                                {{&CellCurve::grad_norm, true}},
                                true,
                                1e-6,
                                1e4}));
  figures.back().notes.insert(figures.back().notes.begin(),
                              "Euclidean norm of the whole gradient before weight decay and "
                              "clipping, averaged like the loss.");
  return figures;
}

}  // namespace phasor
