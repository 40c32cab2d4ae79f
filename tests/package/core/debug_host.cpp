// A host of whose containers the library knows nothing: compiled with -D_GLIBCXX_DEBUG, beside code in C++14. Both use the C interface.

#include <warpmat/c.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#ifndef _GLIBCXX_DEBUG
#error "this host is to be compiled with _GLIBCXX_DEBUG"
#endif

int execute_in_cpp14();  // cpp14_host.cpp

int main() {
  warpmat_error error{};
  error.size = sizeof error;
  const std::string opcode = "movmatrix.sync.aligned.m8n8.trans.b16";
  const warpmat_instruction* const transpose = warpmat_find(opcode.c_str(), "sm_90a", &error);
  if (transpose == nullptr) {
    std::printf("%s\n", error.message);
    return 1;
  }
  std::vector<std::uint32_t> from(32), to(32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) from[lane] = lane / 4 << 16 | lane / 4;  // element (row, column) is its row
  const std::vector<warpmat_registers> operands{WARPMAT_REGISTER_MAJOR(to.data(), 32), WARPMAT_REGISTER_MAJOR(from.data(), 32)};
  warpmat_call call{};
  call.size = sizeof call;
  call.operands = operands.data();
  call.operand_count = operands.size();
  if (warpmat_execute(transpose, &call, 1, &error) != WARPMAT_OK) {
    std::printf("%s\n", error.message);
    return 1;
  }
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    if (to[lane] != ((2 * (lane % 4) + 1) << 16 | 2 * (lane % 4))) return 1;  // now it is its column
  return execute_in_cpp14();
}
