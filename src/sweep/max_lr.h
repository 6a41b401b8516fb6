// The largest learning rate that still trains: a bisection on a logarithmic scale, one for every
// combination of the sweep's other axes, a round of trials at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/norm_catalog.h"
#include "sweep/plan.h"

namespace phasor {

/// Where to look, and how closely. All above 0, `from` below `to`, `ratio` above 1.
struct LrRange {
  double from = 0.01, to = 10;
  double ratio = 1.1;  ///< ends when the bracket's upper end is at most so many times its lower
};

/// One bisection. Every trial lies at the geometric middle of the bracket, to three digits; an end
/// of the range is tried only where the bracket has closed upon it.
class LrBracket {
 public:
  explicit LrBracket(const LrRange& range) : range_(range) {}

  /// The next learning rate to try, or nothing where the bracket is closed.
  std::optional<double> next() const;
  /// The outcome of next().
  void add(double lr, bool trained);

  std::optional<double> trains() const { return trains_; }  ///< the largest that trained
  std::optional<double> fails() const { return fails_; }    ///< the smallest tried above it

 private:
  LrRange range_;
  std::optional<double> trains_, fails_;
};

/// What was tried at one learning rate: it trains where every seed does.
struct LrTrial {
  double lr = 0;
  std::vector<std::string> verdicts;  ///< by seed, in the order of the axis
  bool trained() const;
};

/// A combination of values of all axes but lr and seed.
struct LrGroup {
  std::string label;  ///< "mrsnorm-bs128"
  Config config;      ///< of its first cell; lr is that of no trial
  LrBracket bracket;
  std::vector<LrTrial> trials;  ///< in the order tried
};

class MaxLrSearch {
 public:
  /// `config` with its axes; learning rates that it names are not used. Throws usage errors.
  MaxLrSearch(const Config& config, const NormCatalog& catalog, const LrRange& range);

  /// The cells of the next trial of every open group, or nothing where all are closed. Data is not
  /// bound, and ids are those that any sweep gives these cells.
  std::optional<Plan> next_round() const;
  /// Takes the verdicts of such a plan, one per cell and in its order.
  void record(const Plan& plan, const std::vector<std::string>& verdicts);

  /// A plan of all trials so far.
  Plan tried() const;
  const std::vector<LrGroup>& groups() const { return groups_; }

 private:
  Plan plan_of(const std::function<std::vector<double>(const LrGroup&)>& rates) const;

  Config config_;
  NormCatalog catalog_;
  std::vector<LrGroup> groups_;
};

}  // namespace phasor
