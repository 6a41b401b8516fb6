#include "data/batches.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "phasor/error.h"
#include "phasor/rng.h"

namespace phasor {

void epoch_order(std::uint64_t seed, std::uint32_t epoch, std::span<std::uint32_t> order) {
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = order.size(); i > 1; --i) {
    const std::uint32_t bits = draw(seed, Purpose::order, epoch, i - 1)[0];
    std::swap(order[i - 1], order[uniform_below(bits, static_cast<std::uint32_t>(i))]);
  }
}

Crop draw_crop(std::uint64_t seed, std::uint32_t epoch, std::uint32_t sample) {
  const auto bits = draw(seed, Purpose::augment, epoch, sample);
  return {static_cast<int>(uniform_below(bits[0], 2 * kPad + 1)),
          static_cast<int>(uniform_below(bits[1], 2 * kPad + 1)), uniform_below(bits[2], 2) == 1};
}

BatchPlan::BatchPlan(Index samples, Index batch_size, bool drop_last)
    : samples_(samples), batch_size_(batch_size) {
  PHASOR_CHECK(batch_size >= 1, "[batches] train.batch_size must be at least 1; got ", batch_size);
  batches_ = drop_last ? samples / batch_size : (samples + batch_size - 1) / batch_size;
  PHASOR_CHECK(batches_ >= 1, "[batches] an epoch needs at least one batch; got ", samples,
               " samples in batches of ", batch_size,
               "; lower train.batch_size or set data.drop_last to false");
}

Sampler::Sampler(Index samples, std::uint64_t seed, SampleOrder order, Augment augment)
    : seed_(seed), kind_(order), augment_(augment) {
  PHASOR_CHECK(samples >= 0 && samples <= std::numeric_limits<std::uint32_t>::max(),
               "[sampler] 0 to 4294967295 samples; got ", samples);
  order_.resize(static_cast<std::size_t>(samples));
  begin_epoch(0);
}

void Sampler::begin_epoch(std::uint32_t epoch) {
  epoch_ = epoch;
  if (kind_ == SampleOrder::shuffle)
    epoch_order(seed_, epoch, order_);
  else
    std::iota(order_.begin(), order_.end(), 0u);
}

Sampler::Sample Sampler::operator[](Index position) const {
  const std::uint32_t number = order_[static_cast<std::size_t>(position)];
  return {number, augment_ == Augment::crop_flip ? draw_crop(seed_, epoch_, number) : Crop{}};
}

template <class T>
PixelTable<T>::PixelTable(const Normalisation& normalisation) {
  for (std::size_t c = 0; c < 3; ++c) {
    const T mean = static_cast<T>(normalisation.mean[c]);
    const T deviation = static_cast<T>(normalisation.deviation[c]);
    for (std::size_t byte = 0; byte < 256; ++byte)
      values_[c][byte] = (static_cast<T>(byte) / T{255} - mean) / deviation;
  }
}

template <class T>
void gather(const std::uint8_t* image, Crop crop, const PixelTable<T>& table, T* out) {
  const T* const red = table.channel(0);
  const T* const green = table.channel(1);
  const T* const blue = table.channel(2);
  // Columns [first, last) of the output, before mirroring, come from the image.
  const int shift = crop.x - kPad;
  const int first = std::max(0, -shift);
  const int last = std::min(kSide, kSide - shift);
  const auto pad = [&](T* row, int from, int to) {
    for (int x = from; x < to; ++x) {
      row[3 * x] = red[0];
      row[3 * x + 1] = green[0];
      row[3 * x + 2] = blue[0];
    }
  };
  for (int y = 0; y < kSide; ++y, out += 3 * kSide) {
    const int source_y = y + crop.y - kPad;
    if (source_y < 0 || source_y >= kSide) {
      pad(out, 0, kSide);
      continue;
    }
    const std::uint8_t* source = image + source_y * kSide + shift;
    const int step = crop.flip ? -3 : 3;
    T* pixel = out + 3 * (crop.flip ? kSide - 1 - first : first);
    for (int x = first; x < last; ++x, pixel += step) {
      pixel[0] = red[source[x]];
      pixel[1] = green[source[x + kPlane]];
      pixel[2] = blue[source[x + 2 * kPlane]];
    }
    // Mirrored, the margins change sides.
    pad(out, 0, crop.flip ? kSide - last : first);
    pad(out, crop.flip ? kSide - first : last, kSide);
  }
}

template class PixelTable<float>;
template class PixelTable<double>;
template void gather(const std::uint8_t*, Crop, const PixelTable<float>&, float*);
template void gather(const std::uint8_t*, Crop, const PixelTable<double>&, double*);

}  // namespace phasor
