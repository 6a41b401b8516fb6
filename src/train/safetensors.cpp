#include "train/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/file.h"
#include "core/sha256.h"

namespace phasor {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "tensors are stored as they are");

constexpr const char* kMetadata = "__metadata__";
constexpr const char* kChecksum = "phasor.sha256";
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kDigits = 64;
constexpr std::uint64_t kLongestHeader = 100'000'000;  // the format's own limit
constexpr std::size_t kDeepest = 3;                    // root, entry, list

/// How the checksum stands in a header: unique, since quotes within names and texts are escaped.
std::string checksum_text(const std::string& digits) {
  return concat('"', kChecksum, "\":\"", digits, '"');
}

/// Builds the header, refusing duplicate keys and structures deeper than the format has.
class HeaderBuilder : public nlohmann::json_sax<json> {
 public:
  bool null() override { return refuse("null has no place in the header"); }
  bool boolean(bool) override { return refuse("a boolean has no place in the header"); }
  bool number_integer(number_integer_t) override { return refuse("a number is negative"); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t, const string_t&) override {
    return refuse("a number is not an integer of 64 bits");
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    Level& level = levels_.back();
    if (level.value.contains(name)) return refuse("duplicate key \"" + name + "\"");
    level.key = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return refuse("no JSON at byte " + std::to_string(position));
  }

  json document;
  std::string problem;

 private:
  struct Level {
    json value;
    std::string key;
  };

  bool refuse(std::string text) {
    problem = std::move(text);
    return false;
  }
  bool add(json value) {
    if (levels_.empty())
      document = std::move(value);
    else if (Level& level = levels_.back(); level.value.is_array())
      level.value.push_back(std::move(value));
    else
      level.value.emplace(level.key, std::move(value));
    return true;
  }
  bool open(json value) {
    if (levels_.size() == kDeepest) return refuse("nested too deep");
    levels_.push_back({std::move(value), {}});
    return true;
  }
  bool close() {
    json value = std::move(levels_.back().value);
    levels_.pop_back();
    return add(std::move(value));
  }

  std::vector<Level> levels_;
};

/// One file being read; every `bad` names it.
class Parser {
 public:
  Parser(std::span<const std::uint8_t> bytes, const std::string& origin)
      : bytes_(bytes), origin_(origin) {}

  TensorFile parse(Checksum checksum) {
    read_header();
    TensorFile file;
    for (const auto& [name, entry] : header_.items())
      if (name == kMetadata)
        read_metadata(entry, file.metadata);
      else
        add_entry(name, entry);
    check_checksum(file.metadata, checksum);
    check_layout();
    for (const Entry& entry : entries_) file.tensors.push_back(load(entry));
    return file;
  }

 private:
  struct Entry {
    std::string name;
    DType dtype;
    Shape shape;
    std::uint64_t begin, end;
  };

  template <class... Parts>
  [[noreturn]] void bad(const Parts&... parts) const {
    fail(ErrorKind::io, "[safetensors] ", origin_, " is damaged or of another kind; got ",
         parts...);
  }

