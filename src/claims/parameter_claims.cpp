// C14, C15: what the networks themselves say.
#include "claims/claim_list.h"
#include "nn/resnet.h"
#include "norms/contract/registry.h"

namespace phasor::claims {
namespace {

struct Count {
  double norm, other;
};

Count count(const char* norm, const char* arch, bool projection, Index classes = 100) {
  NormFactory factory;
  factory.spec = &find_norm(norm);
  const auto model =
      make_resnet({.arch = arch, .projection = projection, .classes = classes}, factory);
  const Index in_norms = model->parameter_count(ParameterRole::norm);
  return {static_cast<double>(in_norms), static_cast<double>(model->parameter_count() - in_norms)};
}

}  // namespace

// LayerNorm has 2 parameters a channel, RMSNorm 1, MRSNorm 1/2. Normalised channels of ResNet-20
// with parameter-free shortcuts: 16 (stem) + 6 (16 + 32 + 64) = 688; projections add 32 + 64.
// ResNet-18: 64 (stem) + 4 (64 + 128 + 256 + 512) + 128 + 256 + 512 = 4800.
// Convolutions and head of ResNet-20, 100 classes: 9 (3*16 + 6*16^2 + 16*32 + 5*32^2 + 32*64 +
// 5*64^2) = 267,696, and 64*100 + 100.
Claim half_the_parameters() {
  Claim claim{.id = {},
              .statement = "MRSNorm does with half the parameters, without loss.",
              .verdict = Verdict::holds_under,
              .condition =
                  "the reading that only the norms' own parameters count: half of RMSNorm's, "
                  "a quarter of LayerNorm's, and 0.1% of the network. Whether nothing is "
                  "lost, only a sweep can say.",
              .input = "the networks as `describe` builds them, 100 classes",
              .numbers = {}};
  const auto add = [&](const char* what, const char* source, double predicted, double measured) {
    claim.numbers.push_back(exactly(what, source, predicted, measured));
  };
  add("resnet20, pad: layernorm", "2 * 688", 1376, count("layernorm", "resnet20", false).norm);
  add("resnet20, pad: rmsnorm", "688", 688, count("rmsnorm", "resnet20", false).norm);
  add("resnet20, pad: mrsnorm", "688 / 2", 344, count("mrsnorm", "resnet20", false).norm);
  add("resnet20, pad: convolutions and head", "267,696 + 6,500", 274196,
      count("mrsnorm", "resnet20", false).other);
  add("resnet20, projection: layernorm", "2 * (688 + 96)", 1568,
      count("layernorm", "resnet20", true).norm);
  add("resnet20, projection: rmsnorm", "688 + 96", 784, count("rmsnorm", "resnet20", true).norm);
  add("resnet20, projection: mrsnorm", "(688 + 96) / 2", 392,
      count("mrsnorm", "resnet20", true).norm);
  add("resnet20, projection: convolutions and head", "274,196 + 16*32 + 32*64", 276756,
      count("mrsnorm", "resnet20", true).other);
  add("resnet18: layernorm", "2 * 4800", 9600, count("layernorm", "resnet18", true).norm);
  add("resnet18: rmsnorm", "4800", 4800, count("rmsnorm", "resnet18", true).norm);
  add("resnet18: mrsnorm", "4800 / 2", 2400, count("mrsnorm", "resnet18", true).norm);
  add("resnet18: convolutions and head", "11,220,132 - 9,600", 11210532,
      count("mrsnorm", "resnet18", true).other);
  const Count ten = count("layernorm", "resnet20", false, 10);
  add("resnet20, pad, 10 classes, 2 per channel: all", "He et al.: 0.27M", 269722,
      ten.norm + ten.other);
  return claim;
}

Claim survives_high_learning_rates() {
  return {.id = {},
          .statement =
              "At learning rates of 0.3 and above LayerNorm and RMSNorm collapse, and "
              "MRSNorm trains on.",
          .verdict = Verdict::open,
          .condition =
              "No formula decides it: phasor-train --config stress.json trains the 27 "
              "cells, and the controls rms_pair, mrs_channel and matched gains tell what "
              "is behind a difference.",
          .input = "the sweep",
          .numbers = {}};
}

}  // namespace phasor::claims
