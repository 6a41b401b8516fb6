#include "phasor/arena.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>

namespace phasor {
namespace {

TEST_CASE("an arena hands out aligned pieces that do not overlap") {
  Arena arena;
  std::vector<std::pair<unsigned char*, std::size_t>> pieces;
  for (const std::size_t bytes : {1u, 63u, 64u, 65u, 100000u, 0u, 3000000u, 7u}) {
    auto* piece = arena.allocate_array<unsigned char>(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(piece) % 64 == 0);
    std::memset(piece, static_cast<int>(pieces.size() + 1), bytes);
    pieces.emplace_back(piece, bytes);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i)
    for (std::size_t k = 0; k < pieces[i].second; ++k)
      if (pieces[i].first[k] != i + 1) FAIL("piece ", i, " was overwritten at ", k);
}

TEST_CASE("reset merges the blocks, and the second round takes no memory") {
  Arena arena;
  const auto round = [&] {
    for (int i = 0; i < 100; ++i) arena.allocate(10000 + 1000 * static_cast<std::size_t>(i));
  };
  round();
  arena.reset();
  round();
  const std::size_t capacity = arena.capacity();
  const auto* first = arena.allocate(1);
  for (int i = 0; i < 3; ++i) {
    arena.reset();
    round();
    CHECK(arena.capacity() == capacity);
    CHECK(arena.allocate(1) == first);
  }
}

TEST_CASE("a scope gives back what was taken inside it, across blocks") {
  Arena arena;
  auto* kept = arena.allocate_array<char>(100);
  void* next = nullptr;
  {
    const ArenaScope scope(arena);
    next = arena.allocate(100);
    arena.allocate(1000000);
    arena.allocate(10000000);
  }
  CHECK(arena.allocate(100) == next);
  CHECK(kept != next);
}

}  // namespace
}  // namespace phasor
