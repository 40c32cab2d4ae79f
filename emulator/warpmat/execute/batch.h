#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <warpmat/tables/form.h>
#include <warpmat/warp/warp.h>

namespace warpmat {

/// The 32-bit words of one operand for many warps. Word i, as Operand::words counts, of lane l of warp w is words[number(i) * word_stride +
/// l * lane_stride + w * stride], where number(i) is numbers[i], or i without `numbers`. Strides count 32-bit words. By default each
/// register is 32 consecutive lanes and a warp's registers are consecutive ("register-major"). A simulator with an array of registers for
/// each thread ("thread-major") sets word_stride to 1, lane_stride to the words of a thread, and `numbers` to the registers that its
/// instruction names. An immediate has lane_stride 0: all lanes read one word. Any alignment of a 32-bit word is allowed.
template <typename Word>
struct BatchRegisters {
  Word* words = nullptr;
  std::size_t stride = 0;  ///< from warp to warp; 0: all warps share the words. Modulo 2^64, so it may be negative
  std::ptrdiff_t word_stride = warp_size;
  std::ptrdiff_t lane_stride = 1;
  const std::uint16_t* numbers = nullptr;  ///< one for each word of the operand

  /// Whether the strides have their initial values.
  bool register_major() const { return word_stride == warp_size && lane_stride == 1 && numbers == nullptr; }
  /// Word `index` of lane 0 of warp 0.
  Word* word(int index) const { return words + (numbers == nullptr ? index : numbers[index]) * word_stride; }
};
using BatchOperand = BatchRegisters<const std::uint32_t>;
using BatchDestination = BatchRegisters<std::uint32_t>;

/// The caller's memory behind callbacks. An instruction checks every address, then passes each access to a callback, in the order of
/// accesses(): of ldmatrix and stmatrix a row, lane 0's first; of wmma.load and wmma.store a part of a row, register by register. A
/// callback that returns false causes a Trap. A load has then changed nothing; a store has written what came before.
struct RowMemory {
  /// `bytes` bytes that `lane` of warp `warp` addresses (ldmatrix, stmatrix) or has in its registers (wmma).
  using Read = bool (*)(void* user, std::size_t warp, int lane, std::uint64_t address, std::uint8_t* row, std::size_t bytes);
  using Write = bool (*)(void* user, std::size_t warp, int lane, std::uint64_t address, const std::uint8_t* row, std::size_t bytes);

  Read read = nullptr;               ///< for ldmatrix and wmma.load
  Write write = nullptr;             ///< for stmatrix and wmma.store
  void* user = nullptr;              ///< the first argument of the callbacks
  std::uint64_t base = 0;            ///< rows must be inside the `bytes` bytes from `base` on
  std::uint64_t bytes = UINT64_MAX;  ///< the default allows all addresses
};

/// The memories of many warps for instructions that address memory, and their addressing.
struct BatchMemory {
  std::uint8_t* shared = nullptr;  ///< warp w's memory: shared_bytes bytes from shared + w * shared_stride on, at address shared_base
  std::size_t shared_bytes = 0, shared_stride = 0;
  std::uint64_t shared_base = 0;
  const RowMemory* rows = nullptr;  ///< the memory of all warps, instead of `shared`
  std::int64_t offset = 0;          ///< see Arguments
  bool wide_addresses = false;      ///< p has two words: addresses of 64 bits, low half first
};

/// The registers and memories of many warps, which may overlap in any way: a batch gives the results of executing its warps in order. See
/// Arguments.
struct Batch : BatchMemory {
  std::array<BatchOperand, operand_name_count> sources;  ///< by OperandName
  BatchDestination destination;                          ///< d, or r of ldmatrix; written register by register, lane 0 first

  BatchOperand& source(OperandName name) { return sources[static_cast<std::size_t>(name)]; }
  const BatchOperand& source(OperandName name) const { return sources[static_cast<std::size_t>(name)]; }
};

}  // namespace warpmat
