#include "check/conformance.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <thread>

#include "check/gradcheck.h"
#include "check/inputs.h"
#include "check/norm_cases.h"
#include "check/overfit.h"

namespace phasor::check {
namespace {

constexpr double kGradientLimit = 1e-6;  // double, analytic against differences
constexpr double kFloatLimit = 1e-5;     // float32 against double, by norm
constexpr double kNarrowLimit = 5e-2;    // bfloat16 has 8 digits
constexpr double kCentredLimit = 1e-2;   // the same where a mean 2000 times larger was taken away

/// One run of the kit on one norm.
class Kit {
 public:
  Kit(const NormSpec& spec, const ConformanceOptions& options) : spec_(spec), options_(options) {
    report_.norm = spec.name;
  }

  ConformanceReport run() {
    guarded("spec", [&] { check_spec(); });
    guarded("row lengths", [&] { find_lengths(); });
    if (lengths_.empty()) return report_;
    for (const Index channels : lengths_) {
      const std::string place = "C = " + std::to_string(channels);
      guarded(
          "gradient", [&] { check_gradients(channels); }, place);
      guarded(
          "float32", [&] { check_float(channels); }, place);
      guarded(
          "affine off", [&] { check_affine_off(channels); }, place);
      guarded(
          "passes at once", [&] { check_interleaved(channels); }, place);
    }
    guarded("properties", [&] { check_properties(); });
    guarded("huge rows", [&] { check_huge(); });
    if (spec_.properties.narrow_statistic) guarded("narrow statistic", [&] { check_narrow(); });
    guarded("threads", [&] { check_threads(); });
    if (options_.training) guarded("training", [&] { check_training(); });
    return report_;
  }

 private:
  void add(std::string check, std::string input, std::string expected, std::string got,
           bool passed) {
    report_.lines.push_back(
        {std::move(check), std::move(input), std::move(expected), std::move(got), passed});
  }
  void add_below(std::string check, std::string input, double got, double limit) {
    add(std::move(check), std::move(input), "error below " + short_number(limit), short_number(got),
        got < limit);
  }

  /// Runs a group of checks; an exception is its failure.
  void guarded(const char* check, const std::function<void()>& body,
               const std::string& input = "") {
    try {
      body();
    } catch (const std::exception& error) {
      add(check, input, "no exception", error.what(), false);
    }
  }

  NormUnderTest make(Index channels, double eps = 1e-5, bool affine = true) const {
    return make_norm(spec_, {.channels = channels, .eps = eps, .affine = affine}, options_.values);
  }

  std::string place(Rows kind, const Shape& shape, double eps = 1e-5) const {
    return std::string(name_of(kind)) + " " + shape.str() + ", eps " + short_number(eps);
  }

  void check_spec();
  void find_lengths();
  void check_gradients(Index channels);
  void check_gradient(const NormUnderTest& norm, Rows kind, const Shape& shape, double eps);
  void check_float(Index channels);
  void compare(const std::string& check, const std::string& input, const NormUnderTest& norm,
               const NormCase& norm_case, const NormResult& got, const NormResult& expected,
               double limit);
  void check_fused(const NormUnderTest& norm, const NormCase& base, kernels::KernelSet set,
                   const std::string& input);
  void check_affine_off(Index channels);
  void check_interleaved(Index channels);
  void check_properties();
  void check_phases();
  void check_independence();
  void check_evaluation();
  void check_huge();
  void check_narrow();
  void check_threads();
  void check_training();

