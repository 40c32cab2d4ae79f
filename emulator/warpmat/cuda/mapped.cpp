#include <warpmat/cuda/mapped.h>

#include <cinttypes>
#include <cstdio>
#include <memory>

#include <warpmat/cuda/errors.h>

namespace warpmat::cuda {

std::uint64_t mapped_bytes(const void* at, bool writable) {
  const auto start = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(at));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"), std::fclose);
  if (maps == nullptr) throw ApiError(cudaErrorOperatingSystem, "/proc/self/maps cannot be read, so no memory of the program is known");
  std::uint64_t end = start;  // of what is known so far; mappings are in the order of their addresses
  char line[512];
  while (std::fgets(line, sizeof line, maps.get()) != nullptr) {
    std::uint64_t first = 0, behind = 0;
    char read = 0, write = 0;
    // the rest of a line that is longer begins with no address
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %c%c", &first, &behind, &read, &write) != 4 || behind <= end) continue;
    if (first > end || read != 'r' || (writable && write != 'w')) break;
    end = behind;
  }
  return end - start;
}

}  // namespace warpmat::cuda
