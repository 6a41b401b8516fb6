// phasor-train verify as a user runs it.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "cli/process.h"

using namespace phasor::tests;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("verify prints the whole ledger and is exit 0") {
  const ProcessResult result = run({"verify"});
  CHECK(result.code == 0);
  CHECK(result.err.empty());
  for (const char* id : {"\nC1b ", "\nC2 ", "\nC11b ", "\nC15 "}) CHECK(has(result.out, id));
  CHECK(has(result.out, "=> holds under gamma_i > 0"));
  CHECK(has(result.out, "all within their bands"));
  CHECK_FALSE(has(result.out, "OUTSIDE"));
}

TEST_CASE("verify --only takes some claims, --json is valid JSON") {
  const ProcessResult text = run({"verify", "--only", "C14"});
  CHECK(text.code == 0);
  CHECK(text.out.starts_with("C14 "));
  CHECK(has(text.out, "13 numbers measured, all within their bands"));
  const ProcessResult two = run({"verify", "--only", "C8", "--only", "C15", "--json"});
  CHECK(two.code == 0);
  const auto json = nlohmann::json::parse(two.out);
  CHECK(json["passed"] == true);
  REQUIRE(json["claims"].size() == 2);
  CHECK(json["claims"][0]["id"] == "C8");
  CHECK(json["claims"][0]["verdict"] == "holds");
  CHECK(json["claims"][0]["numbers"][2]["measured"] == 4);
  CHECK(json["claims"][1]["verdict"] == "open");
}

TEST_CASE("verify refuses an unknown claim with exit 2 and names those there are") {
  const ProcessResult result = run({"verify", "--only", "C99"});
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  CHECK(has(result.err, "unknown claim; got C99"));
  CHECK(has(result.err, "C11b"));
  CHECK(run({"verify", "extra"}).code == 2);
}
