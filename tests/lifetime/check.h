#pragma once

#include <warpmat/c.h>
#include <warpmat/program.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// What the programs of this folder share. Each is a process of its own, because what it tests is how one begins or ends; 0 is success.

namespace lifetime {

inline constexpr std::string_view mma_opcode = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
inline constexpr const char* program_text =
    "mov.b32 a0, 0x3c003c00; mov.b32 a1, a0; mov.b32 a2, a0; mov.b32 a3, a0; mov.b32 c, 0; add.u32 b, a0, c;\n"
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b, b}, {c, c, c, c};\n";

/// Ends the process at once, also where destructors run: with a message and a status that is not 0.
[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::_Exit(1);
}

/// Whether `mma`, of mma_opcode, multiplies a matrix of ones with one: each of the 16 products of a result is 1.
inline bool multiplies(const warpmat::Instruction& mma) {
  constexpr std::uint32_t two_ones = 0x3c003c00, sixteen = 0x41800000;
  const std::vector<std::uint32_t> ones(4 * warpmat::warp_size, two_ones), zeros(4 * warpmat::warp_size, 0);
  for (const warpmat::Path path : {warpmat::Path::fast, warpmat::Path::reference}) {
    std::vector<std::uint32_t> d(4 * warpmat::warp_size, 0);
    const warpmat::RegisterView one = warpmat::read_only(ones.data());
    const std::array<warpmat::RegisterView, 4> operands{d.data(), one, one, warpmat::read_only(zeros.data())};
    warpmat::Call call;
    call.operands = operands;
    mma.execute(call, 1, {.path = path});
    if (std::ranges::count(d, sixteen) != std::ssize(d)) return false;
  }
  return true;
}

/// Whether `program`, of program_text, does the same.
inline bool runs(const warpmat::Program& program) {
  warpmat::Warp warp(program);
  warpmat::run(warp);
  return warp.reg("d3")[31] == 0x41800000;
}

/// Whether the C interface does the same, on registers that lie thread by thread, and reports an error.
inline bool works_from_c() {
  const warpmat_instruction* const mma = warpmat_find(std::string(mma_opcode).c_str(), "sm_90a", nullptr);
  constexpr int thread_words = 14;
  std::vector<std::uint32_t> words(thread_words * warpmat::warp_size, 0x3c003c00);  // d, a, b and c of each thread
  for (std::size_t lane = 0; lane < warpmat::warp_size; ++lane)
    std::fill_n(words.begin() + static_cast<std::ptrdiff_t>(thread_words * lane) + 10, 4, 0u);
  warpmat_registers operands[] = {
      WARPMAT_THREAD_MAJOR(words.data(), thread_words, nullptr, 0), WARPMAT_THREAD_MAJOR(words.data() + 4, thread_words, nullptr, 0),
      WARPMAT_THREAD_MAJOR(words.data() + 8, thread_words, nullptr, 0), WARPMAT_THREAD_MAJOR(words.data() + 10, thread_words, nullptr, 0)};
  warpmat_call call{};
  call.size = sizeof call;
  call.operands = operands;
  call.operand_count = std::size(operands);
  warpmat_error error;
  error.size = sizeof error;
  if (mma == nullptr || warpmat_execute(mma, &call, 1, &error) != WARPMAT_OK || words[3] != 0x41800000) return false;
  call.operand_count = 3;
  return warpmat_execute(mma, &call, 1, &error) == WARPMAT_BAD_ARGUMENT && warpmat_find("no.such", "sm_80", &error) == nullptr;
}

/// Uses all services of the library: instructions and programs made now, and the text of errors, which search the tables.
inline bool library_works() {
  using namespace warpmat;
  if (!works_from_c()) return false;
  if (!multiplies(Instruction(mma_opcode, "sm_90a")) || !runs(parse(program_text, "sm_80"))) return false;
  try {
    static_cast<void>(parse("mma.sync.aligned.m16n8k15.row.col.f32.f16.f16.f32 d, a, b, c;\nmad.low.u32 a, b, c, d;", "sm_90"));
  } catch (const SyntaxError& error) {
    return std::string_view(error.what()).find("mad.lo.u32") != std::string_view::npos;
  }
  return false;
}

}  // namespace lifetime
