#include "data/checks.h"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <vector>

#include "phasor/error.h"

namespace phasor {
namespace {

namespace fs = std::filesystem;

template <class... Parts>
[[noreturn]] void complain(const fs::path& path, const Parts&... parts) {
  fail(ErrorKind::data, "[data] ", path.string(), parts...);
}

bool starts_like_gzip(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return file.get() == 0x1f && file.get() == 0x8b;
}

// What a file of the wrong size most likely is.
std::string diagnose(const fs::path& path, Index size, Index expected, const RecordLayout& layout) {
  const Index record = layout.record_bytes;
  if (size == 0) return "the file is empty";
  if (starts_like_gzip(path)) return "this is a gzip archive, unpack it first";
  if (record == kCifar100RecordBytes) {
    if (size % kCifar10RecordBytes == 0) return "this looks like CIFAR-10 (records of 3073 bytes)";
    if (size == 10000 * record) return "this looks like the test split";
    if (size == 50000 * record) return "this looks like the training split";
  }
  if (size % record != 0)
    return concat("the file is cut off or damaged, records have ", record, " bytes");
  if (size < expected) return concat("the file holds only ", size / record, " records");
  return concat("the file holds ", size / record, " records");
}

}  // namespace

std::string fetch_hint() { return "fetch CIFAR-100 with: scripts/fetch_cifar100.sh data"; }

void check_folder(const fs::path& folder, const std::string& hint) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found)
    complain(folder, " must be a folder of data files; got nothing there; ", hint);
  if (error) complain(folder, " must be a folder of data files; got ", error.message());
  if (!fs::is_directory(status))
    complain(folder, " must be a folder of data files; got a file; name the folder, or ", hint);
}

void check_file_size(const fs::path& path, Index records, const RecordLayout& layout, bool manifest,
                     const std::string& hint) {
  const Index expected = records * layout.record_bytes;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    complain(path, " must have ", expected, " bytes; got no such file; ", hint);
  if (error) complain(path, " must have ", expected, " bytes; got ", error.message());
  if (!fs::is_regular_file(status))
    complain(path, " must be a file of ", expected, " bytes; got ",
             fs::is_directory(status) ? "a folder" : "a device, pipe or socket", "; ", hint);
  const auto size = static_cast<Index>(fs::file_size(path, error));
  if (error) complain(path, " must have ", expected, " bytes; got ", error.message());
  if (size == expected) return;
  complain(path, " must have ", expected, " bytes (", records, " records",
           manifest ? ", by its manifest.json" : "", "); got ", size, ": ",
           diagnose(path, size, expected, layout), "; ", hint);
}

void check_labels(const fs::path& path, std::span<const std::uint8_t> bytes,
                  const RecordLayout& layout, Index per_class, CoarseMap& map) {
  const auto stride = static_cast<std::size_t>(layout.record_bytes);
  const auto records = static_cast<Index>(bytes.size() / stride);
  std::vector<Index> count(static_cast<std::size_t>(layout.classes));
  Index bad_coarse = -1, bad_label = -1;
  int most_coarse = 0, most_label = 0;
  for (Index i = 0; i < records; ++i) {
    const std::uint8_t* record = bytes.data() + i * layout.record_bytes;
    const int label = record[layout.label_offset];
    const int coarse = layout.coarse_offset < 0 ? 0 : record[layout.coarse_offset];
    if (coarse >= kCoarseClasses && bad_coarse < 0) bad_coarse = i;
    if (label >= layout.classes && bad_label < 0) bad_label = i;
    most_coarse = std::max(most_coarse, coarse);
    most_label = std::max(most_label, label);
    if (label < layout.classes) ++count[static_cast<std::size_t>(label)];
  }

  const bool has_coarse = layout.coarse_offset >= 0;
  const bool label_is_coarse = has_coarse && records >= 1000 && most_label < kCoarseClasses;
  if (bad_coarse >= 0 && most_coarse < kFineClasses && most_label < kCoarseClasses)
    complain(path,
             " must hold the coarse label (0 to 19), then the fine one (0 to 99); got them "
             "swapped: the second byte looks like coarse labels, record ",
             bad_coarse, " starts with ", int{bytes[static_cast<std::size_t>(bad_coarse) * stride]},
             "; swap the two bytes");
  if (bad_coarse >= 0)
    complain(path, " must hold coarse labels from 0 to 19; got ",
             int{bytes[static_cast<std::size_t>(bad_coarse) * stride]}, " in record ", bad_coarse,
             "; the file is damaged or of another kind, ", fetch_hint());
  if (bad_label >= 0)
    complain(path, " must hold labels from 0 to ", layout.classes - 1, "; got ",
             int{bytes[static_cast<std::size_t>(bad_label) * stride +
                       static_cast<std::size_t>(layout.label_offset)]},
             " in record ", bad_label, "; the file is damaged or of another kind, ", fetch_hint());
  if (label_is_coarse)
    complain(path,
             " must hold fine labels from 0 to 99 in the second byte; got none above 19, which "
             "looks like coarse labels; ",
             fetch_hint());

  for (Index i = 0; has_coarse && i < records; ++i) {
    const std::uint8_t* record = bytes.data() + i * layout.record_bytes;
    int& coarse = map[record[layout.label_offset]];
    if (coarse < 0) coarse = record[layout.coarse_offset];
    if (coarse != record[layout.coarse_offset])
      complain(path, " must hold every fine class under one coarse class; got fine class ",
               int{record[layout.label_offset]}, " under coarse ", coarse, " and, in record ", i,
               ", ", int{record[layout.coarse_offset]}, "; the file is damaged, ", fetch_hint());
  }
  for (std::size_t label = 0; per_class > 0 && label < count.size(); ++label)
    if (count[label] != per_class)
      complain(path, " must hold ", per_class, " records of every class; got ", count[label],
               " of class ", label, "; the file is damaged or a subset");
}

void check_coarse_map(const fs::path& path, const CoarseMap& map) {
  std::array<int, kCoarseClasses> members{};
  for (const int coarse : map)
    if (coarse >= 0) ++members[static_cast<std::size_t>(coarse)];
  const bool complete = std::none_of(map.begin(), map.end(), [](int coarse) { return coarse < 0; });
  for (std::size_t coarse = 0; coarse < members.size(); ++coarse)
    if (members[coarse] > kFinePerCoarse || (complete && members[coarse] != kFinePerCoarse))
      complain(path, " must hold ", kFinePerCoarse, " fine classes under each coarse class; got ",
               members[coarse], " under coarse ", coarse, "; the labels are damaged, ",
               fetch_hint());
}

}  // namespace phasor
