// Claims: how processes that share a results folder divide its cells.
//
// A claim is a file, made by exclusive create, that names its owner: host, boot, process number and
// the time the process started. Its age is the time since the owner last touched it. A dead owner
// on this host is replaced at once, any other after kClaimTimeout without a touch. Should two
// processes ever hold one cell, time is wasted but no byte of the results changes. Both compute the
// same, and a paused owner that wakes cannot put an older file over a newer one: files come into
// place by renaming a temporary, an owner makes the temporary first, then reads its claim, then
// renames, and whoever takes a cell over removes all temporaries before it reads the cell.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

namespace phasor {

/// Age at which a claim counts as abandoned; PHASOR_CLAIM_TIMEOUT (seconds) sets another.
inline constexpr std::chrono::seconds kClaimTimeout{600};
std::chrono::seconds claim_timeout();

/// Another process took the cell over: this one must publish nothing more of it.
struct ClaimLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// This process's hold on one cell's folder; ends with the object.
class Claim {
 public:
  /// Takes the cell whose existing folder is given; nothing where another owner holds it.
  static std::optional<Claim> take(const std::filesystem::path& folder);

  Claim(Claim&& other) noexcept;
  Claim& operator=(Claim&&) = delete;
  ~Claim();

  /// Reads the claim again: throws ClaimLost where it is another's, an I/O error where the folder
  /// is gone. Call it before every publish.
  void check() const;

  /// Shows that the owner lives; cheap, call it as often as you like.
  void touch();

 private:
  Claim(std::filesystem::path file, std::string text);
  /// The claim just made, in a folder where nothing of an earlier owner is under way.
  static Claim owned(const std::filesystem::path& file, const std::string& text);

  std::filesystem::path file_;  // empty once moved from
  std::string text_;
  std::chrono::steady_clock::time_point touched_;
};

/// "process 123 on host" where an owner that may live holds the folder; otherwise nothing.
std::optional<std::string> live_holder(const std::filesystem::path& folder);

}  // namespace phasor
