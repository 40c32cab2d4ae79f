// Lists of statements: a text is refused with its errors, or it is a program that prints and parses to itself and that runs, if only to a
// Trap.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include <warpmat/program.h>

#include "fuzz/text_mutation.h"
#include "lists/diagnostics.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpmat;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const Program program = parse(text, "sm_90a");
    const std::string printed = print(program);
    if (!same_contents(parse(printed), program)) {  // its version may be raised to what the target needs
      std::cerr << "not the same after printing:\n" << text << "\n----\n" << printed;
      std::abort();
    }
    constexpr std::int64_t most_shared_bytes = 1 << 16;  // a larger program is right but slow
    constexpr int max_words = 1 << 12;
    if (program.shared_bytes() > most_shared_bytes || program.words() > max_words) return 0;
    Warp warp(program, 256);
    try {
      run(warp);
    } catch (const Trap&) {
    }
  } catch (const SyntaxError& error) {
    if (error.errors.empty()) std::abort();
  }
  return 0;
}
