#include "sweep/max_lr.h"

#include <doctest/doctest.h>

#include <map>

#include "config/reader.h"
#include "phasor/error.h"
#include "sweep/engine.h"

using namespace phasor;

namespace {

Config config_of(const std::string& members) {
  ConfigInput input;
  input.text = R"({"model": {"arch": "resnet8"}, )" + members + "}";
  input.file = "test.json";
  return read_config(input, norm_catalog()).config;
}

/// Bisects against a norm that trains up to `limit`; the learning rates tried.
std::vector<double> tried(LrBracket& bracket, double limit) {
  std::vector<double> rates;
  while (const std::optional<double> lr = bracket.next()) {
    rates.push_back(*lr);
    bracket.add(*lr, *lr <= limit);
    REQUIRE(rates.size() < 50);
  }
  return rates;
}

/// Runs a whole search in which a cell trains where `trains` says so.
template <class Trains>
int rounds(MaxLrSearch& search, const Trains& trains) {
  int count = 0;
  while (const std::optional<Plan> plan = search.next_round()) {
    std::vector<std::string> verdicts;
    for (const PlannedCell& cell : plan->cells)
      verdicts.push_back(trains(cell.config) ? "trained" : "stalled");
    search.record(*plan, verdicts);
    REQUIRE(++count < 50);
  }
  return count;
}

}  // namespace

TEST_CASE("a bisection closes in on the limit by geometric middles") {
  LrBracket bracket({.from = 0.01, .to = 10, .ratio = 1.5});
  CHECK(tried(bracket, 0.4) == std::vector<double>{0.316, 1.78, 0.75, 0.487, 0.392});
  CHECK(bracket.trains() == 0.392);
  CHECK(bracket.fails() == 0.487);
}

TEST_CASE("the ends of the range are tried only where the bracket closes upon them") {
  LrBracket all({.from = 1, .to = 4, .ratio = 2});
  CHECK(tried(all, 100) == std::vector<double>{2, 4});
  CHECK(all.trains() == 4);
  CHECK_FALSE(all.fails());
  LrBracket nothing({.from = 1, .to = 4, .ratio = 2});
  CHECK(tried(nothing, 0.5) == std::vector<double>{2, 1});
  CHECK_FALSE(nothing.trains());
  CHECK(nothing.fails() == 1);
}

TEST_CASE("a ratio below what three digits resolve ends all the same") {
  LrBracket bracket({.from = 1, .to = 1.05, .ratio = 1.000001});
  tried(bracket, 1.026);
  CHECK(bracket.trains() == 1.02);
  CHECK(bracket.fails() == 1.03);
}

TEST_CASE(
    "every combination of the other axes has its own search; the sweep's rates are not used") {
  const Config config = config_of(R"("sweep": {"norm": ["layernorm", "mrsnorm"], "seed": [0, 1],
      "train": [{"lr": 7, "batch_size": 32}, {"lr": 8, "batch_size": 64},
                {"lr": 9, "batch_size": 64}]})");
  MaxLrSearch search(config, norm_catalog(), {.from = 0.01, .to = 10, .ratio = 1.2});
  REQUIRE(search.groups().size() == 4);
  CHECK(search.groups()[0].label == "layernorm-bs32");
  const std::map<std::string, double> limits{{"layernorm", 0.2}, {"mrsnorm", 0.6}};
  rounds(search, [&](const Config& cell) {
    CHECK(cell.train.lr <= 10);
    CHECK(cell.train.lr != 7);
    // One seed gives up earlier: the smaller limit counts.
    const double share = cell.train.seed == 1 ? 0.5 : 1;
    return cell.train.lr <= limits.at(cell.norm.name) * share;
  });
  for (const LrGroup& group : search.groups()) {
    const double limit = limits.at(group.config.norm.name) / 2;
    INFO(group.label);
    REQUIRE(group.bracket.trains());
    REQUIRE(group.bracket.fails());
    CHECK(*group.bracket.trains() <= limit);
    CHECK(*group.bracket.fails() > limit);
    CHECK(*group.bracket.fails() <= *group.bracket.trains() * 1.2);
    for (const LrTrial& trial : group.trials) CHECK(trial.verdicts.size() == 2);
  }
  // All trials and nothing else: two seeds each.
  std::size_t trials = 0;
  for (const LrGroup& group : search.groups()) trials += group.trials.size();
  CHECK(search.tried().cells.size() == 2 * trials);
}

TEST_CASE("a trial is the very cell that a sweep has at this learning rate") {
  const std::string rest =
      R"("train": {"epochs": 2}, "data": {"train_limit": 70}, "norm": {"name": "mrsnorm"})";
  MaxLrSearch search(config_of(rest), norm_catalog(), {.from = 0.1, .to = 0.4, .ratio = 1.1});
  std::optional<Plan> round = search.next_round();
  REQUIRE(round);
  bind_data(*round);
  Plan sweep = plan_cells(config_of(rest + R"(, "sweep": {"lr": [0.2]})"), norm_catalog());
  bind_data(sweep);
  REQUIRE(round->cells.size() == 1);
  CHECK(round->cells[0].id == sweep.cells[0].id);
}

TEST_CASE("a range that is none is refused") {
  const Config config = config_of(R"("norm": {"name": "mrsnorm"})");
  for (const LrRange& range :
       {LrRange{0, 1, 1.1}, LrRange{1, 1, 1.1}, LrRange{0.1, 1, 1}, LrRange{-1, 1, 2}})
    CHECK_THROWS_WITH_AS(MaxLrSearch(config, norm_catalog(), range),
                         doctest::Contains("needs 0 < from < to and a ratio above 1"), Error);
}
