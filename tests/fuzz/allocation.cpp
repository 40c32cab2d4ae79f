// A program gets std::bad_alloc, or nullptr of calloc, where there is no memory; AddressSanitizer ends the process. So targets get them for
// sizes that no input needs.

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

void* allocate(std::size_t bytes) noexcept {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  return bytes > most_bytes ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* const memory = allocate(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}

extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:max_allocation_size_mb=1024";
}
