// Every line of the ledger, against numbers worked out by hand.
#include "claims/ledger.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using namespace phasor::claims;

namespace {

/// A claim, measured once, with its numbers by name.
class Line {
 public:
  Line(const std::string& id, Verdict verdict, std::size_t count) : claim_(measure(id)) {
    CHECK(claim_.id == id);
    CHECK(claim_.verdict == verdict);
    CHECK(claim_.numbers.size() == count);
    CHECK_FALSE(claim_.statement.empty());
    CHECK_FALSE(claim_.input.empty());
    CHECK((verdict != Verdict::holds_under || !claim_.condition.empty()));
    for (const Measurement& number : claim_.numbers) {
      INFO(number.what, ": predicted ", number.predicted, ", measured ", number.measured);
      CHECK(number.passed());
      CHECK_FALSE(number.source.empty());
      CHECK(number.predicted >= number.low);
      CHECK(number.predicted <= number.high);
    }
  }

  /// The measured number whose description starts with `what`; there must be one such.
  double operator()(const std::string& what) const {
    const Measurement* found = nullptr;
    for (const Measurement& number : claim_.numbers) {
      if (!number.what.starts_with(what)) continue;
      CHECK_MESSAGE(found == nullptr, "ambiguous: ", what);
      found = &number;
    }
    REQUIRE_MESSAGE(found != nullptr, "missing: ", what);
    return found->measured;
  }

  /// Equal to six digits or so.
  void check(const std::string& what, double expected, double relative = 2e-6) const {
    INFO(what, ": expected ", expected, ", measured ", (*this)(what));
    CHECK(std::fabs((*this)(what)-expected) <= relative * std::fabs(expected));
  }

 private:
  Claim claim_;
};

}  // namespace

TEST_CASE("C1: phases stay at positive gains, turn by pi at negative ones") {
  const Line line("C1", Verdict::holds_under, 4);
  CHECK(line("turn in double") < 2.3e-16);
  CHECK(line("turn in float32") < 1.2e-7);
  CHECK(line("turn in float32") > 1e-9);  // it was float32
  line.check("gamma_i < 0", 3.14159265358979, 1e-14);
  CHECK(line("gamma_i = 0") == 0);
}

TEST_CASE("C1b: the shared gain keeps phases, not the statistic") {
  const Line line("C1b", Verdict::does_not_hold, 4);
  CHECK(line("rms_pair") < 2.3e-16);
  line.check("rmsnorm", 19.471221);
  line.check("mrs_channel", 19.471221);
  line.check("layernorm", 20.704811);
}

TEST_CASE("C2: scale invariance at eps 0, the eps identity and Euler's") {
  const Line line("C2", Verdict::holds_under, 9);
  CHECK(line("eps 0: |f(a z)") < 1e-14);
  CHECK(line("eps 1e-5: f_eps(a z)") < 1e-14);
  CHECK(line("eps 0: J(z)") < 1e-13);
  line.check("eps 1e-5, r = 0.1:", 0.99950037);
  line.check("eps 1e-5, r = 0.01:", 0.95346259);
  line.check("eps 1e-5, r = 0.001:", 0.30151134);
  CHECK(line("deviation over its bound") > 0.9);  // the bound is sharp
  CHECK(line("deviation over its bound") <= 1);
  CHECK(std::fabs(line("eps 0.01: z . dL/dz")) > 1e-3);  // not zero
  CHECK(line("eps 0: z . dL/dz") < 1e-14);
}

TEST_CASE("C3: equal gradients of the statistic at eps 0, arbitrary ones of the loss") {
  const Line line("C3", Verdict::holds_under, 6);
  CHECK(line("mrsnorm: deviation/mean of the") < 1e-13);
  CHECK(line("rms_pair") > 0.3);
  // .99950037, .95346259, .30151134 times sqrt(1 + 1e-5).
  line.check("r = 0.1:", 0.99950537);
  line.check("r = 0.01:", 0.95346736);
  line.check("r = 0.001:", 0.30151285);
  line.check("mrsnorm: deviation/mean of |dL", 0.5227, 0.03);
}

