// What the layers of the source tree may include and name, checked on the text of the files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace phasor::tests {

/// The layers in the order of the top CMakeLists.txt, lowest first.
std::vector<std::string> layer_order(const std::filesystem::path& root);

/// Every breach in the tree below `root`, one line each, `path:line: what`. The rules:
/// - src/<layer> includes "<layer>/file.h" of its own or a lower layer, "phasor/file.h", a header
///   that CMake generates from the layer's file.h.in, or <...>;
///   `DEPENDS` in its CMakeLists.txt names lower layers only;
/// - include/phasor includes only "phasor/file.h" and <...>, and no third-party library;
/// - the norms of src/norms are named in code (comments aside) only there, in their loops in
///   src/kernels, in src/claims, which states what was published about them, and in the programs
///   (bench, cli), whose help gives examples. Only names with norm, rms or mrs in them are looked
///   for: other words cannot be told from ordinary code.
std::vector<std::string> layer_breaches(const std::filesystem::path& root);

/// C++ source with comments blanked out; line breaks and everything else stay in place.
std::string without_comments(std::string_view source);

}  // namespace phasor::tests
