#pragma once

#include <warpmat/execute/operands/batch.h>
#include <warpmat/instruction.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "execute/registers.h"

inline bool addresses_memory(const warpmat::Form& form) {
  return form.find_operand(warpmat::OperandName::p) != nullptr;
}

/// Many warps' registers and memories with gaps between them, which nothing may change.
class WarpArrays {
 public:
  static constexpr std::size_t memory_bytes = 1024;
  static constexpr std::uint32_t memory_base = 256;

  /// Random sources; all warps share the source `shared`. Each operand's words begin `offset` words behind what an allocation gives.
  WarpArrays(const warpmat::Form& form, std::size_t count, std::optional<warpmat::OperandName> shared, unsigned seed,
             std::size_t offset = 0)
      : form_(form), count_(count), offset_(offset) {
    std::mt19937_64 random(seed);
    for (const warpmat::Operand& operand : form.operands) {
      const auto words = static_cast<std::size_t>(operand.words()) * warp_size;
      const std::size_t gap = warp_size * (1 + static_cast<std::size_t>(operand.name) % 3);
      strides_[static_cast<std::size_t>(operand.name)] = operand.name == shared ? 0 : words + gap;
      all_words(operand.name).resize(offset + words + stride(operand.name) * (count - 1), filler);
      for (std::size_t warp = 0; warp < (operand.name == shared ? 1 : count); ++warp) fill(operand, warp, random);
    }
    if (!addresses_memory(form)) return;
    memory.resize(memory_stride * count);
    for (std::uint8_t& byte : memory) byte = static_cast<std::uint8_t>(random());
  }

  warpmat::Batch batch() {
    warpmat::Batch out;
    for (const warpmat::Operand& operand : form_.operands) {
      if (operand.written) {
        out.destination = {word(operand.name, 0, 0), stride(operand.name)};
      } else {
        out.source(operand.name) = {word(operand.name, 0, 0), stride(operand.name)};
      }
    }
    out.shared = memory.data();
    out.shared_bytes = memory_of(0).size();
    out.shared_stride = memory.empty() ? 0 : memory_stride;
    out.shared_base = memory_base;
    return out;
  }

  /// What the batch must do, by the reference a warp at a time.
  void execute_each(const warpmat::Instruction& instruction, std::size_t first, std::size_t last) {
    for (std::size_t warp = first; warp < last; ++warp) {
      FormRegisters registers(form_);
      for (const warpmat::Operand& operand : form_.operands)
        for (std::size_t i = 0; i < registers[operand.name].size(); ++i)
          std::copy_n(word(operand.name, warp, i), warp_size, registers[operand.name][i].begin());
      warpmat::Batch batch = registers.batch();
      warpmat::SharedMemory shared = shared_memory(warp);
      batch.use(shared);
      execute(instruction, batch, 1, {.path = warpmat::Path::reference});
      for (const warpmat::Operand& operand : form_.operands)
        for (std::size_t i = 0; operand.written && i < registers[operand.name].size(); ++i)
          std::ranges::copy(registers[operand.name][i], word(operand.name, warp, i));
    }
  }

  /// Word `index` of a warp's operand: 32 lanes.
  std::uint32_t* word(warpmat::OperandName name, std::size_t warp, std::size_t index) {
    return all_words(name).data() + offset_ + warp * stride(name) + index * warp_size;
  }

  /// A warp's memory.
  std::span<std::uint8_t> memory_of(std::size_t warp) {
    return memory.empty() ? std::span<std::uint8_t>() : std::span(memory).subspan(warp * memory_stride, memory_bytes);
  }
  warpmat::SharedMemory shared_memory(std::size_t warp) { return warpmat::SharedMemory::borrowing(memory_of(warp), memory_base); }

  std::size_t count() const { return count_; }
  friend bool operator==(const WarpArrays& a, const WarpArrays& b) { return a.words_ == b.words_ && a.memory == b.memory; }

  std::vector<std::uint8_t> memory;  ///< empty where the form addresses none

 private:
  static constexpr std::size_t warp_size = warpmat::warp_size;
  static constexpr std::size_t memory_stride = memory_bytes + 48;
  static constexpr std::uint32_t filler = 0xdeadbeef;

  void fill(const warpmat::Operand& operand, std::size_t warp, std::mt19937_64& random) {
    Registers registers(operand.words());
    fill_operand(form_, operand, registers, random);
    if (operand.kind == warpmat::OperandKind::address) fill_addresses(registers[0], random);
    if (operand.kind == warpmat::OperandKind::address && moves_matrix(form_)) registers[0].fill(memory_base);
    for (std::size_t i = 0; i < registers.size(); ++i) std::ranges::copy(registers[i], word(operand.name, warp, i));
  }

  static void fill_addresses(warpmat::Register& addresses, std::mt19937_64& random) {
    constexpr std::size_t row_bytes = warpmat::Form::row_bytes;
    for (std::uint32_t& address : addresses)
      address = memory_base + static_cast<std::uint32_t>(random() % (memory_bytes / row_bytes) * row_bytes);
  }

  std::vector<std::uint32_t>& all_words(warpmat::OperandName name) { return words_[static_cast<std::size_t>(name)]; }
  std::size_t stride(warpmat::OperandName name) const { return strides_[static_cast<std::size_t>(name)]; }

  const warpmat::Form& form_;
  std::size_t count_, offset_;
  std::array<std::vector<std::uint32_t>, warpmat::operand_name_count> words_;
  std::array<std::size_t, warpmat::operand_name_count> strides_{};
};
