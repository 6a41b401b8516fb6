// The ledger as text and as JSON.
#include "claims/print.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "phasor/error.h"

using namespace phasor;
using namespace phasor::claims;

namespace {

Claim failing() {
  return {.id = "X1",
          .statement = "One is two.",
          .verdict = Verdict::does_not_hold,
          .condition = "It is one.",
          .input = "one",
          .numbers = {near("one", "by counting", 2, 1), at_most("less", "a bound", 1e-3, 5e-4)}};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("bands: relative, absolute, bounds, equality, and NaN is outside all of them") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(near("", "", 2, 2.002, 1.1e-3).passed());
  CHECK_FALSE(near("", "", 2, 2.002, 0.9e-3).passed());
  CHECK(near("", "", -2, -2.002, 1.1e-3).passed());
  CHECK(about("", "", 1, 1.4, 0.5).passed());
  CHECK_FALSE(about("", "", 1, 1.6, 0.5).passed());
  CHECK(at_most("", "", 1e-9, 0).passed());
  CHECK_FALSE(at_most("", "", 1e-9, 1.1e-9).passed());
  CHECK_FALSE(at_most("", "", 1e-9, -1e-12).passed());
  CHECK(exactly("", "", 64, 64).passed());
  CHECK_FALSE(exactly("", "", 64, std::nextafter(64, 65)).passed());
  for (const Measurement& number : {near("", "", 1, nan), at_most("", "", 1, nan),
                                    about("", "", 1, nan, 5), exactly("", "", 1, nan)})
    CHECK_FALSE(number.passed());
}

TEST_CASE("a number outside its band is marked, counted and fails its claim") {
  const Claim claim = failing();
  CHECK_FALSE(claim.passed());
  const std::string text = ledger_text({claim});
  CHECK(has(text, "=> does not hold. It is one."));
  CHECK(has(text, "^ OUTSIDE [2, 2]"));
  CHECK(has(text, "<= 0.001"));
  CHECK(has(text, "2 numbers measured, 1 within their bands; 1 OUTSIDE"));
  CHECK(has(text, "1/2  One is two."));
  const auto json = nlohmann::json::parse(ledger_json({claim}));
  CHECK(json["passed"] == false);
  CHECK(json["claims"][0]["numbers"][0]["passed"] == false);
  CHECK(json["claims"][0]["numbers"][1]["passed"] == true);
}

TEST_CASE("a number that is not finite is null in JSON, with its kind") {
  Claim claim = failing();
  claim.numbers[0].measured = std::numeric_limits<double>::infinity();
  claim.numbers[1].measured = std::numeric_limits<double>::quiet_NaN();
  const auto json = nlohmann::json::parse(ledger_json({claim}));
  CHECK(json["claims"][0]["numbers"][0]["measured"].is_null());
  CHECK(json["claims"][0]["numbers"][0]["measured_kind"] == "inf");
  CHECK(json["claims"][0]["numbers"][1]["measured_kind"] == "nan");
}

TEST_CASE("the whole ledger fits into 100 columns of ASCII and reads back from JSON") {
  const std::vector<Claim> claims = measure_all();
  std::istringstream lines(ledger_text(claims));
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.size() <= 100);
    for (const char c : line) CHECK((c >= ' ' && c <= '~'));
  }
  const auto json = nlohmann::json::parse(ledger_json(claims));
  REQUIRE(json["claims"].size() == claims.size());
  CHECK(json["passed"] == true);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const auto& one = json["claims"][i];
    CHECK(one["id"] == claims[i].id);
    CHECK(one["claim"] == claims[i].statement);
    REQUIRE(one["numbers"].size() == claims[i].numbers.size());
    for (std::size_t k = 0; k < claims[i].numbers.size(); ++k) {
      CHECK(one["numbers"][k]["measured"].get<double>() == claims[i].numbers[k].measured);
      CHECK(one["numbers"][k]["predicted"].get<double>() == claims[i].numbers[k].predicted);
      CHECK(one["numbers"][k]["low"].get<double>() == claims[i].numbers[k].low);
    }
  }
}

TEST_CASE("an unknown claim is a usage error that names the nearest and all") {
  try {
    measure("C1c");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(has(error.what(), "got C1c"));
    CHECK(has(error.what(), "C11b, C12"));
  }
}