TEST_CASE("C4: the operator norm is no clipper") {
  const Line line("C4", Verdict::does_not_hold, 11);
  line.check("mrsnorm, 8 Gaussian rows", 0.900316, 0.023);
  CHECK(line("mrsnorm, Cauchy row") > 2);
  line.check("mrsnorm, one phasor far above", 22.627417, 1e-3);
  line.check("mrsnorm, the rest exactly zero", 4);
  line.check("rmsnorm, the same rows: least", 1);
  line.check("rmsnorm, the same rows: largest", 1);
  line.check("mrsnorm, zero row", 316.22777);
  line.check("Cauchy row: |grad S|", 1);
  line.check("Cauchy row: |grad R|", 1);
}

TEST_CASE("C5: small phasors beside an outlier") {
  const Line line("C5", Verdict::holds_under, 8);
  line.check("mrsnorm, k = 10:", 32.0 / 41);
  line.check("mrsnorm, k = 100:", 32.0 / 131);
  line.check("mrsnorm, k = 1000:", 32.0 / 1031);
  line.check("rms_pair, k = 10:", 0.49424230);
  line.check("rms_pair, k = 100:", 0.05648109);
  line.check("rms_pair, k = 1000:", 0.00565677);
  line.check("ratio of the two, k = 1 ", 1);
  line.check("ratio of the two, k = 1e+09", 5.6568542);
}

TEST_CASE("C6: the outlier itself") {
  const Line line("C6", Verdict::does_not_hold, 10);
  line.check("mrsnorm, k = 100: the outlier", 3200.0 / 131);
  line.check("rms_pair, k = 100: the outlier", 5.6481093);
  line.check("mrsnorm, k = 1000:", 32000.0 / 1031);
  line.check("mrsnorm, k = 1e+09", 32);
  line.check("rms_pair, k = 1e+09", 5.6568542);
  line.check("mrsnorm, k = 100: outlier over", 100);
  line.check("rms_pair, k = 100: outlier over", 100);
}

TEST_CASE("C7: slopes of the statistics in one phasor") {
  const Line line("C7", Verdict::holds_under, 9);
  for (const char* r : {"0.1", "1", "10", "1000"})
    line.check("mrsnorm, r = " + std::string(r) + ":", 0.03125);
  line.check("rms_pair, r = 0.1:", 0.00317449, 3e-6);
  line.check("rms_pair, r = 1:", 0.03125);
  line.check("rms_pair, r = 10:", 0.15445072);
  line.check("rms_pair, r = 10^6:", 0.17677670);
}

TEST_CASE("C8: unit phasors let nothing through radially") {
  const Line line("C8", Verdict::holds, 4);
  CHECK(line("radial gain") < 1e-14);
  CHECK(line("tangential gain") < 1e-14);
  CHECK(line("rank") == 4);
  line.check("eps 1e-5", 1.0 / 11);
}

TEST_CASE("C9: squash is damped, not singular") {
  const Line line("C9", Verdict::does_not_hold, 12);
  line.check("r = 1: radial gain", 0.5);
  line.check("r = 1: radial over", 1);
  line.check("r = 1: determinant", 0.25);
  line.check("r = 10: radial over", 2.0 / 101);
  line.check("r = 100: radial over", 2.0 / 10001);
  CHECK(line("r = 100: determinant") > 1e-8);
}

TEST_CASE("C10: radial flow of each phasor, none of their common scale") {
  const Line line("C10", Verdict::holds_under, 7);
  CHECK(line("least radial gain") > 0.5);
  CHECK(line("radial gain less") < 1e-13);
  CHECK(line("|J z|") < 1e-14);
  CHECK(line("rank of J") == 15);
  CHECK(line("rms_pair: rank of J") == 15);
  CHECK(line("eps 0.01") > 0);
  CHECK(line("one phasor alone") < 1e-14);
}

TEST_CASE("C11, B02: half precision") {
  const Line line("C11", Verdict::holds_under, 15);
  CHECK(line("float16: 255.875^2") == 65472);
  CHECK(line("float16: 256^2") == 1);
  CHECK(line("float16: RMSNorm's sum") == 1);
  CHECK(line("float16: MRSNorm's sum") == 1443);
  CHECK(line("float16: the pair (182, 182)") == 1);
  CHECK(line("float16: its modulus") == 257.25);
  CHECK(line("float16, C = 64: RMSNorm") == 31.984375);
  CHECK(line("float16, C = 64: MRSNorm") == 180.875);
  line.check("gain, P = 32", 5.656854, 4e-3);
  line.check("gain, P = 1024", 7.998, 4e-3);
  CHECK(line("float16: S of 4096") == 0.5);
  CHECK(line("float16, sums in float32") == 1);
  CHECK(line("bfloat16") == 1);
  CHECK(line("float32: (1.9e19)^2") == 1);
  CHECK(line("mrsnorm as trained") < 1e-6);
}

