#include "cli/command.h"

namespace phasor {

std::span<const Command> commands() {
  static constexpr Command kCommands[] = {
      {"report", "tables of a results folder", run_report},
      {"compare", "two results folders, cell by cell", run_compare},
      {"eval", "test loss and accuracy of a checkpoint", run_eval},
      {"verify", "the paper's claims, measured", run_verify},
      {"max-lr", "the largest learning rate that still trains", run_max_lr},
      {"norms", "the norms there are, and what they take", run_norms},
      {"describe", "layers, shapes, parameters and FLOPs of a network", run_describe},
      {"check-norm", "gradients and declared properties of a norm", run_check_norm},
      {"new-norm", "write the project of a norm of your own", run_new_norm},
      {"make-data", "write the synthetic data set", run_make_data},
      {"schema", "JSON Schema of configurations", run_schema},
  };
  return kCommands;
}

}  // namespace phasor
