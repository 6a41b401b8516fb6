// Batch normalisation against PyTorch 2.15 (torch.nn.BatchNorm1d in float64, two training passes
// over one batch, then evaluation); the running statistics are also closed forms of the batch's.
#include "norms/support.h"

namespace phasor::tests {
namespace {

/// A pair of numbers, one for each channel.
Tensor pair(double a, double b) { return {Shape{2}, std::vector<double>{a, b}}; }

struct RunningStatistics final : BufferSink {
  std::vector<Tensor> values{pair(0, 0), pair(1, 1)};
  void update(int number, const Var& value, double weight) override {
    Tensor& old = values.at(static_cast<std::size_t>(number));
    const Tensor by = value.value();
    for (Index i = 0; i < old.size(); ++i) old.set(i, (1 - weight) * old.at(i) + weight * by.at(i));
  }
};

check::NormCase torch_case(const check::NormUnderTest& norm) {
  auto input = norm_case(norm, {4, 1, 2}, {1, 10, 2, -10, 3, 5, 4, 0}, {1, 0, 0, 2, -1, 1, 0.5, 0});
  input.parameters = {pair(1.5, -2), pair(0.25, 0.5)};
  return input;
}

TEST_CASE("batchnorm: output and gradients are PyTorch's") {
  const auto norm = make("batchnorm", 2, 1e-5);
  for (const Run& run : all_runs(norm, torch_case(norm))) {
    INFO(run.name);
    const double limit = run.exact ? 1e-11 : 1e-6;
    check_near(run.result.out,
               {-1.762453129953, -1.866431696880, -0.420817709984, 3.542555038846, 0.920817709984,
                -0.514185012949, 2.262453129953, 0.838061670983},
               limit);
    check_near(run.result.dx,
               {6.708217348585e-01, 3.709018798392e-08, -3.354075133675e-01, -7.727128676919e-02,
                -1.341636761594, -1.545424622678e-01, 1.006222540103, 2.318137119468e-01},
               limit);
    check_near(run.result.dparameters[0], {-1.118029516641, -2.535462532372}, limit);
    check_near(run.result.dparameters[1], {0.5, 3}, limit);
  }
}

TEST_CASE("batchnorm: statistics are over rows and positions alike, so axes has no effect") {
  const auto norm = make("batchnorm", 2, 1e-5);
  check::NormCase by_rows = torch_case(norm), by_positions = by_rows;
  by_positions.x = Tensor({1, 4, 2}, by_rows.x.values());
  by_positions.dy = Tensor({1, 4, 2}, by_rows.dy.values());
  const auto set = kernels::KernelSet::reference;
  CHECK(check::run_composed(*norm.norm, by_rows, DType::float64, set).out ==
        check::run_composed(*norm.norm, by_positions, DType::float64, set).out);
}

TEST_CASE("batchnorm: running statistics and evaluation are PyTorch's") {
  const auto norm = make("batchnorm", 2, 1e-5);
  REQUIRE(norm.buffers.size() == 2);
  CHECK(norm.buffers[0].name == "running_mean");
  CHECK(norm.buffers[1].name == "running_var");
  CHECK(norm.buffers[1].init == 1);
  const check::NormCase input = torch_case(norm);
  RunningStatistics running;
  const auto pass = [&](bool training) {
    Tape tape(DType::float64);
    const std::vector<Var> parameters{tape.leaf(input.parameters[0]),
                                      tape.leaf(input.parameters[1])};
    const std::vector<Var> buffers{tape.leaf(running.values[0], false),
                                   tape.leaf(running.values[1], false)};
    const NormContext context(parameters, training, nullptr, buffers, &running);
    return norm.norm->forward(context, tape.leaf(input.x)).value().values();
  };
  pass(true);  // mean 2.5, variance 1.25 * 4/3; 1.25, 54.6875 * 4/3
  check_near(running.values[0].values(), {0.25, 0.125}, 1e-15);
  check_near(running.values[1].values(), {0.9 + 0.5 / 3, 8.191666666667}, 1e-11);
  pass(true);
  check_near(running.values[0].values(), {0.475, 0.2375}, 1e-15);
  check_near(running.values[1].values(), {1.126666666667, 14.664166666667}, 1e-11);
  const std::vector<double> seen = {0.991909466141, -4.598732180008, 2.405070354029,
                                    5.846813899394, 3.818231241917,  -1.987345660158,
                                    5.231392129805, 0.624040859693};
  check_near(pass(false), seen, 1e-11);
  check_near(pass(false), seen, 1e-11);  // evaluation changes nothing
}

TEST_CASE("B20: batchnorm refuses a batch with one value per channel, by layer and hint") {
  const auto norm = make("batchnorm", 2, 1e-5);
  Tape tape(DType::float64);
  const std::vector<Var> parameters{tape.leaf(pair(1, 1)), tape.leaf(pair(0, 0))};
  const Var x = tape.leaf(Tensor({1, 1, 2}, std::vector<double>{3, 4}));
  CHECK_THROWS_WITH_AS(norm.norm->forward(NormContext(parameters, true), x),
                       doctest::Contains("[check] batchnorm needs more than one value per channel"),
                       Error);
}

}  // namespace
}  // namespace phasor::tests
