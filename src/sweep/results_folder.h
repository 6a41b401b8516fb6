// The results tree: sweep.json, cells/<id>/cell.json, and who may write where.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace phasor {

inline constexpr const char* kSweepSchema = "phasor-sweep-1";
inline constexpr const char* kCellSchema = "phasor-cell-1";

/// Paths in a results folder.
struct ResultsFolder {
  std::filesystem::path root;

  std::filesystem::path sweep_file() const { return root / "sweep.json"; }
  std::filesystem::path cells() const { return root / "cells"; }
  std::filesystem::path cell(const std::string& id) const { return cells() / id; }
  std::filesystem::path cell_file(const std::string& id) const { return cell(id) / "cell.json"; }
  std::filesystem::path curve_file(const std::string& id) const { return cell(id) / "curve.json"; }
  std::filesystem::path report() const { return root / "report"; }
};

/// The string member `key` of an object; empty where it is absent or no string.
std::string text_member(const nlohmann::json& object, const char* key);

/// A JSON object from a file, or nothing where the file is missing or is no JSON object.
std::optional<nlohmann::json> load_object(const std::filesystem::path& file);

/// Replaces `file` by `document`, indented, as a whole; `before_rename` as in AtomicFile::commit.
void save_object(const std::filesystem::path& file, const nlohmann::json& document,
                 const std::function<void()>& before_rename = {});

/// Makes the folder, or checks that the one there may be continued, then writes `sweep` to
/// sweep.json. Its member `result` (what of the configuration determines results, without axes)
/// must equal the one there, and so must the digests of data sets (`digests`, by name) that both
/// know: a usage error names what differs, with both values. `fresh` moves a folder that holds a
/// sweep aside first (unless a living process works in it). Returns notices, e.g. where the old
/// folder went.
std::vector<std::string> open_results(const ResultsFolder& folder, const nlohmann::json& sweep,
                                      bool fresh);

/// The dotted names of the members in which two objects differ, with both values:
/// `train.momentum: 0.9 there, 0.8 here`.
std::vector<std::string> differences(const nlohmann::json& there, const nlohmann::json& here);

/// Makes `folder` and its parents; an I/O error with path and cause otherwise.
void make_folders(const std::filesystem::path& folder);

/// The cell's cell.json where it says `done` under its own id and curve.json lies beside it.
std::optional<nlohmann::json> finished_cell(const ResultsFolder& folder, const std::string& id);

}  // namespace phasor