  const NormSpec& spec_;
  const ConformanceOptions& options_;
  ConformanceReport report_;
  std::vector<Index> lengths_;  // the row lengths that the norm takes
};

void Kit::check_spec() {
  add("spec has name, help and formula", "", "three texts",
      spec_.name + " | " + spec_.help + " | " + spec_.formula,
      !spec_.name.empty() && !spec_.help.empty() && !spec_.formula.empty());
  NormValues defaults;
  for (const NormKey& key : spec_.keys) defaults.emplace_back(key.name, key.standard);
  add("defaults of the keys come back as they are", "", "the defaults", "",
      resolve_values(spec_, defaults) == defaults);
  std::string message = "no error";
  try {
    resolve_values(spec_, {{"no_such_key", 1.0}});
  } catch (const Error& error) {
    message = error.what();
  }
  const std::string expected = "[" + spec_.name + "] unknown parameter; got no_such_key";
  add("an unknown key is an error", "no_such_key", expected, message,
      message.starts_with(expected));
}

// A length that the constructor refuses as a usage error is the norm's documented limit; at least
// two lengths must remain.
void Kit::find_lengths() {
  std::string refused;
  for (const Index channels : row_lengths(spec_.properties.needs_even_channels)) {
    try {
      make(channels);
      lengths_.push_back(channels);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      refused += (refused.empty() ? "" : ", ") + std::to_string(channels);
    }
  }
  add("row lengths", refused.empty() ? "all" : "refused: " + refused, "at least 2 of 8",
      std::to_string(lengths_.size()), lengths_.size() >= 2);
}

void Kit::check_gradients(Index channels) {
  // Two rows under batch statistics are +-1 whatever they were, and their gradients next to 0.
  const Index rows = spec_.properties.batch_statistics ? 6 : 2;
  for (const double eps : {1e-5, 0.0}) {
    const NormUnderTest norm = make(channels, eps);
    check_gradient(norm, Rows::generic, {rows, 1, channels}, eps);
    if (channels > 34) continue;
    check_gradient(norm, Rows::generic, {rows, 3, channels}, eps);
    if (eps == 0) continue;
    for (const Rows kind : {Rows::constant, Rows::zero, Rows::tiny, Rows::large_mean})
      check_gradient(norm, kind, {rows, 1, channels}, eps);
  }
}

void Kit::check_gradient(const NormUnderTest& norm, Rows kind, const Shape& shape, double eps) {
  const NormCase norm_case = make_case(norm, kind, shape, 17);
  std::vector<Tensor> arguments = {norm_case.x};
  arguments.insert(arguments.end(), norm_case.parameters.begin(), norm_case.parameters.end());
  const auto apply = [&](Tape&, std::span<const Var> vars) {
    return norm.norm->forward(NormContext(vars.subspan(1), true), vars[0]);
  };
  // A large mean costs digits in the differences themselves; close to zero the norm bends within
  // distances like eps.
  const bool coarse = kind == Rows::large_mean || kind == Rows::constant;
  const GradcheckResult result =
      gradcheck(apply, arguments,
                {.step = kind == Rows::generic ? 1e-3 : 1e-6, .floor = coarse ? 1e-3 : 1e-6});
  const std::string argument =
      result.argument == 0 ? "x"
                           : norm.parameters[static_cast<std::size_t>(result.argument) - 1].name;
  add("gradient of the input and every parameter", place(kind, shape, eps),
      "error below " + short_number(coarse ? 1e-4 : kGradientLimit),
      result.worst == 0 ? "0" : argument + ": " + result.str(),
      result.worst < (coarse ? 1e-4 : kGradientLimit));
}

void Kit::compare(const std::string& check, const std::string& input, const NormUnderTest& norm,
                  const NormCase& norm_case, const NormResult& got, const NormResult& expected,
                  double limit) {
  add_below(check + ": out", input, relative_error(got.out, expected.out), limit);
  add_below(check + ": dx", input, dx_error(norm_case, got, expected), limit);
  if (!expected.dskip.empty())
    add_below(check + ": dskip", input, relative_error(got.dskip, expected.dskip), limit);
  for (std::size_t i = 0; i < expected.dparameters.size(); ++i)
    add_below(check + ": gradient of " + norm.parameters[i].name, input,
              relative_error(got.dparameters[i], expected.dparameters[i]), limit);
  add(check + ": input untouched", input, "the same bytes",
      got.inputs_untouched ? "the same bytes" : "other bytes", got.inputs_untouched);
}

// Float32 on every kernel set against the definition in double, on float32 input.
void Kit::check_float(Index channels) {
  const NormUnderTest norm = make(channels);
  const Shape shape{5, 1, channels};
  for (const Rows kind :
       {Rows::generic, Rows::constant, Rows::zero, Rows::tiny, Rows::large_mean}) {
    const NormCase norm_case = make_case(norm, kind, shape, 23);
    const NormResult exact =
        run_composed(*norm.norm, norm_case, DType::float64, kernels::KernelSet::reference);
    const double limit = kind == Rows::large_mean ? kCentredLimit : kFloatLimit;
    for (const kernels::KernelSet set : available_sets()) {
      const std::string input = place(kind, shape) + ", " + kernels::name_of(set);
      compare("definition in float32", input, norm, norm_case,
              run_composed(*norm.norm, norm_case, DType::float32, set), exact, limit);
      if (norm.norm->fused() == nullptr) continue;
      compare("fused", input, norm, norm_case, run_fused(*norm.norm, norm_case, set), exact, limit);
    }
  }
  if (norm.norm->fused() == nullptr) return;
  for (const Shape& rows : {Shape{37, 1, channels}, Shape{3, 6, channels}})
    for (const kernels::KernelSet set : available_sets()) {
      const NormCase base = make_case(norm, Rows::generic, rows, 29);
      check_fused(norm, base, set, place(Rows::generic, rows) + ", " + kernels::name_of(set));
    }
}

// The fused pair's variants: skip, ReLU, accumulation, shared buffers.
void Kit::check_fused(const NormUnderTest& norm, const NormCase& base, kernels::KernelSet set,
                      const std::string& input) {
  for (const bool with_skip : {false, true})
    for (const bool with_relu : {false, true}) {
      NormCase norm_case = base;
      norm_case.relu = with_relu;
      if (with_skip)
        norm_case.skip = random_tensor(base.x.shape(), 31).to(DType::float32).to(DType::float64);
      const std::string what =
          std::string("fused") + (with_skip ? ", skip" : "") + (with_relu ? ", ReLU" : "");
      const NormResult exact =
          run_composed(*norm.norm, norm_case, DType::float64, kernels::KernelSet::reference);
      const NormResult plain = run_fused(*norm.norm, norm_case, set);
      compare(what, input, norm, norm_case, plain, exact, kFloatLimit);

      NormResult added = run_fused(*norm.norm, norm_case, set, true);
      std::vector<double> expected = plain.dx;
      for (double& value : expected) value += 1;  // dx was ones before
      add_below(what + ", added to dx", input, relative_error(added.dx, expected), kFloatLimit);

      const NormResult shared = run_fused(*norm.norm, norm_case, set, false, Sharing::in_place);
      const bool same = shared.out == plain.out && shared.dx == plain.dx &&
                        shared.dskip == plain.dskip && shared.dparameters == plain.dparameters;
      add(what + ", in place", input, "the same bits", same ? "the same bits" : "other bits", same);
    }
}

void Kit::check_affine_off(Index channels) {
  const NormUnderTest off = make(channels, 1e-5, false), on = make(channels);
  const Shape shape{3, 1, channels};
  const std::string input = place(Rows::generic, shape);
  add("affine off: no parameters", input, "0", std::to_string(off.parameters.size()),
      off.parameters.empty());
  NormCase plain = make_case(off, Rows::generic, shape, 37);
  NormCase initial = plain;
  for (const NormBuilder::Parameter& parameter : on.parameters)
    initial.parameters.push_back(random_tensor(parameter.shape, 1, 0, parameter.init));
  const auto set = kernels::KernelSet::reference;
  const NormResult expected = run_composed(*on.norm, initial, DType::float64, set);
  compare("affine off is gain 1", input, off, plain,
          run_composed(*off.norm, plain, DType::float64, set),
          {.out = expected.out, .dx = expected.dx, .dskip = {}, .dparameters = {}}, 1e-12);
  if (off.norm->fused() != nullptr)
    for (const kernels::KernelSet kernel_set : available_sets())
      compare("affine off, fused", input + ", " + kernels::name_of(kernel_set), off, plain,
              run_fused(*off.norm, plain, kernel_set),
              {.out = expected.out, .dx = expected.dx, .dskip = {}, .dparameters = {}},
              kFloatLimit);
}

// One lane's way back may come after another lane's way forward through the same layer.
void Kit::check_interleaved(Index channels) {
  const NormUnderTest norm = make(channels);
  const Shape shape{3, 1, channels};
  const NormCase first = make_case(norm, Rows::generic, shape, 41);
  const NormCase second = make_case(norm, Rows::generic, shape, 43);
  const NormResult alone =
      run_composed(*norm.norm, first, DType::float64, kernels::KernelSet::reference);
  Tape tapes[2]{Tape{DType::float64}, Tape{DType::float64}};
  Var x[2], out[2];
  const NormCase* cases[2] = {&first, &second};
  std::vector<Var> parameters[2];
  for (int lane = 0; lane < 2; ++lane) {
    x[lane] = tapes[lane].leaf(cases[lane]->x);
    for (const Tensor& value : cases[lane]->parameters)
      parameters[lane].push_back(tapes[lane].leaf(value));
    out[lane] = norm.norm->forward(NormContext(parameters[lane], true), x[lane]);
  }
  tapes[0].backward(sum(out[0] * tapes[0].leaf(first.dy, false)));
  const bool same = out[0].value().values() == alone.out && x[0].grad().values() == alone.dx;
  add("backward after another lane's forward", place(Rows::generic, shape), "the same bits",
      same ? "the same bits" : "other bits", same);
  if (norm.norm->fused() == nullptr) return;
  for (const kernels::KernelSet set : available_sets()) {
    const NormResult expected = run_fused(*norm.norm, first, set);
    FusedPass lane(*norm.norm, first, set), other(*norm.norm, second, set);
    lane.forward();
    other.forward();
    const NormResult got = lane.backward();
    const bool equal =
        got.out == expected.out && got.dx == expected.dx && got.dparameters == expected.dparameters;
    add("fused backward after another lane's forward",
        place(Rows::generic, shape) + ", " + kernels::name_of(set), "the same bits",
        equal ? "the same bits" : "other bits", equal);
  }
}

void Kit::check_properties() {
  const Index channels = lengths_[lengths_.size() / 2];
  const Shape shape{4, 1, channels};
  const auto set = kernels::KernelSet::reference;
  const auto out_of = [&](const NormUnderTest& norm, NormCase norm_case, double scale,
                          double shift) {
    for (Index i = 0; i < norm_case.x.size(); ++i)
      norm_case.x.set(i, norm_case.x.at(i) * scale + shift);
    return run_composed(*norm.norm, norm_case, DType::float64, set).out;
  };
  if (spec_.properties.scale_invariant) {
    const NormUnderTest norm = make(channels, 0);
    const NormCase base = make_case(norm, Rows::generic, shape, 47);
    for (const double scale : {1e-3, 0.7, 1e3})
      add_below("scale invariance", place(Rows::generic, shape, 0) + ", x " + short_number(scale),
                relative_error(out_of(norm, base, scale, 0), out_of(norm, base, 1, 0)), 1e-12);
  }
  const NormUnderTest norm = make(channels);
  const NormCase base = make_case(norm, Rows::generic, shape, 47);
  if (spec_.properties.shift_invariant)
    for (const double shift : {-0.7, 100.0})
      add_below("shift invariance", place(Rows::generic, shape) + ", + " + short_number(shift),
                relative_error(out_of(norm, base, 1, shift), out_of(norm, base, 1, 0)), 1e-9);
  if (spec_.properties.phase_preserving) check_phases();
  if (spec_.properties.batch_statistics) {
    check_evaluation();
  } else {
    check_independence();
  }
}

void Kit::check_phases() {
  for (const Index channels : lengths_) {
    if (channels % 2 != 0) continue;
    const NormUnderTest norm = make(channels);
    const Shape shape{4, 1, channels};
    const NormCase base = make_case(norm, Rows::generic, shape, 47);
    const std::vector<double> out =
        run_composed(*norm.norm, base, DType::float64, kernels::KernelSet::reference).out;
    double worst = 0;
    for (Index i = 0; i + 1 < base.x.size(); i += 2) {
      const auto at = static_cast<std::size_t>(i);
      const double angle =
          std::atan2(out[at + 1], out[at]) - std::atan2(base.x.at(i + 1), base.x.at(i));
      worst = std::max(worst, std::fabs(std::remainder(angle, 2 * M_PI)));
    }
    add_below("phases stay", place(Rows::generic, shape), worst, 1e-12);
  }
}

// A row's result may not depend on the rows beside it, to the last bit: micro-batches and lanes
// rely on that.
void Kit::check_independence() {
  for (const Index channels : lengths_) {
    const NormUnderTest norm = make(channels);
    const Shape shape{19, 1, channels};
    const NormCase all = make_case(norm, Rows::generic, shape, 53);
    for (const kernels::KernelSet set : available_sets()) {
      const NormResult together = run_float(*norm.norm, all, set);
      bool same = true;
      for (Index row = 0; row < shape[0]; row += 6) {
        NormCase one = all;
        const auto row_of = [&](const Tensor& tensor) {
          Tensor part({1, 1, channels}, DType::float64);
          for (Index c = 0; c < channels; ++c) part.set(c, tensor.at(row * channels + c));
          return part;
        };
        one.x = row_of(all.x);
        one.dy = row_of(all.dy);
        const NormResult alone = run_float(*norm.norm, one, set);
        const auto begin = static_cast<std::ptrdiff_t>(row * channels);
        same = same &&
               std::equal(alone.out.begin(), alone.out.end(), together.out.begin() + begin) &&
               std::equal(alone.dx.begin(), alone.dx.end(), together.dx.begin() + begin);
      }
      add("a row alone and among others",
          place(Rows::generic, shape) + ", " + kernels::name_of(set), "the same bits",
          same ? "the same bits" : "other bits", same);
    }
  }
}

// Batch statistics end with training: in evaluation a row is by itself, with buffers as they were
// declared and after two updates of training.
void Kit::check_evaluation() {
  class Updates final : public BufferSink {
   public:
    explicit Updates(std::vector<Tensor>& buffers) : buffers_(buffers) {}
    void update(int number, const Var& value, double weight) override {
      Tensor& buffer = buffers_.at(static_cast<std::size_t>(number));
      const Tensor by = value.value();
      for (Index i = 0; i < buffer.size(); ++i)
        buffer.set(i, (1 - weight) * buffer.at(i) + weight * by.at(i));
    }

   private:
    std::vector<Tensor>& buffers_;
  };

  const Index channels = lengths_[lengths_.size() / 2];
  const NormUnderTest norm = make(channels);
  const Shape shape{7, 2, channels};
  const NormCase all = make_case(norm, Rows::generic, shape, 67);
  std::vector<Tensor> buffers;
  for (const NormBuilder::Parameter& buffer : norm.buffers)
    buffers.push_back(random_tensor(buffer.shape, 1, 0, buffer.init));
  Updates updates(buffers);
  const auto out_of = [&](const Tensor& x, bool training) {
    Tape tape(DType::float64);
    std::vector<Var> parameters, kept;
    for (const Tensor& value : all.parameters) parameters.push_back(tape.leaf(value));
    for (const Tensor& value : buffers) kept.push_back(tape.leaf(value, false));
    const NormContext context(parameters, training, nullptr, kept, &updates);
    return norm.norm->forward(context, tape.leaf(x)).value().values();
  };
  for (const bool trained : {false, true}) {
    if (trained)
      for (int step = 0; step < 2; ++step) out_of(all.x, true);
    const std::vector<double> together = out_of(all.x, false);
    bool same = true;
    for (Index row = 0; row < shape[0]; ++row) {
      const Index numbers = shape[1] * channels;
      Tensor one({1, shape[1], channels}, DType::float64);
      for (Index i = 0; i < numbers; ++i) one.set(i, all.x.at(row * numbers + i));
      const std::vector<double> alone = out_of(one, false);
      same = same && std::equal(alone.begin(), alone.end(),
                                together.begin() + static_cast<std::ptrdiff_t>(row * numbers));
    }
    add("evaluation: a row alone and among others",
        place(Rows::generic, shape) + (trained ? ", trained" : ", untrained"), "the same bits",
        same ? "the same bits" : "other bits", same);
  }
}

void Kit::check_huge() {
  const Index channels = lengths_[lengths_.size() / 2];
  const NormUnderTest norm = make(channels);
  const Shape shape{4, 1, channels};
  for (const kernels::KernelSet set : available_sets()) {
    double largest = 0;
    for (const double magnitude : {1e4, 1e8, 1e12, 1e16, 1e18, 1e20, 1e25, 1e30}) {
      NormCase huge = make_case(norm, Rows::generic, shape, 59);
      for (Index i = 0; i < huge.x.size(); ++i)
        huge.x.set(i, static_cast<float>(huge.x.at(i) * magnitude));
      const NormResult exact =
          run_composed(*norm.norm, huge, DType::float64, kernels::KernelSet::reference);
      const NormResult got = run_float(*norm.norm, huge, set);
      bool right = relative_error(got.out, exact.out) < kFloatLimit &&
                   dx_error(huge, got, exact) < kFloatLimit;
      for (std::size_t i = 0; i < exact.dparameters.size(); ++i)
        right = right && relative_error(got.dparameters[i], exact.dparameters[i]) < kFloatLimit;
      if (!right) break;
      largest = magnitude;
    }
    add("largest right rows", shape.str() + ", " + kernels::name_of(set),
        "at least " + short_number(options_.huge), short_number(largest), largest >= options_.huge);
  }
}

// The fused pair with norm.stat_dtype: close to the definition, and so on rows of any size where
// they are rescued. In float32 it is the definition but for the order of its sums.
void Kit::check_narrow() {
  const struct {
    const char* name;
    StatisticPrecision precision;
    double limit;
  } modes[] = {{"float32, no rescue", {StatisticType::float32, false}, kFloatLimit},
               {"float16", {StatisticType::float16, true}, kNarrowLimit},
               {"float16, no rescue", {StatisticType::float16, false}, kNarrowLimit},
               {"bfloat16", {StatisticType::bfloat16, true}, kNarrowLimit},
               {"bfloat16, no rescue", {StatisticType::bfloat16, false}, kNarrowLimit}};
  const Index channels = lengths_[lengths_.size() / 2];
  const NormUnderTest norm = make(channels);
  PHASOR_CHECK(norm.norm->fused() != nullptr, "[", spec_.name,
               "] narrow_statistic speaks of a fused pair; there is none");
  const auto set = kernels::KernelSet::reference;
  for (const Shape& shape : {Shape{4, 1, channels}, Shape{2, 3, channels}})
    for (const auto& mode : modes)
      for (const double magnitude : {1.0, 1e25}) {
        if (magnitude > 1 && !mode.precision.rescue) continue;
        NormCase norm_case = make_case(norm, Rows::generic, shape, 67);
        norm_case.precision = mode.precision;
        for (Index i = 0; i < norm_case.x.size(); ++i)
          norm_case.x.set(i, static_cast<float>(norm_case.x.at(i) * magnitude));
        const NormResult exact = run_composed(*norm.norm, norm_case, DType::float64, set);
        compare(std::string("statistic in ") + mode.name,
                place(Rows::generic, shape) + ", x " + short_number(magnitude), norm, norm_case,
                run_fused(*norm.norm, norm_case, set), exact, mode.limit);
      }
}

// Several lanes run through the same layer at once.
void Kit::check_threads() {
  constexpr int kThreads = 4, kRounds = 25;
  const Index channels = lengths_[lengths_.size() / 2];
  const NormUnderTest norm = make(channels);
  const Shape shape{64, 1, channels};
  const kernels::KernelSet set = available_sets().back();
  std::vector<NormCase> cases;
  std::vector<NormResult> alone;
  for (int t = 0; t < kThreads; ++t) {
    cases.push_back(make_case(norm, Rows::generic, shape, static_cast<std::uint64_t>(61 + 10 * t)));
    alone.push_back(run_float(*norm.norm, cases.back(), set));
  }
  bool same[kThreads] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      try {
        bool equal = true;
        for (int round = 0; round < kRounds; ++round) {
          const NormResult result = run_float(*norm.norm, cases[t], set);
          equal = equal && result.out == alone[t].out && result.dx == alone[t].dx &&
                  result.dparameters == alone[t].dparameters;
        }
        same[t] = equal;
      } catch (const std::exception&) {
        same[t] = false;
      }
    });
  for (std::thread& thread : threads) thread.join();
  const bool all = std::all_of(std::begin(same), std::end(same), [](bool s) { return s; });
  add("4 threads at once", place(Rows::generic, shape), "the bits of one after the other",
      all ? "the same bits" : "other bits", all);
}

