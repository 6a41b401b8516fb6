// SHA-256 (FIPS 180-4): digests of data sets, configurations and plugins.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace phasor {

/// Which compression function runs. Both give the same digest; `automatic` takes the CPU's SHA
/// instructions where it has them (about five times as fast).
enum class Sha256Kernel { automatic, portable };

/// A digest in the making: any number of updates, then one `hex`.
class Sha256 {
 public:
  explicit Sha256(Sha256Kernel kernel = Sha256Kernel::automatic);

  void update(const void* data, std::size_t size);

  /// The digest of everything seen, as 64 lower-case hexadecimal digits. Call it once, at the end.
  std::string hex();

 private:
  using Compress = void (*)(std::uint32_t* state, const std::uint8_t* blocks, std::size_t count);

  Compress compress_;
  std::array<std::uint32_t, 8> state_;
  std::array<std::uint8_t, 64> pending_{};  // the first size_ % 64 bytes wait for a whole block
  std::uint64_t size_ = 0;                  // bytes seen
};

/// SHA-256 of `size` bytes, as 64 lower-case hexadecimal digits.
std::string sha256_hex(const void* data, std::size_t size);

/// Whether this CPU has the SHA instructions that `automatic` uses.
bool sha256_accelerated();

}  // namespace phasor
