#include "register_array.h"

#include <cassert>
#include <cstring>

namespace warpmat {
namespace {

static_assert(sizeof(Register) == lanes * sizeof(std::uint32_t), "registers side by side are an array of [registers][32]");

std::vector<Register> halves(std::span<const std::uint64_t> words) {
  std::vector<Register> registers(2 * (words.size() / lanes));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t low = 2 * (i / lanes), lane = i % lanes;
    registers[low][lane] = static_cast<std::uint32_t>(words[i]);
    registers[low + 1][lane] = static_cast<std::uint32_t>(words[i] >> 32);
  }
  return registers;
}

}  // namespace

DType register_dtype(int register_bits) {
  return register_bits == 64 ? DType::uint64 : DType::uint32;
}

std::vector<Register> to_registers(const NpyArray& array) {
  assert(!array.shape.empty() && array.shape.back() == lanes);
  if (array.dtype == DType::uint64) return halves(array.as<std::uint64_t>());
  assert(array.dtype == DType::uint32);
  std::vector<Register> registers(array.bytes.size() / sizeof(Register));
  if (!registers.empty()) std::memcpy(registers.data(), array.bytes.data(), array.bytes.size());
  return registers;
}

NpyArray from_registers(std::span<const Register> registers, int register_bits, std::vector<std::size_t> shape) {
  NpyArray array = NpyArray::zeros(register_dtype(register_bits), std::move(shape));
  assert(array.bytes.size() == registers.size_bytes());
  if (register_bits == 32) {
    if (!registers.empty()) std::memcpy(array.bytes.data(), registers.data(), registers.size_bytes());
    return array;
  }
  const std::span<std::uint64_t> words = array.as<std::uint64_t>();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t low = 2 * (i / lanes), lane = i % lanes;
    words[i] = registers[low][lane] | std::uint64_t{registers[low + 1][lane]} << 32;
  }
  return array;
}

}  // namespace warpmat