  void read_header() {
    if (bytes_.size() < kLengthBytes) bad("only ", bytes_.size(), " bytes");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), kLengthBytes);
    if (length > kLongestHeader) bad("a header of ", length, " bytes");
    if (length > bytes_.size() - kLengthBytes)
      bad("a header of ", length, " bytes in a file of ", bytes_.size());
    text_ = {reinterpret_cast<const char*>(bytes_.data()) + kLengthBytes,
             static_cast<std::size_t>(length)};
    data_ = bytes_.subspan(kLengthBytes + text_.size());
    if (!text_.starts_with('{')) bad("a header that is no object");
    HeaderBuilder builder;
    if (!json::sax_parse(text_, &builder)) bad("in the header: ", builder.problem);
    header_ = std::move(builder.document);
  }

  void read_metadata(const json& entry, std::map<std::string, std::string>& metadata) const {
    if (!entry.is_object()) bad("a ", kMetadata, " that is no object");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) bad("metadata \"", key, "\" that is no text");
      metadata.emplace(key, value.get<std::string>());
    }
  }

  void add_entry(const std::string& name, const json& entry) {
    if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") ||
        !entry.contains("shape") || !entry.contains("data_offsets"))
      bad("tensor \"", name, "\" without exactly dtype, shape and data_offsets");
    const json &type = entry["dtype"], &shape = entry["shape"], &offsets = entry["data_offsets"];
    if (type != "F32" && type != "F64")
      bad("tensor \"", name, "\" of type ", type.dump(), "; F32 and F64 are known");
    const DType dtype = type == "F32" ? DType::float32 : DType::float64;
    if (!integers(offsets) || offsets.size() != 2)
      bad("tensor \"", name, "\" whose data_offsets are not two integers");
    if (!integers(shape)) bad("tensor \"", name, "\" whose shape is no list of integers");
    if (shape.size() > Shape::kMaxRank) bad("tensor \"", name, "\" of ", shape.size(), " axes");
    std::vector<Index> extents;
    std::uint64_t size = size_of(dtype);
    for (const json& axis : shape) {
      const auto extent = axis.get<std::uint64_t>();
      const bool overflows = extent > kLargest || (extent != 0 && size > kLargest / extent);
      if (overflows) bad("tensor \"", name, "\" whose size overflows");
      size *= extent;
      extents.push_back(static_cast<Index>(extent));
    }
    const auto begin = offsets[0].get<std::uint64_t>(), end = offsets[1].get<std::uint64_t>();
    if (end < begin || end > data_.size() || end - begin != size)
      bad("tensor \"", name, "\" of ", size, " bytes at ", begin, " to ", end, " of ",
          data_.size());
    entries_.push_back({name, dtype, Shape(extents), begin, end});
  }

  static bool integers(const json& list) {
    return list.is_array() && std::all_of(list.begin(), list.end(), [](const json& item) {
             return item.is_number_unsigned();
           });
  }

  /// Every byte of the data belongs to exactly one tensor.
  void check_layout() {
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t filled = 0;
    for (const Entry& entry : entries_) {
      if (entry.begin != filled)
        bad(entry.begin < filled ? "an overlap" : "a hole", " before tensor \"", entry.name, "\"");
      filled = entry.end;
    }
    if (filled != data_.size()) bad(data_.size() - filled, " bytes behind the last tensor");
  }

  void check_checksum(std::map<std::string, std::string>& metadata, Checksum checksum) const {
    const auto found = metadata.find(kChecksum);
    if (found == metadata.end()) {
      if (checksum == Checksum::required) bad("no checksum");
      return;
    }
    const std::string digits = found->second;
    const std::size_t place = text_.find(checksum_text(digits));
    if (digits.size() != kDigits || place == std::string_view::npos) bad("a malformed checksum");
    const std::size_t start = kLengthBytes + place + checksum_text("").size() - 1;
    Sha256 hash;
    hash.update(bytes_.data(), start);
    hash.update(std::string(kDigits, '0').data(), kDigits);
    hash.update(bytes_.data() + start + kDigits, bytes_.size() - start - kDigits);
    if (hash.hex() != digits) bad("content that does not fit its checksum");
    metadata.erase(found);
  }

  NamedTensor load(const Entry& entry) const {
    NamedTensor tensor{entry.name, Tensor(entry.shape, entry.dtype)};
    if (entry.end > entry.begin)
      std::memcpy(tensor.value.raw(), data_.data() + entry.begin, entry.end - entry.begin);
    return tensor;
  }

  static constexpr std::uint64_t kLargest = std::numeric_limits<Index>::max();

  std::span<const std::uint8_t> bytes_;
  const std::string& origin_;
  std::string_view text_;
  std::span<const std::uint8_t> data_;
  json header_;
  std::vector<Entry> entries_;
};

std::size_t bytes_of(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.size()) * size_of(tensor.dtype());
}

/// The length and the header, with zeros for the checksum.
std::string make_header(std::span<const NamedTensor> tensors,
                        const std::map<std::string, std::string>& metadata) {
  json header = json::object();
  header[kMetadata] = metadata;
  header[kMetadata][kChecksum] = std::string(kDigits, '0');
  std::size_t offset = 0;
  for (const NamedTensor& tensor : tensors) {
    PHASOR_CHECK(!header.contains(tensor.name), "[safetensors] names are unique; got \"",
                 tensor.name, "\" twice");
    std::vector<Index> shape;
    for (int axis = 0; axis < tensor.value.shape().rank(); ++axis)
      shape.push_back(tensor.value.shape()[axis]);
    const std::size_t end = offset + bytes_of(tensor.value);
    header[tensor.name] = {{"dtype", tensor.value.dtype() == DType::float32 ? "F32" : "F64"},
                           {"shape", shape},
                           {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), kLengthBytes) + text;
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata,
                       const std::function<void()>& before_rename) {
  std::string header = make_header(tensors, metadata);
  Sha256 hash;
  hash.update(header.data(), header.size());
  for (const NamedTensor& tensor : tensors) hash.update(tensor.value.raw(), bytes_of(tensor.value));
  const std::string zeros = checksum_text(std::string(kDigits, '0'));
  header.replace(header.find(zeros), zeros.size(), checksum_text(hash.hex()));

  AtomicFile file(path);
  file.write(header.data(), header.size());
  for (const NamedTensor& tensor : tensors) file.write(tensor.value.raw(), bytes_of(tensor.value));
  file.commit(before_rename);
}

TensorFile parse_safetensors(std::span<const std::uint8_t> bytes, const std::string& origin,
                             Checksum checksum) {
  return Parser(bytes, origin).parse(checksum);
}

TensorFile read_safetensors(const std::filesystem::path& path, Checksum checksum) {
  const MappedFile file(path, ErrorKind::io);
  return parse_safetensors(file.bytes(), path.string(), checksum);
}

}  // namespace phasor
