#pragma once

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Calls of the runtime and the driver by the names of their functions, for programs that take them from a library that they open: by words,
// in the places of the convention of x86-64.

namespace by_name {

using Word = std::uint64_t;

inline Word word_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// The words of an argument, and whether its type lies on the stack whatever registers are free.
struct Argument {
  std::vector<Word> words;
  bool on_stack = false;

  Argument(std::vector<Word> words_, bool on_stack_ = false) : words(std::move(words_)), on_stack(on_stack_) {}
  template <typename T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) Argument(T number) : words{static_cast<Word>(number)} {}
  template <typename T>
  Argument(T* pointer) : words{reinterpret_cast<std::uintptr_t>(pointer)} {}
  Argument(std::nullptr_t) : words{0} {}
};

/// The library that was opened.
inline void*& library() {
  static void* opened = nullptr;
  return opened;
}

template <std::size_t... I>
Word call_with(void* function, const std::array<Word, 6>& r, const std::array<Word, 40>& stack, std::index_sequence<I...>) {
  using Function = Word (*)(Word, Word, Word, Word, Word, Word, decltype(static_cast<void>(I), Word())...);
  return reinterpret_cast<Function>(function)(r[0], r[1], r[2], r[3], r[4], r[5], stack[I]...);
}

inline Word call_words(void* function, const std::vector<Argument>& arguments) {
  std::array<Word, 6> registers{};
  std::array<Word, 40> stack{};
  std::size_t in_registers = 0, on_stack = 0;
  for (const Argument& argument : arguments) {
    const bool fits = !argument.on_stack && in_registers + argument.words.size() <= registers.size();
    for (const Word word : argument.words) (fits ? registers[in_registers++] : stack[on_stack++]) = word;
  }
  return call_with(function, registers, stack, std::make_index_sequence<40>());
}

/// The code that a function returns; -1 if the library has none of that name.
inline int call(const char* name, const std::vector<Argument>& arguments) {
  void* const function = dlsym(library(), name);
  if (function == nullptr) return std::printf("no function %s\n", name), -1;
  return static_cast<int>(call_words(function, arguments));
}

}  // namespace by_name
