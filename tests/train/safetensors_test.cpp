#include "train/safetensors.h"

#include <doctest/doctest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "core/file.h"
#include "phasor/rng.h"
#include "train/temp_folder.h"

using namespace phasor;

namespace {

std::vector<NamedTensor> sample() {
  const std::vector<double> six{1, -2, 0.5, 1e-40, 3e38, 0};
  std::vector<NamedTensor> tensors;
  tensors.push_back({"conv1.weight", Tensor({2, 3}, six, DType::float32)});
  tensors.push_back({"fc.bias", Tensor({2}, std::vector<double>{0.1, -0.0}, DType::float64)});
  tensors.push_back({"empty", Tensor({0, 4}, DType::float32)});
  tensors.push_back({"scalar", Tensor({}, std::vector<double>{7}, DType::float64)});
  return tensors;
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TensorFile parse(const std::string& text, Checksum checksum = Checksum::optional) {
  return parse_safetensors(bytes_of(text), "memory", checksum);
}

/// A file of this header and data, without a checksum.
std::string file_of(const std::string& header, std::size_t data) {
  const std::uint64_t length = header.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  return out + header + std::string(data, '\1');
}

std::string written() {
  const TempFolder folder;
  const auto path = folder.path() / "a.safetensors";
  write_safetensors(path, sample(), {{"step", "17"}, {"text", "\"quoted\" \n \xC3\xA9"}});
  return read_file(path);
}

}  // namespace

TEST_CASE("safetensors: what is written reads back, bit by bit") {
  const TensorFile file = parse(written(), Checksum::required);
  const auto tensors = sample();
  REQUIRE(file.tensors.size() == tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor &got = file.tensors[i].value, &right = tensors[i].value;
    CHECK(file.tensors[i].name == tensors[i].name);
    CHECK(got.shape() == right.shape());
    CHECK(got.dtype() == right.dtype());
    const auto bytes = static_cast<std::size_t>(right.size()) * size_of(right.dtype());
    CHECK((bytes == 0 || std::memcmp(got.raw(), right.raw(), bytes) == 0));
  }
  CHECK(file.metadata ==
        std::map<std::string, std::string>{{"step", "17"}, {"text", "\"quoted\" \n \xC3\xA9"}});
}

TEST_CASE("safetensors: the format as others read it") {
  const std::string text = written();
  std::uint64_t length = 0;
  std::memcpy(&length, text.data(), 8);
  CHECK(length % 8 == 0);
  const auto header = nlohmann::json::parse(text.substr(8, length));
  CHECK(header["conv1.weight"]["dtype"] == "F32");
  CHECK(header["conv1.weight"]["shape"].dump() == "[2,3]");
  CHECK(header["conv1.weight"]["data_offsets"].dump() == "[0,24]");
  CHECK(header["scalar"]["shape"].dump() == "[]");
  CHECK(header["__metadata__"]["phasor.sha256"].get<std::string>().size() == 64);
  float second = 0;
  std::memcpy(&second, text.data() + 8 + length + 4, 4);
  CHECK(second == -2);
  CHECK(written() == text);  // the same content, the same bytes
}

TEST_CASE("safetensors: a file without a checksum is read unless one is required") {
  const std::string text =
      file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}   )", 8);
  CHECK(parse(text).tensors.size() == 1);
  CHECK_THROWS_WITH_AS(parse(text, Checksum::required), doctest::Contains("no checksum"), Error);
  CHECK(parse(file_of("{}", 0)).tensors.empty());
}

