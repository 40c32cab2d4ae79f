#pragma once

#include <cstdlib>
#include <new>

// Replaces the allocation functions of the whole program. One of its files includes this header and defines before_allocation().

namespace {

/// Called before each allocation, which fails if this throws std::bad_alloc.
void before_allocation();

void* allocated(std::size_t bytes) {
  before_allocation();
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}

/// Never inlined: beside a call of operator new g++ takes free for a mistake.
[[gnu::noinline]] void release(void* memory) noexcept {
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return allocated(bytes);
}
void* operator new[](std::size_t bytes) {
  return allocated(bytes);
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete[](void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  release(memory);
}
