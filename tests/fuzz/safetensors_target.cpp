#include "fuzz/support.h"
#include "fuzz/targets.h"
#include "train/safetensors.h"

namespace phasor::fuzz {

void safetensors(const std::uint8_t* data, std::size_t size) {
  for (const Checksum checksum : {Checksum::optional, Checksum::required}) {
    accepts(
        [&] {
          const TensorFile file = parse_safetensors({data, size}, "fuzz.safetensors", checksum);
          std::size_t bytes = 0;
          for (const NamedTensor& tensor : file.tensors) {
            bytes += static_cast<std::size_t>(tensor.value.size()) * size_of(tensor.value.dtype());
          }
          if (bytes > size) broken("more numbers than bytes");
        },
        {ErrorKind::io});
  }
}

}  // namespace phasor::fuzz
