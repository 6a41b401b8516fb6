#include "report/curve_figures.h"

#include <algorithm>
#include <cmath>
#include <functional>
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

using Part = std::function<const Series&(const CellCurve&)>;

Part part(Series CellCurve::*series) {
  return [series](const CellCurve& curve) -> const Series& { return curve.*series; };
}

/// What a figure shows of a curve.
struct Quantity {
  Part series;
  bool thinned = true;  ///< by bins; else every point, with a marker or thin
  bool thin = false;
  Part low = {}, high = {};  ///< of a band around it; empty: none
};

struct Topic {
  std::string name;
  std::string title;
  const char* unit;
  std::vector<Quantity> quantities;
  bool log;
  double least, most;     ///< what lies outside is drawn at the edge
  bool recorded = false;  ///< only some cells have it: the others are left out
};

std::vector<Bin> points_of(const Series& series, bool by_bins, double end) {
  if (by_bins) return thinned(series, end, kBins);
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

/// From the least of all lows to the greatest of all highs, over the same places.
ChartBand range_of(const std::vector<std::vector<Bin>>& lows,
                   const std::vector<std::vector<Bin>>& highs, const LineStyle& style) {
  std::map<double, ChartPoint> least, greatest;
  for (const auto& low : lows) {
    for (const Bin& point : low) {
      const auto [at, first] = least.try_emplace(point.x, ChartPoint{point.x, point.value});
      if (!first && !(at->second.y <= point.value)) at->second.y = point.value;
    }
  }
  for (const auto& high : highs) {
    for (const Bin& point : high) {
      const auto [at, first] = greatest.try_emplace(point.x, ChartPoint{point.x, point.value});
      if (!first && !(at->second.y >= point.value)) at->second.y = point.value;
    }
  }
  ChartBand band{.style = style};
  for (const auto& [x, low] : least) {
    const auto high = greatest.find(x);
    if (high == greatest.end()) continue;
    if (!std::isfinite(low.y) || !std::isfinite(high->second.y)) continue;
    band.low.push_back(low);
    band.high.push_back(high->second);
  }
  return band;
}

/// The first place where a number was not finite.
std::optional<double> first_break(const Series& series) {
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!std::isfinite(series.y[i])) return series.x[i];
  }
  return std::nullopt;
}

