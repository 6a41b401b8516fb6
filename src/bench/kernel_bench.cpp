#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/bench.h"
#include "bench/timing.h"
#include "phasor/error.h"
#include "phasor/rng.h"

namespace phasor::bench {
namespace {

using kernels::ConvShape;
using kernels::Index;

/// Sixty-four byte aligned numbers in (-1, 1), the same ones every time.
template <class T>
std::vector<T> noise(Index count, std::uint32_t stream) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(2 * uniform(draw(0, Purpose::check, stream, i / 4)[i % 4]) - 1);
  return values;
}

/// |a - b| / |b|, both as vectors.
double relative_error(const std::vector<float>& a, const std::vector<double>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return std::sqrt(difference / size);
}

std::vector<double> widen(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

/// Runs one pass of one algorithm in any number type.
template <class T>
std::vector<T> run_pass(const kernels::ConvPass<T>& pass, const ConvShape& shape,
                        const std::vector<T>& from, const std::vector<T>& weights, Index to_size) {
  std::vector<T> prepared(static_cast<std::size_t>(pass.prepared_size(shape)));
  std::vector<T> workspace(static_cast<std::size_t>(pass.workspace_size(shape)) + 1);
  std::vector<T> to(static_cast<std::size_t>(to_size));
  pass.prepare(shape, weights.data(), prepared.data());
  pass.run(shape, from.data(), prepared.data(), to.data(), false, workspace.data());
  return to;
}

template <class T>
std::vector<T> run_gradient(const kernels::ConvGradient<T>& pass, const ConvShape& shape,
                            const std::vector<T>& x, const std::vector<T>& dy) {
  std::vector<T> workspace(static_cast<std::size_t>(pass.workspace_size(shape)) + 1);
  std::vector<T> dw(static_cast<std::size_t>(shape.weight_size()));
  const Index sum_size = pass.sum_size(shape);
  std::vector<T> sum(static_cast<std::size_t>(sum_size));
  T* target = sum_size > 0 ? sum.data() : dw.data();
  pass.run(shape, x.data(), dy.data(), target, workspace.data());
  if (sum_size > 0) pass.finish(shape, sum.data(), dw.data(), workspace.data());
  return dw;
}

std::string name_of_shape(const ConvShape& s) {
  return concat("conv", s.kernel, "x", s.kernel, "s", s.stride, " ", s.c_in, "->", s.c_out, " ",
                s.in_h, "x", s.in_w, " n", s.n);
}

struct Row {
  std::string name, pass, algorithm;
  double amount;  ///< of one window: floating point operations, or bytes
  double error;
  bool is_bytes;
  Workload workload;
};

class KernelBench {
 public:
  explicit KernelBench(const KernelOptions& options)
      : options_(options),
        table_(kernels::table<float>(options.kernels)),
        exact_(kernels::table<double>(kernels::KernelSet::reference)) {}

  nlohmann::json run() {
    std::fprintf(stderr, "%-36s %-17s %-10s %10s %8s %10s\n", "kernel", "pass", "algorithm", "G/s",
                 "% peak", "error");
    for (const Index n : {1, 8})
      for (const auto& [c, side] : {std::pair<Index, Index>{16, 32}, {32, 16}, {64, 8}})
        convolution({n, side, side, c, c, 3, 1});
    for (const auto& [c, side] : {std::pair<Index, Index>{64, 32}, {128, 16}, {256, 8}, {512, 4}})
      convolution({8, side, side, c, c, 3, 1});
    for (const auto& [c, side] :
         {std::pair<Index, Index>{16, 32}, {32, 16}, {64, 32}, {128, 16}, {256, 8}}) {
      convolution({4, side, side, c, 2 * c, 3, 2});
      convolution({4, side, side, c, 2 * c, 1, 2});
    }
    convolution({4, 32, 32, 3, 16, 3, 1});
    convolution({1, 1, 128, 64, 100, 1, 1});
    for (const auto statistic :
         {kernels::Statistic::deviation, kernels::Statistic::root_mean_square,
          kernels::Statistic::mean_pair_modulus})
      for (const Index channels : {16, 32, 64, 512}) norm(statistic, channels);
    return {{"kernels", kernels::name_of(options_.kernels)}, {"rows", rows_}};
  }

 private:
  bool wanted(const std::string& name) const {
    return options_.filter.empty() || name.find(options_.filter) != std::string::npos;
  }

  void convolution(const ConvShape& shape) {
    const std::string name = name_of_shape(shape);
    const auto x = noise<float>(shape.in_size(), 1), dy = noise<float>(shape.out_size(), 2);
    const auto weights = noise<float>(shape.weight_size(), 3);
    const double flops = 2.0 * static_cast<double>(shape.n * shape.out_h() * shape.out_w()) *
                         static_cast<double>(shape.weight_size());
    const auto pass_rows = [&](const char* pass_name, const auto* const* list,
                               const auto* const* exact_list, const std::vector<float>& from,
                               Index to_size) {
      if (!wanted(name + " " + pass_name)) return;
      const auto right = run_pass(**exact_list, shape, widen(from), widen(weights), to_size);
      for (; *list != nullptr; ++list) {
        const auto& pass = **list;
        if (!pass.supports(shape)) continue;
        const double error = relative_error(run_pass(pass, shape, from, weights, to_size), right);
        std::vector<float> prepared(static_cast<std::size_t>(pass.prepared_size(shape)));
        std::vector<float> workspace(static_cast<std::size_t>(pass.workspace_size(shape)) + 1);
        std::vector<float> to(static_cast<std::size_t>(to_size));
        pass.prepare(shape, weights.data(), prepared.data());
        time(name, pass_name, pass.algorithm, flops, error, false, [&] {
          pass.run(shape, from.data(), prepared.data(), to.data(), false, workspace.data());
        });
      }
    };
    pass_rows("forward", table_.conv_forward, exact_.conv_forward, x, shape.out_size());
    pass_rows("backward data", table_.conv_backward_data, exact_.conv_backward_data, dy,
              shape.in_size());
    if (!wanted(name + " backward weights")) return;
    const auto right = run_gradient(**exact_.conv_backward_weights, shape, widen(x), widen(dy));
    for (auto list = table_.conv_backward_weights; *list != nullptr; ++list) {
      const auto& pass = **list;
      if (!pass.supports(shape)) continue;
      const double error = relative_error(run_gradient(pass, shape, x, dy), right);
      std::vector<float> workspace(static_cast<std::size_t>(pass.workspace_size(shape)) + 1);
      std::vector<float> sum(
          static_cast<std::size_t>(std::max(pass.sum_size(shape), shape.weight_size())));
      time(name, "backward weights", pass.algorithm, flops, error, false,
           [&] { pass.run(shape, x.data(), dy.data(), sum.data(), workspace.data()); });
    }
  }

  void norm(kernels::Statistic statistic, Index channels) {
    static constexpr const char* kNames[] = {"deviation", "root mean square", "mean pair modulus",
                                             "mean absolute"};
    const bool pairs = statistic == kernels::Statistic::mean_pair_modulus;
    const bool centred = statistic == kernels::Statistic::deviation;
    const Index rows = 16384 / channels;
    const std::string name = concat("norm ", kNames[static_cast<int>(statistic)], " ", rows, "x",
                                    channels, " +skip+relu");
    if (!wanted(name)) return;
    const kernels::NormRows shape{statistic, rows, 1, channels, pairs, true, 1e-5};
    const Index size = rows * channels;
    const auto x = noise<float>(size, 4), skip = noise<float>(size, 5), dy = noise<float>(size, 6);
    const auto gain = noise<float>(channels, 7), bias = noise<float>(channels, 8);
    std::vector<float> out(x.size()), saved(static_cast<std::size_t>(2 * rows)), dx(x.size()),
        dskip(x.size()), dgain(gain.size()), dbias(bias.size());
    const kernels::NormForward<float> forward{
        x.data(),    gain.data(), centred ? bias.data() : nullptr,
        skip.data(), out.data(),  saved.data()};
    table_.norm_forward(shape, forward);

    const auto wide_x = widen(x), wide_gain = widen(gain), wide_bias = widen(bias),
               wide_skip = widen(skip), wide_dy = widen(dy);
    std::vector<double> wide_out(x.size()), wide_saved(saved.size()), wide_dx(x.size()),
        wide_dskip(x.size()), wide_dgain(gain.size()), wide_dbias(bias.size());
    exact_.norm_forward(shape,
                        {wide_x.data(), wide_gain.data(), centred ? wide_bias.data() : nullptr,
                         wide_skip.data(), wide_out.data(), wide_saved.data()});
    const kernels::NormBackward<float> backward{
        x.data(),     gain.data(),  out.data(),
        saved.data(), dy.data(),    dx.data(),
        dskip.data(), dgain.data(), centred ? dbias.data() : nullptr,
        false};
    exact_.norm_backward(
        shape, {wide_x.data(), wide_gain.data(), wide_out.data(), wide_saved.data(), wide_dy.data(),
                wide_dx.data(), wide_dskip.data(), wide_dgain.data(),
                centred ? wide_dbias.data() : nullptr, false});
    table_.norm_backward(shape, backward);
    const double bytes = static_cast<double>(size) * sizeof(float);
    time(name, "forward", "fused", 3 * bytes, relative_error(out, wide_out), true,
         [&] { table_.norm_forward(shape, forward); });
    time(name, "backward", "fused", 5 * bytes, relative_error(dx, wide_dx), true,
         [&] { table_.norm_backward(shape, backward); });
  }

  /// Times `run` in windows of about two milliseconds against the peak loop and prints the row.
  template <class Run>
  void time(const std::string& name, const std::string& pass, const std::string& algorithm,
            double amount, double error, bool is_bytes, Run run) {
    const double start = now();
    run();
    const auto repeats =
        static_cast<int>(std::clamp(0.002 / std::max(now() - start, 1e-9), 1.0, 10000.0));
    std::vector<Workload> work{{name,
                                [&] {
                                  for (int i = 0; i < repeats; ++i) run();
                                  return amount * repeats;
                                },
                                {}}};
    const std::vector<double> peaks = interleave(work, options_.kernels, 1, options_.seconds);
    const double rate = spread_of(work[0].rates).median, peak = spread_of(peaks).median;
    std::fprintf(stderr, "%-36s %-17s %-10s %10.1f %8s %10.2e\n", name.c_str(), pass.c_str(),
                 algorithm.c_str(), rate / 1e9,
                 is_bytes ? "" : concat(std::lround(100 * rate / peak)).c_str(), error);

    nlohmann::json row{{"kernel", name},
                       {"pass", pass},
                       {"algorithm", algorithm},
                       {"relative_error", error},
                       {"peak_gflops", peak / 1e9}};
    if (is_bytes) {
      row["gbytes_per_s"] = rate / 1e9;
      row["bytes_moved"] = amount;
    } else {
      row["gflops"] = rate / 1e9;
      row["peak_fraction"] = rate / peak;
    }
    rows_.push_back(std::move(row));
  }

  KernelOptions options_;
  const kernels::Table<float>& table_;
  const kernels::Table<double>& exact_;
  nlohmann::json rows_ = nlohmann::json::array();
};

}  // namespace

nlohmann::json run_kernels(const KernelOptions& options) { return KernelBench(options).run(); }

}  // namespace phasor::bench
