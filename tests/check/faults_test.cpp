// Norms with planted faults: the conformance kit must catch each, and by the right line.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "check/conformance.h"
#include "check/norm_runs.h"

namespace phasor::check {
namespace {

enum class Fault {
  none,
  wrong_dgamma,       // the fused gain gradient is off by 1%
  wrong_eps,          // the fused pair uses another eps than the definition
  input_overwritten,  // the definition writes to x
  other_statistics,   // the fused backward recomputes its statistics with another eps
  shared_state,       // what forward keeps is kept in the norm, not in the pass
  missing_gradient,   // the definition stops the gradient of the statistic
  row_length,         // rows of 17 and more channels lose their last one
  neighbours,         // a row's result depends on the number of rows
};

/// RMSNorm, by a definition and a plain fused pair, with one fault.
template <Fault kFault>
class FaultyNorm final : public Norm, public FusedPair {
 public:
  explicit FaultyNorm(NormBuilder& builder) : affine_(builder.affine()), eps_(builder.eps()) {
    if (affine_) gamma_ = builder.parameter("weight", {builder.channels()}, builder.gamma_init());
  }

  Var forward(const NormContext& context, const Var& x) const override {
    if constexpr (kFault == Fault::input_overwritten)
      dispatch(x.dtype(), [&](auto zero) {
        using T = decltype(zero);
        static_cast<T*>(x.node().data)[0] += T{1};
      });
    Var s = sqrt(mean(square(x), {1, 2}) + eps_);
    if constexpr (kFault == Fault::missing_gradient) {
      const Var constant = x.tape().leaf(s.value(), false);
      s = constant;
    }
    const Var out = divide_or_zero(x, s);
    return affine_ ? out * context.parameter(gamma_) : out;
  }

  const FusedPair* fused() const override { return this; }

  Index saved_size(const FusedShape& shape) const override { return shape.rows; }

  void forward(const FusedShape& shape, const FusedForward& args) const override {
    float* statistics = args.saved;
    if constexpr (kFault == Fault::shared_state) {
      shared_.resize(static_cast<std::size_t>(shape.rows));
      statistics = shared_.data();
    }
    const Index n = shape.positions * shape.channels;
    const double eps = kFault == Fault::wrong_eps ? eps_ * 1.5 : eps_;
    for (Index r = 0; r < shape.rows; ++r) {
      const float* x = args.x + r * n;
      statistics[r] = static_cast<float>(statistic(shape, x, n, eps));
      for (Index i = 0; i < n; ++i) {
        double out = over(x[i], statistics[r]) * gain(shape, args.parameters, i);
        if (args.skip != nullptr) out += args.skip[r * n + i];
        args.out[r * n + i] = static_cast<float>(shape.relu ? std::max(out, 0.0) : out);
      }
    }
  }

  void backward(const FusedShape& shape, const FusedBackward& args) const override {
    const float* statistics = kFault == Fault::shared_state ? shared_.data() : args.saved;
    const Index n = shape.positions * shape.channels;
    std::vector<double> g(static_cast<std::size_t>(n));
    for (Index r = 0; r < shape.rows; ++r) {
      const float* x = args.x + r * n;
      const double s =
          kFault == Fault::other_statistics ? statistic(shape, x, n, eps_ * 2) : statistics[r];
      double a = 0;
      for (Index i = 0; i < n; ++i) {
        const bool passes = !shape.relu || args.out[r * n + i] > 0;
        g[i] = passes ? args.dy[r * n + i] : 0;
        a += g[i] * gain(shape, args.parameters, i) * over(x[i], s);
        if (affine_ && args.dparameters[0] != nullptr)
          args.dparameters[0][i % shape.channels] += static_cast<float>(
              g[i] * over(x[i], s) * (kFault == Fault::wrong_dgamma ? 1.01 : 1.0));
      }
      for (Index i = 0; i < n; ++i) {
        const double u = g[i] * gain(shape, args.parameters, i);
        const auto dx = static_cast<float>(over(u - over(x[i], s) * a / static_cast<double>(n), s));
        if (args.dskip != nullptr) args.dskip[r * n + i] = static_cast<float>(g[i]);
        args.dx[r * n + i] = args.accumulate ? args.dx[r * n + i] + dx : dx;
      }
    }
  }

 private:
  static double over(double a, double b) { return b == 0 ? 0 : a / b; }
  double gain(const FusedShape& shape, const float* const* parameters, Index i) const {
    return affine_ ? parameters[0][i % shape.channels] : 1;
  }
  static double statistic(const FusedShape& shape, const float* x, Index n, double eps) {
    Index used = n;
    if constexpr (kFault == Fault::row_length)
      if (shape.channels >= 17) --used;
    double squares = 0;
    for (Index i = 0; i < used; ++i) squares += double{x[i]} * x[i];
    if (kFault == Fault::neighbours && shape.rows == 1) squares *= 1 + 1e-6;
    return std::sqrt(squares / static_cast<double>(n) + eps);
  }

