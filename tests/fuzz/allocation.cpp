// What AddressSanitizer's operator new does where there is no memory ends the process. A program gets std::bad_alloc, and so do targets
// here for sizes that no input needs.

#include <cstddef>
#include <cstdlib>
#include <new>

void* operator new(std::size_t bytes) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  void* const memory = bytes > most_bytes ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
