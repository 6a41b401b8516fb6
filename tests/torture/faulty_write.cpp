// A library to preload (LD_PRELOAD) under a program: it makes calls that change files fail now and
// then, as a full or dying disk does.
//
//   FAULTY_UNDER=DIR   only files whose path begins with DIR
//   FAULTY_SEED=N      which calls fail; another number, another course
//   FAULTY_EVERY=N     one call of N fails, on average
//   FAULTY_BURST=N     and up to N - 1 that follow: a full disk stays full for a while
//
// A write may also be cut short, or be done in part before it fails.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kDescriptors = 4096;
std::atomic<bool> watched[kDescriptors];
std::atomic<std::uint64_t> calls{0};
std::atomic<long> burst_left{0};

long setting(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atol(text) : otherwise;
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

/// The n-th number of the seed's course (SplitMix64).
std::uint64_t random_number(std::uint64_t n) {
  static const auto seed = static_cast<std::uint64_t>(setting("FAULTY_SEED", 1));
  std::uint64_t x = seed * 0x9E3779B97F4A7C15u + n * 0xD1B54A32D192ED03u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

bool is_under(const char* path) {
  static const char* folder = std::getenv("FAULTY_UNDER");
  return folder != nullptr && path != nullptr &&
         std::strncmp(path, folder, std::strlen(folder)) == 0;
}

bool is_watched(int descriptor) {
  return descriptor >= 0 && descriptor < kDescriptors && watched[descriptor];
}

void watch(int descriptor, bool value) {
  if (descriptor >= 0 && descriptor < kDescriptors) watched[descriptor] = value;
}

/// The errno with which this call fails, or 0.
int fault() {
  static const auto every = static_cast<std::uint64_t>(setting("FAULTY_EVERY", 50));
  static const long burst = setting("FAULTY_BURST", 1);
  const std::uint64_t number = random_number(calls++);
  const int error = number & (1u << 20) ? ENOSPC : EIO;
  if (burst_left > 0 && burst_left-- > 0) return error;
  if (number % every != 0) return 0;
  burst_left =
      burst > 1 ? static_cast<long>((number >> 32) % static_cast<std::uint64_t>(burst)) : 0;
  return error;
}

/// -1 with errno set where the call is to fail.
#define FAIL_NOW_AND_THEN(condition)             \
  if (condition) {                               \
    if (const int error = fault(); error != 0) { \
      errno = error;                             \
      return -1;                                 \
    }                                            \
  }

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if (flags & O_CREAT) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  FAIL_NOW_AND_THEN(is_under(path))
  static const auto next = real<int (*)(const char*, int, ...)>("open");
  const int descriptor = next(path, flags, mode);
  watch(descriptor, is_under(path));
  return descriptor;
}

int open64(const char* path, int flags, ...) {
  mode_t mode = 0;
  if (flags & O_CREAT) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  return open(path, flags, mode);
}

int close(int descriptor) {
  const bool ours = is_watched(descriptor);
  watch(descriptor, false);
  static const auto next = real<int (*)(int)>("close");
  const int result = next(descriptor);
  FAIL_NOW_AND_THEN(ours)
  return result;
}

ssize_t write(int descriptor, const void* data, size_t size) {
  static const auto next = real<ssize_t (*)(int, const void*, size_t)>("write");
  if (is_watched(descriptor)) {
    if (const int error = fault(); error != 0) {
      const std::uint64_t number = random_number(~calls);
      const std::size_t part = size > 1 ? number % size : 0;
      if (part > 0 && number & (1u << 30)) {
        const ssize_t written = next(descriptor, data, part);
        if (number & (1u << 31)) return written;  // short, and no error
      }
      errno = error;
      return -1;
    }
  }
  return next(descriptor, data, size);
}

int fsync(int descriptor) {
  FAIL_NOW_AND_THEN(is_watched(descriptor))
  static const auto next = real<int (*)(int)>("fsync");
  return next(descriptor);
}

int fdatasync(int descriptor) {
  FAIL_NOW_AND_THEN(is_watched(descriptor))
  static const auto next = real<int (*)(int)>("fdatasync");
  return next(descriptor);
}

int ftruncate64(int descriptor, off64_t length) {
  FAIL_NOW_AND_THEN(is_watched(descriptor))
  static const auto next = real<int (*)(int, off64_t)>("ftruncate64");
  return next(descriptor, length);
}

int ftruncate(int descriptor, off_t length) { return ftruncate64(descriptor, length); }

int rename(const char* from, const char* to) noexcept {
  FAIL_NOW_AND_THEN(is_under(to))
  static const auto next = real<int (*)(const char*, const char*)>("rename");
  return next(from, to);
}

int link(const char* from, const char* to) noexcept {
  FAIL_NOW_AND_THEN(is_under(to))
  static const auto next = real<int (*)(const char*, const char*)>("link");
  return next(from, to);
}

int unlink(const char* path) noexcept {
  FAIL_NOW_AND_THEN(is_under(path))
  static const auto next = real<int (*)(const char*)>("unlink");
  return next(path);
}

int mkdir(const char* path, mode_t mode) noexcept {
  FAIL_NOW_AND_THEN(is_under(path))
  static const auto next = real<int (*)(const char*, mode_t)>("mkdir");
  return next(path, mode);
}

}  // extern "C"
