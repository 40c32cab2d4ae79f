#pragma once

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace warpmat::machine {

/// Asks Linux for transparent huge pages under memory that has not been written yet. It zeroes and maps them in a fraction of the time of
/// small pages, and a kernel that streams through a buffer has fewer TLB misses. Not above 1 GiB: programs often touch little of such
/// a buffer, and each first write would cost 2 MiB.
inline void want_large_pages([[maybe_unused]] void* data, [[maybe_unused]] std::uint64_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr std::uint64_t page = 2 << 20, most = std::uint64_t{1} << 30;
  const std::uint64_t before = (page - reinterpret_cast<std::uintptr_t>(data) % page) % page;
  if (bytes < before + page || bytes > most) return;
  static_cast<void>(::madvise(static_cast<std::uint8_t*>(data) + before, (bytes - before) / page * page, MADV_HUGEPAGE));
#endif
}

}  // namespace warpmat::machine
