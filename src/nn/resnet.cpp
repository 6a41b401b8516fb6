#include "nn/resnet.h"

#include <charconv>
#include <cmath>

#include "nn/layers.h"

namespace phasor {
namespace {

constexpr Index kImageSide = 32;

/// Channels and number of blocks of each stage; the first keeps the stem's side, the others halve
/// it.
struct Stage {
  Index channels;
  int blocks;
};

std::vector<Stage> stages_of(const std::string& arch) {
  if (arch == "resnet18") return {{64, 2}, {128, 2}, {256, 2}, {512, 2}};
  constexpr std::string_view kPrefix = "resnet";
  if (!arch.starts_with(kPrefix)) return {};
  int depth = 0;
  const char* end = arch.data() + arch.size();
  const auto [stop, error] = std::from_chars(arch.data() + kPrefix.size(), end, depth);
  if (error != std::errc() || stop != end || depth < 8 || (depth - 2) % 6 != 0) return {};
  const int blocks = (depth - 2) / 6;
  return {{16, blocks}, {32, blocks}, {64, blocks}};
}

class ResNet final : public Model {
 public:
  ResNet(const ResNetOptions& options, const NormFactory& norm) {
    const std::vector<Stage> stages = stages_of(options.arch);
    PHASOR_CHECK(!stages.empty(), "[model.arch] a network is resnet18 or resnet{6n+2}; got '",
                 options.arch, "'; try resnet8, resnet20 or resnet56");
    const auto widen = [&](Index channels) {
      const auto result =
          static_cast<Index>(std::lround(static_cast<double>(channels) * options.width));
      PHASOR_CHECK(result >= 1, "[model.width] every stage needs a channel; got width ",
                   options.width, ", which leaves ", result, " of ", channels);
      return result;
    };
    ModelBuilder builder(*this);
    stem_ = std::make_unique<Conv2d>(builder, "conv1", Extent{kImageSide, kImageSide, 3},
                                     widen(stages[0].channels), 3, 1, options.pytorch_init,
                                     /*input_gradient=*/false);
    stem_norm_ = std::make_unique<NormLayer>(builder, "norm1", norm, stem_->out());
    Extent extent = stem_->out();
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      for (int block = 0; block < stages[stage].blocks; ++block) {
        const int stride = stage > 0 && block == 0 ? 2 : 1;
        blocks_.emplace_back(builder, concat("layer", stage + 1, ".", block), extent,
                             widen(stages[stage].channels), stride, options, norm);
        extent = blocks_.back().out();
      }
    }
    head_ = std::make_unique<Linear>(builder, "fc", extent.channels, options.classes);
  }

  Var forward(const ForwardContext& context, const Var& images) const override {
    Var x = stem_norm_->forward(context, stem_->forward(context, images), {}, true);
    for (const BasicBlock& block : blocks_) x = block.forward(context, x);
    return head_->forward(context, global_average_pool(x));
  }

 private:
  std::unique_ptr<Conv2d> stem_;
  std::unique_ptr<NormLayer> stem_norm_;
  std::vector<BasicBlock> blocks_;
  std::unique_ptr<Linear> head_;
};

}  // namespace

bool is_arch(const std::string& arch) { return !stages_of(arch).empty(); }

std::unique_ptr<Model> make_resnet(const ResNetOptions& options, const NormFactory& norm) {
  return std::make_unique<ResNet>(options, norm);
}

}  // namespace phasor