void Kit::check_training() {
  const OverfitResult result = overfit(spec_, options_.values);
  const std::string input = "resnet8, " + std::to_string(kOverfitImages) + " images";
  const bool exempt = !spec_.need_not_learn.empty();
  add("a network learns", input,
      exempt ? "nothing: " + spec_.need_not_learn
             : "loss below " + short_number(kOverfitLoss) + " in " + std::to_string(kOverfitSteps) +
                   " steps",
      short_number(result.loss) + " after " + std::to_string(result.steps),
      exempt || result.loss < kOverfitLoss);
  add("a network learns, two threads", input, "the bits of one",
      result.same_bits ? "the same bits" : "other bits", result.same_bits);
}

}  // namespace

bool ConformanceReport::passed() const {
  return std::all_of(lines.begin(), lines.end(), [](const CheckLine& line) { return line.passed; });
}

std::string ConformanceReport::str(bool all) const {
  std::string text;
  for (const CheckLine& line : lines)
    if (all || !line.passed)
      text += std::string(line.passed ? "ok     " : "FAILED ") + line.check + " | " + line.input +
              " | expected " + line.expected + " | got " + line.got + "\n";
  return text;
}

ConformanceReport check_norm(const NormSpec& spec, const ConformanceOptions& options) {
  return Kit(spec, options).run();
}

}  // namespace phasor::check
