#include <warpmat/execute/reference/execute.h>

#include <algorithm>
#include <array>

#include <warpmat/execute/operands/row_addresses.h>
#include <warpmat/instruction.h>
#include <warpmat/tables/capacity.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

std::span<std::uint8_t> accessed(SharedMemory& memory, int lane, std::uint64_t address, std::size_t size, const char* what) {
  try {
    return memory.at(lane, address, size, what);
  } catch (const Trap& trap) {
    throw trap.of(OperandName::p);
  }
}

/// Calls `visit(word, bits of the word's first, bytes of an element, count of bits)` for the elements of each register in each lane.
template <typename Visit>
void for_each_element(const Form& form, const Batch& batch, const char* what, Visit visit) {
  const MatrixStorage storage = storage_of(form, batch);
  SharedMemory memory = memory_of(batch);
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  const auto size = static_cast<std::size_t>(std::max(fragment.element_bits() / 8, 1));
  for (int reg = 0; reg < fragment.registers(); ++reg)
    for (int lane = 0; lane < warp_size; ++lane)
      for (int bit = 0; bit < fragment.register_bits(); bit += fragment.element_bits()) {
        const std::uint64_t first_bit =
            form.number_in_memory(fragment.element({lane, reg, bit}), storage.stride) * static_cast<std::uint64_t>(fragment.element_bits());
        const auto bytes = accessed(memory, lane, storage.address + first_bit / 8, size, what);
        visit(Place{lane, reg, bit}, bytes, static_cast<int>(first_bit % 8));
      }
}

/// Word `place.reg` of 32 bits, or its low or high half of 64 bits, that holds bit `bit` of the register.
std::size_t word_of(const Fragment& fragment, const Place& place, int bit) {
  return static_cast<std::size_t>(place.reg * (fragment.register_bits() / 32) + (place.bit + bit) / 32);
}

}  // namespace

void execute_wmma_load(const Form& form, const Batch& batch) {
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  std::array<Register, capacity::move_words> loaded{};  // the source may overlap the registers
  for_each_element(form, batch, "load", [&](const Place& place, std::span<const std::uint8_t> bytes, int shift) {
    for (int bit = 0; bit < fragment.element_bits(); bit += 8) {
      const int count = std::min(fragment.element_bits(), 8);
      const std::uint32_t bits = static_cast<std::uint32_t>(bytes[static_cast<std::size_t>(bit) / 8]) >> shift & ((1u << count) - 1);
      loaded[word_of(fragment, place, bit)][static_cast<std::size_t>(place.lane)] |= bits << (place.bit + bit) % 32;
    }
  });
  for (int i = 0; i < form.operand(OperandName::r).words(); ++i)
    for (int lane = 0; lane < warp_size; ++lane)
      batch.destination.at(i, lane) = loaded[static_cast<std::size_t>(i)][static_cast<std::size_t>(lane)];
}

void execute_wmma_store(const Form& form, const Batch& batch) {
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  std::array<Register, capacity::move_words> stored{};
  for (int i = 0; i < form.operand(OperandName::r).words(); ++i)
    for (int lane = 0; lane < warp_size; ++lane)
      stored[static_cast<std::size_t>(i)][static_cast<std::size_t>(lane)] = batch.source(OperandName::r).at(i, lane);
  for_each_element(form, batch, "store", [](const Place&, std::span<const std::uint8_t>, int) {});  // checks every address first
  for_each_element(form, batch, "store", [&](const Place& place, std::span<std::uint8_t> bytes, int) {
    for (int bit = 0; bit < fragment.element_bits(); bit += 8) {
      const std::uint32_t word = stored[word_of(fragment, place, bit)][static_cast<std::size_t>(place.lane)];
      bytes[static_cast<std::size_t>(bit) / 8] = static_cast<std::uint8_t>(word >> (place.bit + bit) % 32);
    }
  });
}

}  // namespace warpmat
