#include "train/trainer.h"

namespace phasor {

LaneTable lane_table(const Model& model) {
  // Thin networks keep the activations of a few images in the core's cache; wide ones need more
  // images for each pass over their weights.
  constexpr double kWide = 1e9;  // floating point operations of training on one image
  return model.training_flops() > kWide ? LaneTable{4, 8} : LaneTable{4, 2};
}

}  // namespace phasor