TEST_CASE("C11b, B01: an overflow is zeros more often than NaN") {
  const Line line("C11b", Verdict::holds_under, 9);
  CHECK(line("RMSNorm of 64 times 32: zero outputs") == 64);
  CHECK(line("RMSNorm of 64 times 32: NaN outputs") == 0);
  CHECK(line("RMSNorm of 64 times 32: zero gradients") == 64);
  CHECK(line("MRSNorm of 64 times 200") == 64);
  CHECK(line("RMSNorm, one input infinite: NaN") == 1);
  CHECK(line("RMSNorm, one input infinite: zero") == 63);
  CHECK(line("LayerNorm of +-256") == 64);
  CHECK(line("LayerNorm of 64 times 1200") == 64);
  CHECK(line("as trained") == 0);
}

TEST_CASE("C12: the cosine identity and its bounds") {
  const Line line("C12", Verdict::holds, 8);
  for (const char* norm : {"no norm", "mrsnorm: q.k", "rmsnorm: q.k"}) CHECK(line(norm) < 1e-14);
  line.check("mrsnorm: mean over rows", 32);
  line.check("mrsnorm: largest logit", 128);
  line.check("rmsnorm: largest logit", 8);
  line.check("rmsnorm: deviation", 1, 0.035);
  line.check("mrsnorm: the same", 0.6366, 0.016);
}

TEST_CASE("C13: constant speed on the circle") {
  const Line line("C13", Verdict::holds, 6);
  CHECK(line("mrsnorm: speed") > 0.5);
  line.check("mrsnorm: largest speed", 1, 1e-13);
  CHECK(line("mrsnorm: movement") < 1e-15);
  CHECK(line("mrsnorm: least speed of one channel") < 1e-15);
  line.check("rms_pair: largest speed", 1, 1e-13);
  line.check("rmsnorm, gains (1, 2)", 2, 1e-13);
}

TEST_CASE("C14: parameters of whole networks") {
  const Line line("C14", Verdict::holds_under, 13);
  CHECK(line("resnet20, pad: layernorm") == 1376);
  CHECK(line("resnet20, pad: rmsnorm") == 688);
  CHECK(line("resnet20, pad: mrsnorm") == 344);
  CHECK(line("resnet20, pad: convolutions") == 274196);
  CHECK(line("resnet20, projection: layernorm") == 1568);
  CHECK(line("resnet20, projection: rmsnorm") == 784);
  CHECK(line("resnet20, projection: mrsnorm") == 392);
  CHECK(line("resnet20, projection: convolutions") == 276756);
  CHECK(line("resnet18: layernorm") == 9600);
  CHECK(line("resnet18: rmsnorm") == 4800);
  CHECK(line("resnet18: mrsnorm") == 2400);
  CHECK(line("resnet18: convolutions") == 11210532);
  CHECK(line("resnet20, pad, 10 classes") == 269722);
}

TEST_CASE("C15: the sweep decides, not a formula") {
  const Line line("C15", Verdict::open, 0);
  CHECK(verdict_text(measure("C15")) == "open");
  CHECK(measure("C15").condition.find("stress.json") != std::string::npos);
}

TEST_CASE("the ledger has every claim once, in order, and measures the same twice") {
  const char* ids[] = {"C1", "C1b", "C2",  "C3",   "C4",  "C5",  "C6",  "C7", "C8",
                       "C9", "C10", "C11", "C11b", "C12", "C13", "C14", "C15"};
  REQUIRE(entries().size() == 17);
  for (std::size_t i = 0; i < 17; ++i) CHECK(entries()[i].id == ids[i]);
  const std::vector<Claim> once = measure_all(), again = measure_all();
  for (std::size_t i = 0; i < 17; ++i)
    for (std::size_t k = 0; k < once[i].numbers.size(); ++k)
      CHECK(once[i].numbers[k].measured == again[i].numbers[k].measured);
}
