// tests/CASES.md has a row for every case that a test names, and the files in it do name the case.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <utility>

namespace fs = std::filesystem;

namespace {

using CaseFile = std::pair<std::string, std::string>;  // "B45", "cli/fault_test.cpp"

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::set<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    found.insert((*at)[1]);
  return found;
}

std::set<CaseFile> in_tests(const fs::path& tests) {
  static const std::regex number("\\b(B[0-9][0-9])\\b");
  std::set<CaseFile> found;
  for (const auto& entry : fs::recursive_directory_iterator(tests)) {
    const fs::path& file = entry.path();
    const bool source = file.extension() == ".cpp" || file.extension() == ".sh";
    const std::string path = file.lexically_relative(tests).generic_string();
    if (!source || path == "cases/cases_test.cpp") continue;
    for (const std::string& name : matches(text_of(file), number)) found.emplace(name, path);
  }
  return found;
}

std::set<CaseFile> in_table(const fs::path& table) {
  static const std::regex link("\\]\\(([^)]+)\\)");
  std::set<CaseFile> found;
  std::ifstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| B")) continue;
    for (const std::string& file : matches(line, link)) found.emplace(line.substr(2, 3), file);
  }
  return found;
}

}  // namespace

TEST_CASE("the table of cases has a row for each, and names tests that name it") {
  const fs::path tests = fs::path(std::getenv("PHASOR_SOURCE_DIR")) / "tests";
  const std::set<CaseFile> named = in_tests(tests), listed = in_table(tests / "CASES.md");
  CHECK(listed.size() > 80);
  std::set<std::string> rows;
  for (const auto& [name, file] : listed) rows.insert(name);
  for (const auto& [name, file] : named)
    if (!rows.contains(name)) FAIL_CHECK(file << " has " << name << ", CASES.md not");
  for (const auto& [name, file] : listed)
    if (!named.contains({name, file}))
      FAIL_CHECK("CASES.md has " << name << ", " << file << " not");
}
