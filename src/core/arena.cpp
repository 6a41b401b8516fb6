#include "phasor/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace phasor {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kFirstBlock = std::size_t{1} << 16;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

Arena::~Arena() {
  for (const Block& block : blocks_) ::operator delete[](block.data, std::align_val_t{kHugePage});
}

void Arena::add_block(std::size_t bytes) {
  bytes = round_up(bytes, bytes < kHugePage ? kFirstBlock : kHugePage);
  auto* data = static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{kHugePage}));
  if (bytes >= kHugePage) {
    madvise(data, bytes, MADV_HUGEPAGE);  // a hint: small pages work as well
    std::memset(data, 0, bytes);          // page faults happen here, never inside a step
  }
  blocks_.push_back({data, bytes});
}

void* Arena::allocate(std::size_t bytes) {
  bytes = round_up(std::max<std::size_t>(bytes, 1), kAlignment);
  while (at_.block < blocks_.size() && at_.used + bytes > blocks_[at_.block].size) {
    ++at_.block;
    at_.used = 0;
  }
  if (at_.block == blocks_.size()) add_block(std::max({bytes, kFirstBlock, capacity() / 2}));
  std::byte* result = blocks_[at_.block].data + at_.used;
  at_.used += bytes;
  return result;
}

void Arena::reset() {
  at_ = {};
  if (blocks_.size() <= 1) return;
  const std::size_t total = capacity();
  for (const Block& block : blocks_) ::operator delete[](block.data, std::align_val_t{kHugePage});
  blocks_.clear();
  add_block(total);
}

std::size_t Arena::capacity() const {
  std::size_t total = 0;
  for (const Block& block : blocks_) total += block.size;
  return total;
}

}  // namespace phasor
