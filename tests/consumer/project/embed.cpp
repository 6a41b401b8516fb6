// A program that uses the engine: MRSNorm of two phasors at eps 0, and its gradient.
#include <cmath>
#include <cstdio>
#include <vector>

#include "phasor/ops.h"

int main() {
  using namespace phasor;
  Tape tape(DType::float64);
  const Var x = tape.leaf(Tensor({1, 1, 4}, std::vector<double>{3, 4, 6, 8}));
  const Var g = tape.leaf(Tensor({1, 1, 4}, std::vector<double>{1, 0, 0, 0}), false);
  const Var z = phasors(x);
  const Var out = channels(z / mean(modulus(z, 0), {1, 2, 3}));
  tape.backward(sum(out * g));
  const double expected[2][4] = {{.4, .4 / .75, .8, .8 / .75},
                                 {.352 / 3, -.064 / 3, -.016, -.064 / 3}};
  const Tensor got[2] = {out.value(), x.grad()};
  for (int row = 0; row < 2; ++row) {
    for (Index i = 0; i < 4; ++i) {
      std::printf("%.9f%c", got[row].at(i), i == 3 ? '\n' : ' ');
      if (!(std::abs(got[row].at(i) - expected[row][i]) < 1e-14)) return 1;
    }
  }
  try {
    phasors(tape.leaf(Tensor({3}, DType::float64)));
  } catch (const Error& error) {
    return error.kind() == ErrorKind::usage ? 0 : 2;
  }
  return 3;
}
