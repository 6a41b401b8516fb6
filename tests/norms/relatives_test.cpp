// Values by hand of the controls and relatives, and norms over inputs of other ranks.
#include "check/gradcheck.h"
#include "norms/support.h"

namespace phasor::tests {
namespace {

TEST_CASE("controls and relatives: values by hand") {
  const std::vector<double> x = {3, 4, 6, 8};
  const double rms = std::sqrt(125.0 / 4),
               sd = std::sqrt((2.25 * 2.25 + 1.25 * 1.25 + 0.75 * 0.75 + 2.75 * 2.75) / 4);
  const struct {
    const char* name;
    std::vector<double> out;
  } expected[] = {{"rms_pair", {3 / rms, 4 / rms, 6 / rms, 8 / rms}},
                  {"mrs_channel", {.4, 4 / 7.5, .8, 8 / 7.5}},
                  {"l1norm", {3 / 5.25, 4 / 5.25, 6 / 5.25, 8 / 5.25}},
                  {"layernorm_nobias", {-2.25 / sd, -1.25 / sd, .75 / sd, 2.75 / sd}},
                  {"scalenorm", {3 / rms, 4 / rms, 6 / rms, 8 / rms}},
                  {"unit_phasor", {.6, .8, .6, .8}},
                  {"squash", {.6 * 25 / 26, .8 * 25 / 26, .6 * 100 / 101, .8 * 100 / 101}},
                  {"dyt", {std::tanh(1.5), std::tanh(2.0), std::tanh(3.0), std::tanh(4.0)}},
                  {"groupnorm", {0, 0, 0, 0}}};  // four groups of one channel
  for (const auto& row : expected) {
    const auto norm = make(row.name, 4, 0);
    for (const Run& run : all_runs(norm, norm_case(norm, {1, 1, 4}, x, {0, 0, 0, 0}))) {
      INFO(row.name, ", ", run.name);
      check_near(run.result.out, row.out, run.exact ? 2e-15 : 3e-7);
    }
  }
  const auto groups = check::make_norm(find_norm("groupnorm"), {.channels = 4, .eps = 0},
                                       {{"groups", std::int64_t{2}}});
  for (const Run& run : all_runs(groups, norm_case(groups, {1, 1, 4}, x, {0, 0, 0, 0}))) {
    INFO("groupnorm of 2, ", run.name);
    check_near(run.result.out, {-1, 1, -1, 1}, 1e-6);
  }
}

TEST_CASE("groupnorm names the layer where its groups do not divide the channels") {
  try {
    make("groupnorm", 15, 1e-5);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(std::string(error.what()) ==
          "[check] norm.groups must divide the number of channels; got 4 groups of 15 channels");
  }
}

TEST_CASE("parameters of one layer of 16 channels") {
  const struct {
    const char* name;
    Index count;
  } expected[] = {{"rms_pair", 8},   {"mrs_channel", 16}, {"l1norm", 16}, {"layernorm_nobias", 16},
                  {"groupnorm", 32}, {"scalenorm", 1},    {"dyt", 33},    {"unit_phasor", 8},
                  {"squash", 8}};
  for (const auto& row : expected) {
    Index total = 0;
    for (const NormBuilder::Parameter& parameter : make(row.name, 16, 1e-5).parameters)
      total += parameter.shape.size();
    INFO(row.name);
    CHECK(total == row.count);
  }
}

TEST_CASE("B12: norms over the last axis of rank 1, 3 and 4, and over whole images") {
  for (const char* name : {"layernorm", "rmsnorm", "mrsnorm"}) {
    const auto norm = make(name, 6, 1e-5);
    const auto apply = [&](const Shape& shape, const Shape& rows) {
      std::vector<Tensor> arguments = {check::random_tensor(shape, 1)};
      for (const NormBuilder::Parameter& parameter : norm.parameters)
        arguments.push_back(check::random_tensor(parameter.shape, 2));
      const auto result = check::gradcheck(
          [&](Tape&, std::span<const Var> v) {
            const NormContext context(v.subspan(1), true);
            return reshape(norm.norm->forward(context, reshape(v[0], rows)), shape);
          },
          arguments);
      INFO(name, " of ", shape.str(), ": ", result.str());
      CHECK(result.worst < 1e-7);
    };
    apply({6}, {1, 1, 6});
    apply({2, 3, 6}, {6, 1, 6});
    apply({2, 2, 3, 6}, {12, 1, 6});
    apply({2, 2, 3, 6}, {2, 6, 6});
  }
}

TEST_CASE("B15: the gain's gradient over 50,000 rows") {
  const Index rows = 50000, channels = 16;
  for (const char* name : {"layernorm", "rmsnorm", "mrsnorm"}) {
    const auto norm = make(name, channels, 1e-5);
    check::NormCase input;
    input.x = check::random_tensor({rows, 1, channels}, 1).to(DType::float32);
    input.dy = check::random_tensor({rows, 1, channels}, 2, 1, 0.1).to(DType::float32);
    for (const NormBuilder::Parameter& parameter : norm.parameters)
      input.parameters.push_back(check::random_tensor(parameter.shape, 0, 0, parameter.init));
    const auto exact =
        check::run_composed(*norm.norm, input, DType::float64, kernels::KernelSet::reference);
    for (const kernels::KernelSet set : check::available_sets())
      for (const auto& got : {check::run_fused(*norm.norm, input, set),
                              check::run_composed(*norm.norm, input, DType::float32, set)})
        for (std::size_t i = 0; i < exact.dparameters.size(); ++i) {
          INFO(name, ", ", kernels::name_of(set), ", ", norm.parameters[i].name);
          CHECK(check::relative_error(got.dparameters[i], exact.dparameters[i]) < 1e-4);
        }
  }
}

}  // namespace
}  // namespace phasor::tests
