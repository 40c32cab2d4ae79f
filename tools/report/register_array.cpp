#include "tools/report/register_array.h"

#include <array>
#include <cstring>

namespace warpmat {
namespace {

/// 32 numbers in the space of two Registers.
using Numbers = std::array<std::uint64_t, warp_size>;
static_assert(sizeof(Numbers) == 2 * sizeof(Register) && sizeof(Register) == warp_size * sizeof(std::uint32_t));

}  // namespace

DType register_dtype(int register_bits) {
  return register_bits == 64 ? DType::uint64 : DType::uint32;
}

void split_registers(std::span<Register> registers) {
  Numbers numbers;
  for (std::size_t i = 0; i + 1 < registers.size(); i += 2) {
    std::memcpy(&numbers, &registers[i], sizeof numbers);
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      registers[i][lane] = static_cast<std::uint32_t>(numbers[lane]);
      registers[i + 1][lane] = static_cast<std::uint32_t>(numbers[lane] >> 32);
    }
  }
}

void join_registers(std::span<Register> registers) {
  Numbers numbers;
  for (std::size_t i = 0; i + 1 < registers.size(); i += 2) {
    for (std::size_t lane = 0; lane < warp_size; ++lane) numbers[lane] = registers[i][lane] | std::uint64_t{registers[i + 1][lane]} << 32;
    std::memcpy(&registers[i], &numbers, sizeof numbers);
  }
}

}  // namespace warpmat