TEST_CASE("safetensors: every malformed header is a clear error") {
  const struct {
    const char* header;
    std::size_t data;
    const char* message;
  } cases[] = {
      {"", 0, "no object"},
      {"[]", 0, "no object"},
      {" {}", 0, "no object"},
      {"{", 0, "no JSON"},
      {"{} x", 0, "no JSON"},
      {"{\"a\xFF\":{}}", 0, "no JSON"},
      {R"({"a":3})", 0, "without exactly"},
      {R"({"a":null})", 0, "null"},
      {R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"a":{}})", 4, "duplicate key"},
      {R"({"a":{"dtype":"F32","dtype":"F32","shape":[],"data_offsets":[0,4]}})", 4, "duplicate"},
      {R"({"a":{"dtype":"F32","shape":[]}})", 4, "without exactly"},
      {R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4],"x":1}})", 4, "without exactly"},
      {R"({"a":{"dtype":"F16","shape":[],"data_offsets":[0,2]}})", 2, "F16"},
      {R"({"a":{"dtype":32,"shape":[],"data_offsets":[0,2]}})", 2, "of type 32"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "negative"},
      {R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4, "64 bits"},
      {R"({"a":{"dtype":"F32","shape":[1e400],"data_offsets":[0,4]}})", 4, "no JSON"},
      {R"({"a":{"dtype":"F32","shape":["1"],"data_offsets":[0,4]}})", 4, "shape"},
      {R"({"a":{"dtype":"F32","shape":{},"data_offsets":[0,4]}})", 4, "shape"},
      {R"({"a":{"dtype":"F32","shape":[[1]],"data_offsets":[0,4]}})", 4, "too deep"},
      {R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4, "7 axes"},
      {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})", 4,
       "overflows"},
      {R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]}})", 4,
       "overflows"},
      {R"({"a":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4]}})", 4,
       "64 bits"},
      {R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0]}})", 4, "two integers"},
      {R"({"a":{"dtype":"F32","shape":[],"data_offsets":[4,0]}})", 4, "of 4 bytes at 4 to 0"},
      {R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,8]}})", 8, "of 4 bytes at 0 to 8"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4, "of 8 bytes at 0 to 8"},
      {R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", 5, "1 bytes behind"},
      {R"({"a":{"dtype":"F32","shape":[],"data_offsets":[4,8]}})", 8, "a hole"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
       R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
       12, "an overlap"},
      {R"({"__metadata__":3})", 0, "no object"},
      {R"({"__metadata__":{"a":1}})", 0, "no text"},
      {R"({"__metadata__":{"phasor.sha256":"abc"}})", 0, "malformed checksum"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.header);
    CHECK_THROWS_WITH_AS(parse(file_of(c.header, c.data)), doctest::Contains(c.message), Error);
  }
  CHECK_THROWS_WITH_AS(parse(""), doctest::Contains("only 0 bytes"), Error);
  CHECK_THROWS_WITH_AS(parse(std::string(8, '\xFF')), doctest::Contains("a header of"), Error);
  std::string deep = file_of(std::string(1000, '['), 0);
  CHECK_THROWS_AS(parse(deep), Error);
}

TEST_CASE("B52: every truncation and every flipped bit is detected") {
  const std::string text = written();
  for (std::size_t size = 0; size < text.size(); ++size)
    CHECK_THROWS_AS(parse(text.substr(0, size), Checksum::required), Error);
  CHECK_THROWS_AS(parse(text + '\0', Checksum::required), Error);
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    try {
      parse(flipped, Checksum::required);
      FAIL_CHECK("bit ", bit, " passed");
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::io) FAIL_CHECK("bit ", bit, ": ", error.what());
    }
  }
}

TEST_CASE("safetensors: random bytes are refused, never believed") {
  const std::string right = written();
  for (std::uint64_t round = 0; round < 2000; ++round) {
    std::string text = right;
    for (std::uint64_t change = 0; change < 1 + round % 5; ++change) {
      const auto bits = draw(0, Purpose::check, static_cast<std::uint32_t>(change), round);
      text[bits[0] % text.size()] = static_cast<char>(bits[1]);
      if (bits[2] % 4 == 0) text.resize(bits[3] % text.size() + 1);
    }
    if (text == right) continue;
    CHECK_THROWS_AS(parse(text, Checksum::required), Error);
    try {
      parse(text);  // may be right where only the checksum's key is gone
    } catch (const Error&) {
    }
  }
}

TEST_CASE("safetensors: duplicate names are refused by the writer") {
  const TempFolder folder;
  auto tensors = sample();
  tensors.push_back(tensors[0]);
  CHECK_THROWS_WITH_AS(write_safetensors(folder.path() / "a", tensors, {}),
                       doctest::Contains("conv1.weight"), Error);
  tensors.back().name = "__metadata__";
  CHECK_THROWS_AS(write_safetensors(folder.path() / "a", tensors, {}), Error);
  CHECK(std::filesystem::is_empty(folder.path()));
}
