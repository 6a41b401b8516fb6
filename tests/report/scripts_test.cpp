// The Python scripts that read results: plot_curves.py and export_tensorboard.py.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "report/results_tree.h"

namespace {

namespace fs = std::filesystem;

std::string python() {
  const char* named = std::getenv("PHASOR_PYTHON");
  return named != nullptr ? named : "python3";
}

int run(const std::string& arguments) {
  const std::string command = std::string("PYTHONDONTWRITEBYTECODE=1 '") + python() + "' " +
                              arguments + " >/dev/null 2>&1 </dev/null";
  return std::system(command.c_str());
}

std::string script(const std::string& name) {
  const char* source = std::getenv("PHASOR_SOURCE_DIR");
  return std::string("'") +
         (fs::path(source != nullptr ? source : ".") / "scripts" / name).string() + "'";
}

/// CRC-32C bit by bit.
std::uint32_t crc32c(const std::string& data) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
  }
  return ~crc;
}

std::uint32_t masked(std::uint32_t crc) { return std::rotr(crc, 15) + 0xA282EAD8U; }

template <typename Number>
Number number_at(const std::string& bytes, std::size_t at) {
  Number value;
  REQUIRE(at + sizeof value <= bytes.size());
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// The data of each record, whose checksums are checked.
std::vector<std::string> records(const std::string& bytes) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto length = number_at<std::uint64_t>(bytes, at);
    REQUIRE(at + 16 + length <= bytes.size());
    CHECK(number_at<std::uint32_t>(bytes, at + 8) == masked(crc32c(bytes.substr(at, 8))));
    out.push_back(bytes.substr(at + 12, length));
    CHECK(number_at<std::uint32_t>(bytes, at + 12 + length) == masked(crc32c(out.back())));
    at += 16 + length;
  }
  return out;
}

}  // namespace

TEST_CASE("masked CRC-32C: the known value") {
  CHECK(crc32c("123456789") == 0xE3069283U);
  CHECK(masked(crc32c("123456789")) == 0xC78AB0E5U);
}

TEST_CASE("export_tensorboard.py: event files with right checksums, tags, steps and values") {
  if (run("-c 'import json'") != 0) {
    MESSAGE("skipped: python3 is not here");
    return;
  }
  const ResultsTree tree("tensorboard");
  const std::string id = tree.cell("alpha", 0.1, 0, "nonfinite", 0.5);
  tree.curve(id, {4, 3, nullptr});
  tree.write("cells/torn/cell.json", "{");
  REQUIRE(run(script("export_tensorboard.py") + " '" + tree.root.string() + "' --out '" +
              (tree.root / "out").string() + "'") == 0);
  const std::vector<std::string> events =
      records(tree.read(fs::path("out") / id / "events.out.tfevents.0000000000.phasor"));
  // The version, 4 values of 3 steps, 2 of 2 evaluations, 2 of 3 epochs.
  REQUIRE(events.size() == 1 + 12 + 4 + 6);
  const std::string time(9, '\0');  // wall time 0, after its key
  CHECK(events[0] == std::string("\x09") + time.substr(1) + "\x1a\x0d" + "brain.Event:2");
  // By step, then by tag: accuracy, grad_norm and loss of step 20 come after its evaluation.
  const auto find = [&](char step, const std::string& tag) {
    for (const std::string& event : events) {
      if (event.size() > 11 && event[9] == 0x10 && event[10] == step && has(event, tag)) {
        return number_at<float>(event, event.size() - 4);
      }
    }
    return -1.0F;
  };
  CHECK(find(20, "train/loss") == 4.0F);
  CHECK(find(40, "train/loss") == 3.0F);
  CHECK(std::isnan(find(60, "train/loss")));
  CHECK(find(60, "train/grad_norm") == 4.0F);
  CHECK(find(20, "test/accuracy") == 0.1F);
  CHECK(find(60, "test/accuracy") == 0.5F);
  CHECK(find(40, "train_epoch/accuracy") == 0.2F);
  CHECK(run(script("export_tensorboard.py") + " /nowhere --out /nowhere") != 0);
}

TEST_CASE("plot_curves.py: PDF, SVG and PNG of every figure, the same bytes again") {
  if (run("-c 'import matplotlib'") != 0) {
    MESSAGE("skipped: python3 with matplotlib is not here");
    return;
  }
  const ResultsTree tree("plot");
  tree.curve(tree.cell("alpha", 0.1, 0, "trained", 0.5), {4, 3, 2});
  tree.curve(tree.cell("alpha", 0.1, 1, "stalled", 0.1), {4, 4, 4});
  tree.curve(tree.cell("beta", 0.4, 0, "nonfinite", nullptr), {4, 3, nullptr});
  const auto plot = [&](const std::string& out) {
    return run(script("plot_curves.py") + " '" + tree.root.string() + "' --out '" +
               (tree.root / out).string() + "'");
  };
  REQUIRE(plot("one") == 0);
  REQUIRE(plot("two") == 0);
  for (const char* name : {"loss", "train_accuracy", "test_accuracy", "grad_norm", "verdicts"}) {
    for (const char* kind : {".pdf", ".svg", ".png"}) {
      CAPTURE(name);
      CAPTURE(kind);
      const std::string bytes = tree.read(fs::path("one") / (std::string(name) + kind));
      CHECK(bytes.size() > 1000);
      CHECK(bytes == tree.read(fs::path("two") / (std::string(name) + kind)));
    }
  }
  CHECK(tree.read("one/loss.pdf").starts_with("%PDF"));
  CHECK(tree.read("one/loss.png").substr(1, 3) == "PNG");
}
