#include "phasor/shape.h"

#include <doctest/doctest.h>

namespace phasor {
namespace {

TEST_CASE("a shape knows its extents, size and text") {
  const Shape shape{64, 32, 32, 3};
  CHECK(shape.rank() == 4);
  CHECK(shape[0] == 64);
  CHECK(shape[-1] == 3);
  CHECK(shape.size() == 196608);
  CHECK(shape.str() == "[64,32,32,3]");
  CHECK(Shape{}.size() == 1);
  CHECK(Shape{}.str() == "[]");
  CHECK(Shape{3, 0}.size() == 0);
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK_FALSE(Shape{2, 3} == Shape{3, 2});
  CHECK_FALSE(Shape{2} == Shape{2, 1});
}

TEST_CASE("negative extents and too many axes are errors") {
  CHECK_THROWS_WITH_AS(Shape({2, -1}), "[shape] extents are not negative; got -1 on axis 1", Error);
  CHECK_THROWS_WITH_AS(Shape({1, 1, 1, 1, 1, 1, 1}), "[shape] at most 6 axes; got 7", Error);
}

TEST_CASE("broadcast follows NumPy's rule") {
  const struct {
    Shape a, b, expected;
  } table[] = {{{}, {}, {}},
               {{}, {3}, {3}},
               {{2, 3}, {3}, {2, 3}},
               {{2, 1}, {3}, {2, 3}},
               {{2, 1, 4}, {3, 1}, {2, 3, 4}},
               {{1}, {1, 1}, {1, 1}},
               {{0, 3}, {1, 3}, {0, 3}},
               {{1, 3}, {0, 1}, {0, 3}}};
  for (const auto& row : table) {
    INFO(row.a.str(), " and ", row.b.str());
    CHECK(broadcast(row.a, row.b, "test") == row.expected);
    CHECK(broadcast(row.b, row.a, "test") == row.expected);
  }
  CHECK_THROWS_WITH_AS(broadcast({2, 3}, {2}, "test"),
                       "[test] shapes must broadcast; got [2,3] and [2]; extents from the last "
                       "axis on must be equal or 1",
                       Error);
}

}  // namespace
}  // namespace phasor
