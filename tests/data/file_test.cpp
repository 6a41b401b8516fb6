#include "core/file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <utility>

#include "core/sha256.h"
#include "data/folder.h"

using namespace phasor;
using test::error_of;

namespace {

// Vectors of FIPS 180-4 and the lengths around the padding's edges.
std::string digest(const std::string& text, Sha256Kernel kernel, std::size_t piece) {
  Sha256 sha(kernel);
  for (std::size_t i = 0; i < text.size(); i += piece)
    sha.update(text.data() + i, std::min(piece, text.size() - i));
  return sha.hex();
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("SHA-256 agrees with the published vectors, in both kernels") {
  const std::pair<std::string, const char*> vectors[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {std::string(1000000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}};
  for (const auto& [text, expected] : vectors) {
    CHECK(sha256_hex(text.data(), text.size()) == expected);
    CHECK(digest(text, Sha256Kernel::portable, 1 << 20) == expected);
  }
}

TEST_CASE("SHA-256 depends neither on the kernel nor on how the bytes arrive") {
  MESSAGE("SHA instructions: ", sha256_accelerated());
  for (std::size_t size : {1, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 129, 1000}) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(i * 37 + 11);
    const std::string whole = digest(text, Sha256Kernel::portable, size);
    for (std::size_t piece : {1, 7, 64, 65}) {
      CHECK(digest(text, Sha256Kernel::portable, piece) == whole);
      CHECK(digest(text, Sha256Kernel::automatic, piece) == whole);
    }
  }
}

TEST_CASE("a mapped file shows the bytes, and moves") {
  const test::Folder folder;
  folder.write("a", std::string("hello"));
  folder.write("empty", std::string());
  MappedFile file(folder.path() / "a");
  REQUIRE(file.size() == 5);
  MappedFile moved(std::move(file));
  CHECK(std::string(moved.data(), moved.data() + moved.size()) == "hello");
  CHECK(file.size() == 0);
  moved = MappedFile(folder.path() / "empty");
  CHECK(moved.size() == 0);
  CHECK(read_file(folder.path() / "a") == "hello");
}

TEST_CASE("files that cannot be read are named with the cause and the asked-for kind") {
  const test::Folder folder;
  ::mkfifo((folder.path() / "pipe").c_str(), 0600);
  CHECK(holds(error_of([&] { MappedFile(folder.path() / "none", ErrorKind::data); }),
              "3: [read] cannot open " + folder.path().string() + "/none; got No such file"));
  CHECK(holds(error_of([&] { MappedFile file(folder.path()); }), "5: [read]"));
  CHECK(holds(error_of([&] { MappedFile file(folder.path()); }), "got a folder"));
  CHECK(holds(error_of([&] { read_file(folder.path() / "pipe"); }), "pipe or socket"));
}

TEST_CASE("an atomic write replaces the file, or leaves it and no temporary") {
  const test::Folder folder;
  const auto path = folder.path() / "file";
  write_file_atomic(path, "old");
  write_file_atomic(path, "new");
  CHECK(read_file(path) == "new");
  {
    AtomicFile unfinished(path);
    unfinished.write("half", 4);
    CHECK(read_file(path) == "new");
  }
  CHECK(read_file(path) == "new");
  const auto entries = std::filesystem::directory_iterator(folder.path());
  CHECK(std::distance(begin(entries), end(entries)) == 1);

  CHECK(holds(error_of([&] { write_file_atomic(folder.path() / "no/file", "x"); }),
              "got No such file or directory; what was there before is unchanged"));
  std::filesystem::create_directory(folder.path() / "taken");
  CHECK(holds(error_of([&] { write_file_atomic(folder.path() / "taken", "x"); }),
              "5: [write] cannot rename to"));
  const auto after = std::filesystem::directory_iterator(folder.path());
  CHECK(std::distance(begin(after), end(after)) == 2);
}
