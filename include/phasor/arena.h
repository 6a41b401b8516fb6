// Arena: memory handed out by moving a pointer and taken back all at once.
#pragma once

#include <cstddef>
#include <vector>

#include "phasor/api.h"

namespace phasor {

/// Hands out 64-byte aligned memory. It grows by blocks; `reset` merges them into one, so that a
/// program that repeats the same pattern allocates only in its first round. One arena belongs to
/// one thread. Blocks of 2 MiB and more ask the system for huge pages and are touched once.
class PHASOR_API Arena {
 public:
  /// A place to go back to.
  struct Mark {
    std::size_t block = 0;
    std::size_t used = 0;
  };

  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Memory of `bytes` bytes, not initialised, aligned to 64; valid until released or reset.
  void* allocate(std::size_t bytes);
  template <class T>
  T* allocate_array(std::size_t count) {
    return static_cast<T*>(allocate(count * sizeof(T)));
  }

  Mark mark() const { return at_; }
  /// Takes back everything handed out since `mark`.
  void release(Mark mark) { at_ = mark; }
  /// Takes back everything, and merges the blocks into one of their total size.
  void reset();

  std::size_t capacity() const;

 private:
  struct Block {
    std::byte* data;
    std::size_t size;
  };
  void add_block(std::size_t bytes);

  std::vector<Block> blocks_;
  Mark at_;
};

/// Takes back, when it goes out of scope, what was allocated since it was made.
class ArenaScope {
 public:
  explicit ArenaScope(Arena& arena) : arena_(arena), mark_(arena.mark()) {}
  ~ArenaScope() { arena_.release(mark_); }
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  Arena& arena_;
  Arena::Mark mark_;
};

}  // namespace phasor
