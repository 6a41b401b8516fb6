#include "sweep/results_folder.h"

#include <algorithm>
#include <map>
#include <system_error>

#include "config/json_text.h"
#include "config/keys.h"
#include "core/file.h"
#include "sweep/claim.h"

namespace phasor {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Leaves of nested objects by dotted name.
void flatten(const json& value, const std::string& name, std::map<std::string, json>& leaves) {
  if (!value.is_object() || value.empty()) {
    leaves[name] = value;
    return;
  }
  for (const auto& [key, member] : value.items()) {
    flatten(member, name.empty() ? key : name + '.' + key, leaves);
  }
}

std::string shown(const std::map<std::string, json>& leaves, const std::string& name) {
  const auto found = leaves.find(name);
  return found == leaves.end() ? "absent" : write_json(found->second);
}

/// A process that may be at work in a cell of the folder.
std::optional<std::string> worker_in(const ResultsFolder& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.cells(), error)) {
    if (const auto holder = live_holder(entry.path())) return holder;
  }
  return std::nullopt;
}

/// The process works in `folder` or below it.
bool works_in(const fs::path& folder) {
  const fs::path here = fs::current_path();
  return std::mismatch(folder.begin(), folder.end(), here.begin(), here.end()).first ==
         folder.end();
}

/// Renames the folder to the first free <name>.old-<k>. A link stays, and leads to a new folder in
/// the old one's place: it may say on which disk results are to lie.
fs::path move_aside(const ResultsFolder& folder) {
  if (const auto holder = worker_in(folder)) {
    fail(ErrorKind::usage, "[results] --fresh moves a folder only when nobody works in it; got ",
         folder.root.string(), " held by ", *holder);
  }
  const fs::path real = fs::canonical(folder.root);
  PHASOR_CHECK(!works_in(real), "[results] --fresh cannot move the folder one works in; got ",
               folder.root.string(), "; go elsewhere and name it");
  fs::path source = folder.root.lexically_normal();
  if (!source.has_filename()) source = source.parent_path();
  if (fs::is_symlink(source) || source.filename() == "..") source = real;
  for (int k = 1;; ++k) {
    fs::path target = source;
    target += concat(".old-", k);
    std::error_code error;
    if (fs::exists(fs::symlink_status(target, error))) continue;
    fs::rename(source, target, error);
    if (!error) {
      make_folders(source);
      return target;
    }
    fail(ErrorKind::io, "[results] cannot move ", source.string(), " to ", target.string(),
         "; got ", error.message());
  }
}

[[noreturn]] void refuse(const ResultsFolder& folder, const char* what,
                         const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += '\n' + line;
  fail(ErrorKind::usage, "[results] ", folder.root.string(), " holds results of another ", what,
       "; take another --out, or --fresh to move it aside", text);
}

/// Where `key` is an axis of the sweep there: how to add a value to it.
std::string axis_hint(const json& there, const std::string& key) {
  const std::string axis = shorten_key(key);
  const json::json_pointer place("/configuration/sweep/" + axis);
  if (!there.contains(place)) return "";
  return concat("; an axis there: to add values, --set sweep.", axis, "=[...]");
}

void refuse_other(const ResultsFolder& folder, const json& there, const json& here) {
  if (there.contains("result")) {
    std::vector<std::string> lines = differences(there["result"], here["result"]);
    for (std::string& line : lines) line += axis_hint(there, line.substr(0, line.find(':')));
    if (!lines.empty()) refuse(folder, "configuration", lines);
  }
  if (!there.contains("digests") || !there["digests"].is_object()) return;
  for (const auto& [name, digest] : here["digests"].items()) {
    if (!there["digests"].contains(name)) continue;  // an axis grew
    const std::vector<std::string> lines =
        differences({{name, there["digests"][name]}}, {{name, digest}});
    if (!lines.empty()) refuse(folder, "data set", lines);
  }
}

}  // namespace

std::string text_member(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<json> load_object(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  json document = json::parse(read_file(file), nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return std::nullopt;
  return document;
}

void save_object(const fs::path& file, const json& document,
                 const std::function<void()>& before_rename) {
  write_file_atomic(file, write_json(document, 2) + '\n', before_rename);
}

std::vector<std::string> open_results(const ResultsFolder& folder, const json& sweep, bool fresh) {
  std::vector<std::string> notices;
  std::error_code ignored;
  const bool there = fs::exists(folder.sweep_file(), ignored);
  if (fresh && there) {
    notices.push_back("moved the old results to " + move_aside(folder).string());
  } else if (there) {
    if (const std::optional<json> old = load_object(folder.sweep_file())) {
      refuse_other(folder, *old, sweep);
    } else {
      notices.push_back(folder.sweep_file().string() +
                        " was damaged and is written anew; finished cells stay");
    }
  }
  make_folders(folder.cells());
  save_object(folder.sweep_file(), sweep);
  return notices;
}

std::vector<std::string> differences(const json& there, const json& here) {
  std::map<std::string, json> old_leaves, new_leaves;
  flatten(there, "", old_leaves);
  flatten(here, "", new_leaves);
  std::map<std::string, json> names = old_leaves;
  names.insert(new_leaves.begin(), new_leaves.end());
  std::vector<std::string> lines;
  for (const auto& [name, value] : names) {
    const std::string before = shown(old_leaves, name);
    const std::string now = shown(new_leaves, name);
    if (before != now) lines.push_back(name + ": " + before + " there, " + now + " here");
  }
  return lines;
}

void make_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error || error == std::errc::file_exists) {
    // A file in the way, or a link to nothing.
    error = {};
    if (!fs::is_directory(folder, error)) error = std::make_error_code(std::errc::not_a_directory);
  }
  if (error) {
    fail(ErrorKind::io, "[results] cannot make the folder ", folder.string(), "; got ",
         error.message());
  }
}

std::optional<json> finished_cell(const ResultsFolder& folder, const std::string& id) {
  std::optional<json> cell = load_object(folder.cell_file(id));
  std::error_code ignored;
  if (!cell || text_member(*cell, "state") != "done" || text_member(*cell, "id") != id ||
      !fs::is_regular_file(folder.curve_file(id), ignored)) {
    return std::nullopt;
  }
  return cell;
}

}  // namespace phasor
