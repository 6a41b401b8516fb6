#include "norms/contract/registry.h"

#include <doctest/doctest.h>

namespace phasor {
namespace {

NormSpec spec_named(const std::string& name) {
  NormSpec spec;
  spec.name = name;
  spec.make = [](NormBuilder&) -> std::unique_ptr<Norm> { return nullptr; };
  return spec;
}

std::string message_of(const std::vector<norms::ListedNorm>& list) {
  try {
    norms::collect_specs(list);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("the registry is sorted by name and finds each norm") {
  const std::vector<NormSpec>& specs = norm_specs();
  REQUIRE(specs.size() >= 4);
  for (std::size_t i = 1; i < specs.size(); ++i) CHECK(specs[i - 1].name < specs[i].name);
  for (const NormSpec& spec : specs) CHECK(&find_norm(spec.name) == &spec);
  for (const char* name : {"layernorm", "mrsnorm", "none", "rmsnorm"})
    CHECK(find_norm(name).name == name);
}

TEST_CASE("an unknown name is answered with the nearest one and the list") {
  try {
    find_norm("mrsnrom");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    const std::string message = error.what();
    CHECK(message.starts_with("[norm] unknown norm; got mrsnrom; did you mean mrsnorm?; known: "));
    CHECK(message.find("layernorm") != std::string::npos);
  }
}

TEST_CASE("two norms of one name, a misnamed file and a missing maker are errors that name them") {
  const auto spec_a = [] { return spec_named("a"); };
  CHECK(message_of({{"a", spec_a}, {"b", spec_a}}) ==
        "[norms] names are unique; got a from a.cpp and b.cpp");
  CHECK(message_of({{"c", spec_a}}) == "[norms] a norm is called like its file; got a in c.cpp");
  CHECK(message_of({{"d", [] { return NormSpec{}; }}}) ==
        "[norms] a norm needs a make function; got none in d");
}

TEST_CASE("a builder knows its layer, and explains what a norm asks for wrongly") {
  NormBuilder builder("layer1.0.norm1", 16, 1e-5, 1.0, true,
                      {{"groups", std::int64_t{4}}, {"mode", std::string("half")}, {"on", true}});
  CHECK(builder.integer("groups") == 4);
  CHECK(builder.text("mode") == "half");
  CHECK(builder.flag("on"));
  CHECK_THROWS_WITH_AS(builder.number("alpha"),
                       "[layer1.0.norm1] a norm may only ask for keys of its spec; got alpha; "
                       "list it in norm_spec().keys",
                       Error);
  CHECK_THROWS_WITH_AS(builder.number("groups"),
                       "[layer1.0.norm1] groups is not a number; ask for it by the type of its "
                       "default in norm_spec().keys",
                       Error);
  CHECK(builder.parameter("weight", {16}, 1) == 0);
  CHECK(builder.parameter("bias", {16}, 0) == 1);
  CHECK_THROWS_AS(builder.parameter("bias", {16}, 0), Error);
  CHECK_THROWS_WITH_AS(NormBuilder("stem", 16, -1, 1, true),
                       "[stem] norm.eps must not be negative; got -1", Error);
}

}  // namespace
}  // namespace phasor
