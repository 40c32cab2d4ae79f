// C++14 that executes ldmatrix through the C interface.

#include <warpmat/c.h>

#include <array>
#include <cstdint>
#include <cstdio>

#if __cplusplus >= 201703L
#error "this file is to be compiled as C++14"
#endif

int execute_in_cpp14();

/// 0 if every lane got the word that it should.
int execute_in_cpp14() {
  warpmat_error error{};
  error.size = sizeof error;
  const warpmat_instruction* const load = warpmat_find("ldmatrix.sync.aligned.m8n8.x4.shared.b16", "sm_75", &error);
  if (load == nullptr) {
    std::printf("%s\n", error.message);
    return 1;
  }
  constexpr int thread_words = 8;
  std::array<std::uint32_t, 32 * thread_words> registers{};  // of a thread side by side: 0 to 3 the result, 7 the address
  std::array<std::uint8_t, 512> bytes{};
  for (std::size_t i = 0; i < bytes.size(); i += 4) bytes[i] = static_cast<std::uint8_t>(i / 4);
  for (std::size_t lane = 0; lane < 32; ++lane) registers[lane * thread_words + 7] = static_cast<std::uint32_t>(16 * lane);
  const std::uint16_t address = 7;
  const warpmat_registers operands[] = {WARPMAT_THREAD_MAJOR(registers.data(), thread_words, nullptr, 0),
                                        WARPMAT_THREAD_MAJOR(registers.data(), thread_words, &address, 1)};
  warpmat_memory memory{};
  memory.size = sizeof memory;
  memory.bytes = bytes.data();
  memory.byte_count = bytes.size();
  warpmat_call call{};
  call.size = sizeof call;
  call.operands = operands;
  call.operand_count = 2;
  call.memory = &memory;
  if (warpmat_execute(load, &call, 1, &error) != WARPMAT_OK) {
    std::printf("%s\n", error.message);
    return 1;
  }
  for (std::size_t lane = 0; lane < 32; ++lane)
    for (std::size_t matrix = 0; matrix < 4; ++matrix)
      if (registers[lane * thread_words + matrix] != 32 * matrix + lane) return 1;
  return 0;
}
