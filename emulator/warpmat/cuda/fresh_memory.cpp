#include <warpmat/cuda/fresh_memory.h>

#include <sys/mman.h>

#include <cerrno>
#include <iterator>
#include <mutex>

#include <warpmat/cuda/mutex.h>

// The sanitizers', in a program that has them. What these pages hold is reachable: LeakSanitizer looks for pointers in what malloc gave,
// not in mapped pages. What is in no object of theirs is no memory to AddressSanitizer.
extern "C" {
__attribute__((weak)) void __lsan_register_root_region(const void* begin, std::size_t bytes);
__attribute__((weak)) void __lsan_unregister_root_region(const void* begin, std::size_t bytes);
__attribute__((weak)) void __asan_poison_memory_region(const volatile void* begin, std::size_t bytes);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void* begin, std::size_t bytes);
}

namespace warpmat::cuda {
namespace {

// Behind the addresses of AddressSpace, below the code of programs.
constexpr std::uint64_t first_address = 0x5000'0000'0000, behind = 0x5400'0000'0000, chunk_bytes = 64 << 10;

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

void poison(const void* begin, std::size_t bytes) {
  if (__asan_poison_memory_region != nullptr) __asan_poison_memory_region(begin, bytes);
}

void unpoison(const void* begin, std::size_t bytes) {
  if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(begin, bytes);
}

}  // namespace

FreshMemory& fresh_memory() {
  return lasting<FreshMemory>();
}

FreshMemory::Chunk& FreshMemory::map_chunk(std::uint64_t bytes) {
  bytes = (bytes + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
  std::uint64_t address = chunks_.empty() ? first_address : chunks_.rbegin()->first + chunks_.rbegin()->second.bytes;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  for (; bytes < behind - address; address += chunk_bytes) {  // where the program has mapped something, the next place
    void* const mapped = ::mmap(pointer(address), bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (mapped == pointer(address)) break;
    if (mapped != MAP_FAILED) ::munmap(mapped, bytes);
    if (mapped == MAP_FAILED && errno != EEXIST) throw std::bad_alloc();
  }
  if (bytes >= behind - address) throw std::bad_alloc();
  if (__lsan_register_root_region != nullptr) __lsan_register_root_region(pointer(address), bytes);
  poison(pointer(address), bytes);
  next_ = address;
  return chunks_[address] = {.bytes = bytes};
}

void* FreshMemory::do_allocate(std::size_t bytes, std::size_t alignment) {
  const std::lock_guard lock(mutex());
  const auto place = [&] { return (next_ + alignment - 1) / alignment * alignment; };
  const auto has_room = [&] {
    const auto& [address, chunk] = *chunks_.rbegin();
    return place() + bytes <= address + chunk.bytes;
  };
  if (chunks_.empty() || !has_room()) {
    const std::uint64_t full = chunks_.empty() ? 0 : chunks_.rbegin()->first;
    map_chunk(bytes);
    if (full != 0 && chunks_.at(full).objects == 0) unmap(full);
  }
  const std::uint64_t address = place();
  ++chunks_.rbegin()->second.objects;
  next_ = address + bytes;
  unpoison(pointer(address), bytes);
  return pointer(address);
}

void FreshMemory::do_deallocate(void* object, std::size_t bytes, std::size_t) {
  const std::lock_guard lock(mutex());
  poison(object, bytes);
  const auto chunk = std::prev(chunks_.upper_bound(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(object))));
  if (--chunk->second.objects == 0 && std::next(chunk) != chunks_.end()) unmap(chunk->first);
}

void FreshMemory::unmap(std::uint64_t address) {
  if (__lsan_unregister_root_region != nullptr) __lsan_unregister_root_region(pointer(address), chunks_.at(address).bytes);
  unpoison(pointer(address), chunks_.at(address).bytes);
  ::munmap(pointer(address), chunks_.at(address).bytes);
  chunks_.erase(address);
}

}  // namespace warpmat::cuda
