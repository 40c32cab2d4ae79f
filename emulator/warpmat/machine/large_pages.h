#pragma once

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace warpmat::machine {

/// Has the system take large pages for bytes that nobody has touched, where it has some: they come in a fraction of the time of small ones,
/// and a kernel that streams through a buffer waits less for addresses. Not for huge buffers, which programs often use here and there
/// alone.
inline void want_large_pages([[maybe_unused]] void* data, [[maybe_unused]] std::uint64_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr std::uint64_t page = 2 << 20, most = std::uint64_t{1} << 30;
  const std::uint64_t before = (page - reinterpret_cast<std::uintptr_t>(data) % page) % page;
  if (bytes < before + page || bytes > most) return;
  static_cast<void>(::madvise(static_cast<std::uint8_t*>(data) + before, (bytes - before) / page * page, MADV_HUGEPAGE));
#endif
}

}  // namespace warpmat::machine
