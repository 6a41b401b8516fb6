// phasor-bench: how fast, as a share of what the processor can do. `peak`, `kernels`, `step`.
#include <charconv>
#include <cstdio>
#include <cxxopts.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/bench.h"
#include "phasor/error.h"

namespace {

using namespace phasor;

constexpr const char* kUsage =
    R"(phasor-bench: speed of phasor's kernels and training steps, as a share of the limit of
register-resident multiply-adds measured in the same run.

  phasor-bench peak                         the limit, for each number of cores
  phasor-bench kernels [--filter TEXT]      every convolution pass and algorithm, every norm
  phasor-bench step --arch resnet20 --norm mrsnorm --batch-size 128 --threads 2
                                            whole training steps; lists take commas: --norm a,b

Options:
  --kernels SET      reference, baseline, avx2 or avx512 (default: the best of this machine)
  --seconds S        time for each interleaved group
  --json             JSON on stdout; without it, a table on stderr
  step:    --arch, --norm, --batch-size, --threads, --conv auto|direct|winograd, --jobs N,
           --lanes N, --micro-batch N, --composed, --lr X
)";

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    parts.push_back(text.substr(start, comma - start));
    start = comma + 1;
  }
  return parts;
}

long whole(const std::string& option, const std::string& text) {
  long value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  PHASOR_CHECK(error == std::errc() && stop == end && value >= 1, "[phasor-bench] ", option,
               " expects whole numbers of at least 1; got '", text, "'");
  return value;
}

double number(const std::string& option, const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  PHASOR_CHECK(error == std::errc() && stop == end && value >= 0, "[phasor-bench] ", option,
               " expects a number of at least 0; got '", text, "'");
  return value;
}

kernels::KernelSet kernel_set(const std::string& name) {
  using kernels::KernelSet;
  for (const KernelSet set :
       {KernelSet::reference, KernelSet::baseline, KernelSet::avx2, KernelSet::avx512}) {
    if (name != kernels::name_of(set)) continue;
    PHASOR_CHECK(kernels::available(set), "[phasor-bench] this processor cannot run ", name);
    return set;
  }
  fail(ErrorKind::usage,
       "[phasor-bench] --kernels expects reference, baseline, avx2 or avx512; got '", name, "'");
}

int run(int argc, char** argv) {
  cxxopts::Options options("phasor-bench");
  const auto text = [](const char* standard) {
    return cxxopts::value<std::string>()->default_value(standard);
  };
  options.add_options()("command", "", text(""))("kernels", "", text(""))("seconds", "", text(""))(
      "filter", "", text(""))("json", "")("help", "")("arch", "", text("resnet20"))(
      "norm", "", text(""))("batch-size", "", text("128"))("threads", "", text("2"))(
      "conv", "", text("auto"))("jobs", "", text("1"))("lanes", "", text(""))(
      "micro-batch", "", text(""))("composed", "")("lr", "", text("0"));
  options.parse_positional("command");
  const auto arguments = options.parse(argc, argv);
  const std::string command = arguments["command"].as<std::string>();
  if (arguments.count("help") > 0 || command.empty()) {
    std::fputs(kUsage, stdout);
    return command.empty() && arguments.count("help") == 0 ? 2 : 0;
  }
  const auto value = [&](const char* name) { return arguments[name].as<std::string>(); };
  const kernels::KernelSet set =
      value("kernels").empty() ? kernels::default_set() : kernel_set(value("kernels"));
  const bool json = arguments.count("json") > 0;
  if (json && std::freopen("/dev/null", "w", stderr) == nullptr)
    fail(ErrorKind::io, "[phasor-bench] cannot open /dev/null");
  const double seconds = value("seconds").empty() ? 0 : number("--seconds", value("seconds"));

  nlohmann::json result;
  if (command == "peak") {
    result = bench::run_peak({set, seconds > 0 ? seconds : 1});
  } else if (command == "kernels") {
    result = bench::run_kernels({set, seconds > 0 ? seconds : 0.3, value("filter")});
  } else if (command == "step") {
    bench::StepOptions step;
    step.kernels = set;
    step.archs = split(value("arch"));
    if (!value("norm").empty()) step.norms = split(value("norm"));
    step.batch_sizes.clear();
    for (const std::string& part : split(value("batch-size")))
      step.batch_sizes.push_back(whole("--batch-size", part));
    step.threads.clear();
    for (const std::string& part : split(value("threads")))
      step.threads.push_back(static_cast<int>(whole("--threads", part)));
    step.convs = split(value("conv"));
    step.jobs = static_cast<int>(whole("--jobs", value("jobs")));
    if (!value("lanes").empty()) step.lanes = whole("--lanes", value("lanes"));
    if (!value("micro-batch").empty())
      step.micro_batch = whole("--micro-batch", value("micro-batch"));
    step.composed = arguments.count("composed") > 0;
    step.lr = number("--lr", value("lr"));
    if (seconds > 0) step.seconds = seconds;
    result = bench::run_step(step);
  } else {
    fail(ErrorKind::usage, "[phasor-bench] commands are peak, kernels and step; got '", command,
         "'");
  }
  if (json) std::cout << result.dump(2) << '\n' << std::flush;
  if (!std::cout) fail(ErrorKind::io, "[phasor-bench] cannot write to stdout");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const phasor::Error& error) {
    std::fprintf(stderr, "phasor-bench: %s\n", error.what());
    return error.exit_code();
  } catch (const cxxopts::exceptions::exception& error) {
    std::fprintf(stderr, "phasor-bench: %s\n", error.what());
    return 2;
  }
}
