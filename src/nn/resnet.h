// CIFAR ResNets with post-norm basic blocks (He et al. 2015), for any norm.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nn/model.h"
#include "phasor/norm.h"

namespace phasor {

/// What is normalised together: the channels of one pixel, or height, width and channels of one
/// image.
enum class RowAxes : std::uint8_t { channel, sample };

/// Makes the norm layers of a network. The network never learns which norm it is.
struct NormFactory {
  const NormSpec* spec = nullptr;
  RowAxes axes = RowAxes::channel;
  double eps = 1e-5;
  double gamma_init = 1.0;
  bool affine = true;
  std::string pairing = "adjacent";  ///< see pairing.h; only for norms that pair channels
  StatisticPrecision precision = {};
  std::vector<std::pair<std::string, NormValue>> values;  ///< of the norm's own keys
};

struct ResNetOptions {
  std::string arch = "resnet20";  ///< "resnet18", or "resnet{6n+2}": 8, 14, 20, 32, 44, 56, ...
  double width = 1;           ///< multiplies every channel count, rounded to the nearest integer
  bool projection = true;     ///< shortcut where shapes change: 1x1 convolution + norm, or pad
  bool pytorch_init = false;  ///< convolutions uniform +-1/sqrt(fan_in), not Kaiming fan-out
  Index classes = 100;
};

/// Throws a usage error for an unknown arch, a width that leaves no channel, or a channel count
/// that the norm does not take (naming the layer).
std::unique_ptr<Model> make_resnet(const ResNetOptions& options, const NormFactory& norm);

/// Whether `arch` names a network: resnet18 or resnet{6n+2}, n >= 1.
bool is_arch(const std::string& arch);

}  // namespace phasor
