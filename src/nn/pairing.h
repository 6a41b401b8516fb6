// Which two channels form a phasor.
#pragma once

#include <string>
#include <vector>

#include "phasor/shape.h"

namespace phasor {

/// The channels in the order in which neighbours are phasors: phasor i is (order[2i], order[2i+1]),
/// and so belongs to gain i. Empty for `adjacent`, (2i, 2i+1). `half` pairs channel i with i + C/2;
/// `random:<seed>` draws one permutation for each number of channels, so that all layers of one
/// width agree, as they do in the other two. Throws a usage error for other text.
std::vector<Index> pairing_order(const std::string& pairing, Index channels);

/// The way back: inverse[order[i]] = i.
std::vector<Index> inverse_order(const std::vector<Index>& order);

}  // namespace phasor
