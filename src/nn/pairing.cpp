#include "nn/pairing.h"

#include <charconv>
#include <numeric>
#include <utility>

#include "phasor/error.h"
#include "phasor/rng.h"

namespace phasor {
namespace {

constexpr std::string_view kRandom = "random:";

/// Fisher-Yates over one draw per position.
std::vector<Index> random_order(std::uint64_t seed, Index channels) {
  std::vector<Index> order(static_cast<std::size_t>(channels));
  std::iota(order.begin(), order.end(), Index{0});
  for (std::size_t i = order.size(); i > 1; --i) {
    const std::uint32_t bits =
        draw(seed, Purpose::pairing, static_cast<std::uint32_t>(channels), i)[0];
    std::swap(order[i - 1], order[uniform_below(bits, static_cast<std::uint32_t>(i))]);
  }
  return order;
}

}  // namespace

std::vector<Index> pairing_order(const std::string& pairing, Index channels) {
  if (pairing == "adjacent") return {};
  if (pairing == "half") {
    std::vector<Index> order;
    for (Index i = 0; i < channels / 2; ++i) order.insert(order.end(), {i, i + channels / 2});
    return order;
  }
  std::uint64_t seed = 0;
  const char* end = pairing.data() + pairing.size();
  if (pairing.starts_with(kRandom)) {
    const auto read = std::from_chars(pairing.data() + kRandom.size(), end, seed);
    if (read.ec == std::errc() && read.ptr == end) return random_order(seed, channels);
  }
  fail(ErrorKind::usage, "[pairing] expected adjacent, half or random:<seed>; got ", pairing);
}

std::vector<Index> inverse_order(const std::vector<Index>& order) {
  std::vector<Index> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<std::size_t>(order[i])] = static_cast<Index>(i);
  return inverse;
}

}  // namespace phasor