  bool affine_;
  double eps_;
  int gamma_ = 0;
  mutable std::vector<float> shared_;
};

template <Fault kFault>
ConformanceReport report_of() {
  NormSpec spec;
  spec.name = "faulty";
  spec.help = "a planted fault";
  spec.formula = "gamma x / sqrt(mean(x^2) + eps)";
  spec.properties.scale_invariant = true;
  spec.make = [](NormBuilder& builder) -> std::unique_ptr<Norm> {
    return std::make_unique<FaultyNorm<kFault>>(builder);
  };
  return check_norm(spec, {.values = {}, .training = false});
}

bool caught_by(const ConformanceReport& report, const std::string& check) {
  return std::any_of(report.lines.begin(), report.lines.end(), [&](const CheckLine& line) {
    return !line.passed && line.check.find(check) != std::string::npos;
  });
}

TEST_CASE("the kit passes the same norm without a fault") {
  const ConformanceReport report = report_of<Fault::none>();
  INFO(report.str());
  CHECK(report.passed());
}

TEST_CASE("the kit catches a wrong dgamma") {
  const ConformanceReport report = report_of<Fault::wrong_dgamma>();
  CHECK(caught_by(report, "fused: gradient of weight"));
  CHECK_FALSE(caught_by(report, "fused: dx"));
}

TEST_CASE("the kit catches a wrong eps") {
  CHECK(caught_by(report_of<Fault::wrong_eps>(), "fused: out"));
}

TEST_CASE("the kit catches an input that is overwritten") {
  CHECK(caught_by(report_of<Fault::input_overwritten>(), "input untouched"));
}

TEST_CASE("the kit catches statistics that backward computes differently") {
  const ConformanceReport report = report_of<Fault::other_statistics>();
  CHECK(caught_by(report, "fused: dx"));
  CHECK_FALSE(caught_by(report, "fused: out"));
}

TEST_CASE("the kit catches a missing gradient") {
  CHECK(caught_by(report_of<Fault::missing_gradient>(), "gradient of the input"));
}

TEST_CASE("the kit catches a row length that is mishandled, and says which") {
  const ConformanceReport report = report_of<Fault::row_length>();
  bool short_rows = false, long_rows = false;
  for (const CheckLine& line : report.lines) {
    if (line.passed) continue;
    short_rows = short_rows || line.input.find(",16]") != std::string::npos;
    long_rows = long_rows || line.input.find(",17]") != std::string::npos;
  }
  CHECK(long_rows);
  CHECK_FALSE(short_rows);
}

TEST_CASE("the kit catches state that lanes share") {
#ifdef PHASOR_SANITIZED
  MESSAGE("skipped: the planted fault is a data race, which ThreadSanitizer reports");
#else
  CHECK(caught_by(report_of<Fault::shared_state>(), "after another lane's forward"));
#endif
}

TEST_CASE("the kit catches a row that depends on its neighbours") {
  CHECK(caught_by(report_of<Fault::neighbours>(), "a row alone"));
}

TEST_CASE("only training catches a norm that is right and useless") {
  NormSpec spec;
  spec.name = "silent";
  spec.help = "its gain is 0 for ever";
  spec.formula = "0 x";
  class Silent final : public Norm {
    Var forward(const NormContext&, const Var& x) const override { return x * 0.0; }
  };
  spec.make = [](NormBuilder&) -> std::unique_ptr<Norm> { return std::make_unique<Silent>(); };
  const ConformanceReport report = check_norm(spec);
  const auto failed = [](const CheckLine& line) { return !line.passed; };
  CHECK(std::count_if(report.lines.begin(), report.lines.end(), failed) == 1);
  CHECK(caught_by(report, "a network learns"));
}

TEST_CASE("a norm that throws is a failed line") {
  NormSpec spec;
  spec.name = "throws";
  spec.help = "throws in forward";
  spec.formula = "-";
  class Thrower final : public Norm {
    Var forward(const NormContext&, const Var&) const override {
      fail(ErrorKind::internal, "[throws] on purpose");
    }
  };
  spec.make = [](NormBuilder&) -> std::unique_ptr<Norm> { return std::make_unique<Thrower>(); };
  const ConformanceReport report = check_norm(spec);
  CHECK_FALSE(report.passed());
  CHECK(report.str().find("[throws] on purpose") != std::string::npos);
}

}  // namespace
}  // namespace phasor::check
