#include "report/heat_map.h"

#include <algorithm>
#include <array>

#include "config/json_text.h"
#include "report/comparisons.h"
#include "report/markdown.h"
#include "report/svg.h"

namespace phasor {
namespace {

constexpr double kLeft = 46, kTop = 42, kHeight = 62, kGap = 3;

struct VerdictStyle {
  const char* verdict;
  const char* fill;
  const char* ink;
  const char* meaning;
};

/// Blue to dark red over yellow and orange: distinct in hue for every kind of colour vision and in
/// lightness for print.
constexpr std::array kVerdicts{
    VerdictStyle{"trained", "#1F6FB2", "#fff", "trained: above chance at the end"},
    VerdictStyle{"stalled", "#F2E6A0", "#222", "stalled: finite, but at chance"},
    VerdictStyle{"diverged", "#E8963C", "#222", "diverged: loss stayed huge"},
    VerdictStyle{"nonfinite", "#6B1420", "#fff", "nonfinite: NaN or infinity"}};
constexpr VerdictStyle kNoVerdict{"", "#fff", "#444", "no result (yet)"};

const VerdictStyle& style_of(const CellRecord& cell) {
  if (!cell.done()) return kNoVerdict;
  for (const VerdictStyle& style : kVerdicts) {
    if (cell.verdict == style.verdict) return style;
  }
  return kNoVerdict;
}

std::string box(double x, double y, double width, double height, const VerdictStyle& style) {
  const bool none = style.verdict[0] == '\0';
  return "<rect x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\" width=\"" +
         svg_number(width) + "\" height=\"" + svg_number(height) + "\" fill=\"" + style.fill +
         (none ? "\" stroke=\"#999\" stroke-dasharray=\"4 3\"/>" : "\"/>");
}

std::string mean_accuracy(const Group& group) {
  const std::vector<const CellRecord*> done = group.done();
  if (done.empty()) return "";
  double mean = 0;
  for (const CellRecord* cell : done) {
    mean += percent_of(*cell, &CellRecord::test_accuracy) / static_cast<double>(done.size());
  }
  return "test " + fixed_text(mean, 1) + "%";
}

/// The lines of a field with one seed, or whose seeds agree.
std::vector<std::string> field_text(const Group& group) {
  const CellRecord& cell = group.first();
  const std::size_t done = group.done().size(), all = group.cells.size();
  if (done == 0)
    return {all == 1 ? verdict_text(cell) : "no result",
            all == 1 ? "" : "of " + std::to_string(all)};
  if (all > 1) {
    std::string count = std::to_string(group.trained()) + "/" + std::to_string(done) + " trained";
    if (done < all) count += ", " + std::to_string(all - done) + " open";
    return {count, mean_accuracy(group)};
  }
  if (cell.verdict_step) return {cell.verdict, "at step " + std::to_string(*cell.verdict_step)};
  return {cell.verdict.empty() ? "no verdict" : cell.verdict,
          cell.test_accuracy ? mean_accuracy(group) : ""};
}

/// Verdicts of finished seeds that did not train: "2 nonfinite, 1 stalled"; empty for one seed.
std::string other_verdicts(const Group& group) {
  std::string text;
  if (group.cells.size() == 1) return text;
  for (const VerdictStyle& style : kVerdicts) {
    const auto n = std::count_if(group.cells.begin(), group.cells.end(), [&](const auto* cell) {
      return cell->done() && cell->verdict == style.verdict;
    });
    if (n == 0 || &style == &kVerdicts[0]) continue;
    text.append(text.empty() ? "" : ", ").append(std::to_string(n)).append(" ");
    text += style.verdict;
  }
  return text;
}

/// One field: a stripe for each seed; the words stand on a plate where the stripes differ.
std::string field(const Group& group, double x, double y, double width) {
  std::string out;
  const double inner = width - kGap, height = kHeight - kGap;
  const double stripe = inner / static_cast<double>(group.cells.size());
  const VerdictStyle& first = style_of(group.first());
  const bool uniform = std::all_of(group.cells.begin(), group.cells.end(), [&](const auto* cell) {
    return style_of(*cell).fill == first.fill;
  });
  if (uniform) {
    out += box(x, y, inner, height, first);
  } else {
    for (std::size_t i = 0; i < group.cells.size(); ++i) {
      out += box(x + stripe * static_cast<double>(i), y, stripe, height, style_of(*group.cells[i]));
    }
    out += "<rect x=\"" + svg_number(x + 3) + "\" y=\"" + svg_number(y + 6) + "\" width=\"" +
           svg_number(inner - 6) + "\" height=\"47\" fill=\"#fff\" fill-opacity=\".92\" rx=\"2\"/>";
  }
  const char* ink = uniform ? first.ink : "#222";
  const std::vector<std::string> lines = field_text(group);
  const double middle = x + inner / 2;
  const double size = std::min(12.5, inner / std::max(1.0, svg_text_width(lines[0], 1)));
  const std::string others = other_verdicts(group);
  const double top = y + (others.empty() ? (lines[1].empty() ? 34 : 27) : 20);
  out += svg_text(middle, top, lines[0], {size, Anchor::middle, ink, true});
  if (!lines[1].empty()) out += svg_text(middle, top + 15, lines[1], {11, Anchor::middle, ink});
  if (!others.empty()) {
    const double small = std::min(10.0, (inner - 8) / svg_text_width(others, 1));
    out += svg_text(middle, top + 28, others, {small, Anchor::middle, ink});
  }
  return out + "\n";
}

std::string legend_box(const VerdictStyle& style) { return box(1, 0.5, 28, 11, style); }

}  // namespace

Figure verdict_map(const std::vector<Group>& groups) {
  Figure figure{.name = "verdicts",
                .title = "Verdicts",
                .notes = {"Rows: learning rate. Columns: batch size. Each field names its verdict; "
                          "test: last test accuracy, the mean where there are several seeds."}};
  for (const VerdictStyle& style : kVerdicts) {
    figure.legend.push_back({legend_box(style), style.meaning});
  }
  figure.legend.push_back({legend_box(kNoVerdict), kNoVerdict.meaning});
  std::vector<double> rates = values_of(groups, &Group::lr);
  std::vector<std::int64_t> sizes = values_of(groups, &Group::batch_size);
  std::sort(rates.begin(), rates.end());
  std::sort(sizes.begin(), sizes.end());
  const double width = sizes.size() <= 3 ? 96 : 84;
  for (std::size_t begin = 0; begin < groups.size();) {
    const Group& head = groups[begin];
    std::string title = head.norm + (head.variant.empty() ? "" : ", " + head.variant);
    Panel panel{.title = "Verdicts of " + title,
                .width = kLeft + width * static_cast<double>(sizes.size()),
                .height = kTop + kHeight * static_cast<double>(rates.size())};
    panel.content = svg_text(kLeft, 14, title, {13, Anchor::start, "#111", true});
    for (std::size_t c = 0; c < sizes.size(); ++c) {
      panel.content += svg_text(kLeft + width * (static_cast<double>(c) + 0.5) - kGap / 2, 34,
                                "batch " + std::to_string(sizes[c]), {11, Anchor::middle, "#444"});
    }
    for (std::size_t r = 0; r < rates.size(); ++r) {
      panel.content += svg_text(kLeft - 6, kTop + kHeight * (static_cast<double>(r) + 0.5) + 3,
                                "lr " + number_text(rates[r]), {11, Anchor::end, "#444"});
    }
    std::size_t end = begin;
    for (; end < groups.size() && groups[end].norm == head.norm &&
           groups[end].variant == head.variant;
         ++end) {
      const Group& group = groups[end];
      const auto row = std::find(rates.begin(), rates.end(), group.lr) - rates.begin();
      const auto column = std::find(sizes.begin(), sizes.end(), group.batch_size) - sizes.begin();
      panel.content += field(group, kLeft + width * static_cast<double>(column),
                             kTop + kHeight * static_cast<double>(row), width);
    }
    figure.panels.push_back(std::move(panel));
    begin = end;
  }
  const std::size_t most = figure.panels.empty() || figure.panels[0].width > 340 ? 2 : 3;
  figure.columns = std::clamp<std::size_t>(figure.panels.size(), 1, most);
  return figure;
}

}  // namespace phasor