void add_marks(const GroupCurves& curves, const Part& series, Chart& chart) {
  for (const CellCurve& seed : curves.seeds) {
    if (const auto x = first_break(series(seed))) {
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

  /// The first curve that recorded diagnostics; null where none did.
  const CellCurve* diagnosed() const {
    for (const GroupCurves& curves : curves_) {
      for (const CellCurve& seed : curves.seeds) {
        if (!seed.statistics[0].layer.empty()) return &seed;
      }
    }
    return nullptr;
  }

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
          for (const Part* shown : {&quantity.series, &quantity.low, &quantity.high}) {
            if (!*shown) continue;
            for (const Bin& point : points_of((*shown)(seed), quantity.thinned, end_)) {
              if (!std::isfinite(point.value)) continue;
              least = std::min(least, point.value);
              most = std::max(most, point.value);
            }
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
      for (const Quantity& quantity : topic.quantities) {
        const auto seeds_of = [&](const Part& shown) {
          std::vector<std::vector<Bin>> seeds;
          for (const CellCurve& seed : curves.seeds) {
            auto points = points_of(shown(seed), quantity.thinned, end_);
            if (!topic.recorded || !points.empty()) seeds.push_back(std::move(points));
          }
          return seeds;
        };
        const std::vector<std::vector<Bin>> seeds = seeds_of(quantity.series);
        if (seeds.empty()) continue;
        drawn = true;
        if (quantity.low) {
          chart.bands.push_back(
              range_of(seeds_of(quantity.low), seeds_of(quantity.high), curves.style));
        }
        add_seeds(seeds, curves.style, chart, quantity.thin, !quantity.thinned && !quantity.thin);
      }
      add_marks(curves, topic.quantities[0].series, chart);
    }
    if (!planned) return;
    if (!drawn) {
      chart.note = topic.recorded ? "not recorded" : "no curve: not run yet, or missing";
    }
    figure.panels.push_back(
        {topic.title + ", " + chart.title, kChartWidth, kChartHeight, chart_content(chart)});
  }

  const std::vector<Group>& groups_;
  std::vector<GroupCurves> curves_;
  std::vector<LegendEntry> legend_;
  double end_ = 0;
  bool several_ = false, unfinished_ = false;
};

/// What train.diagnostics recorded; nothing where it did not.
std::vector<Figure> diagnostic_figures(const FigureMaker& maker) {
  const CellCurve* diagnosed = maker.diagnosed();
  if (diagnosed == nullptr) return {};
  std::vector<Figure> figures;
  const auto add = [&](const Topic& topic, const char* note) {
    figures.push_back(maker.make(topic));
    figures.back().notes.insert(figures.back().notes.begin(), note);
  };
  const char* const places[] = {"first", "middle", "last"};
  for (std::size_t i = 0; i < diagnosed->statistics.size(); ++i) {
    const auto of = [i](Series StatisticCurve::*series) -> Part {
      return [=](const CellCurve& curve) -> const Series& { return curve.statistics[i].*series; };
    };
    add({std::string("statistic_") + places[i],
         std::string("Statistic of the ") + places[i] + " norm layer (" +
             diagnosed->statistics[i].layer + ")",
         "log scale",
         {{of(&StatisticCurve::mean), true, false, of(&StatisticCurve::least),
           of(&StatisticCurve::greatest)}},
         true,
         1e-6,
         1e6,
         true},
        "What the norm divides its input by: the mean over the rows of the images looked at, and "
        "a band from the least to the greatest row.");
  }
  add({"dead_relu", "Dead ReLUs", "", {{part(&CellCurve::dead_relu)}}, false, 0, 1, true},
      "Share of channels that are zero at every pixel of every image looked at, mean over the "
      "norm layers with a ReLU.");
  add({"effective_lr",
       "Effective learning rate",
       "log scale",
       {{part(&CellCurve::effective_lr)}},
       true,
       1e-9,
       1e3,
       true},
      "lr / |w|², the learning rate of a weight's direction, mean over the convolutions before a "
      "scale-invariant norm.");
  return figures;
}

}  // namespace

std::vector<Figure> curve_figures(const Results& results, const std::vector<Group>& groups) {
  const FigureMaker maker(results, groups);
  if (maker.empty()) return {};
  std::vector<Figure> figures;
  figures.push_back(maker.make(
      {"loss", "Training loss", "log scale", {{part(&CellCurve::loss)}}, true, 1e-4, 1e3}));
  figures.back().notes.insert(figures.back().notes.begin(),
                              "Loss of the logged steps, averaged over a hundredth of the axis; a "
                              "cross is the first number that is not finite.");
  figures.push_back(maker.make(
      {"accuracy",
       "Accuracy",
       "",
       {{part(&CellCurve::test_accuracy), false}, {part(&CellCurve::train_accuracy), false, true}},
       false,
       0,
       1}));
  figures.back().notes.insert(figures.back().notes.begin(),
                              "With markers: test accuracy after each evaluation. Thin: training "
                              "accuracy, the mean over each epoch (augmented images).");
  figures.push_back(maker.make({"grad_norm",
                                "Gradient norm",
                                "log scale",
                                {{part(&CellCurve::grad_norm)}},
                                true,
                                1e-6,
                                1e4}));
  figures.back().notes.insert(figures.back().notes.begin(),
                              "Euclidean norm of the whole gradient before weight decay and "
                              "clipping, averaged like the loss.");
  for (Figure& figure : diagnostic_figures(maker)) figures.push_back(std::move(figure));
  return figures;
}

}  // namespace phasor
