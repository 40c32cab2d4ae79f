#include "gpu/compare/compare.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace warpmat {
namespace {

/// Words of shared memory that one execution can write: the rows of a stmatrix, or the words of the lanes' st.shared.
std::size_t stored_words(const Statement& statement) {
  if (const Instruction* instruction = statement.matrix()) {
    const Form& form = instruction->form();
    if (form.mnemonic == Mnemonic::wmma_store) return static_cast<std::size_t>(form.shape.m * form.shape.n * form.memory_bits / 32);
    return form.mnemonic == Mnemonic::stmatrix ? static_cast<std::size_t>(form.rows_in_memory()) * Form::row_bytes / 4 : 0;
  }
  const Instruction& scalar = statement.instruction();
  if (scalar.kind() != InstructionKind::store) return 0;
  return warp_size * static_cast<std::size_t>((scalar.access_bytes() + 3) / 4);
}

/// Up to four bytes of shared memory as one word.
std::uint32_t shared_word(std::span<const std::uint8_t> memory, std::size_t word) {
  std::uint32_t value = 0;
  std::memcpy(&value, memory.data() + 4 * word, std::min<std::size_t>(4, memory.size() - 4 * word));
  return value;
}

std::size_t shared_words(std::size_t bytes) {
  return (bytes + 3) / 4;
}

void add(Comparison& comparison, const Difference& difference, std::size_t most) {
  ++comparison.mismatches;
  if (comparison.differences.size() < most) comparison.differences.push_back(difference);
}

void compare_warp(const WarpStates& expected, const WarpStates& found, std::size_t warp, std::size_t most, Comparison& comparison) {
  for (std::size_t word = 0; word < expected.words; ++word) {
    const Register& a = expected.registers_of(warp)[word];
    const Register& b = found.registers_of(warp)[word];
    for (std::size_t lane = 0; lane < warp_size; ++lane)
      if (a[lane] != b[lane]) add(comparison, {warp, Difference::Place::register_word, word, lane, a[lane], b[lane]}, most);
  }
  for (std::size_t word = 0; word < shared_words(expected.shared_bytes); ++word) {
    const std::uint32_t a = shared_word(expected.shared_of(warp), word);
    const std::uint32_t b = shared_word(found.shared_of(warp), word);
    if (a != b) add(comparison, {warp, Difference::Place::shared_word, word, 0, a, b}, most);
  }
}

}  // namespace

Outputs outputs_of(const Program& program, const Statement& statement) {
  Outputs outputs{std::vector<bool>(static_cast<std::size_t>(program.named_words())), stored_words(statement)};
  for (std::size_t i = 0; i < statement.operands().size(); ++i) {
    if (!statement.described(i).is_written()) continue;
    for (const Item& item : statement.operands()[i].items)
      for (int word = 0; item.kind == Item::Kind::named && word < item.words; ++word)
        outputs.registers[static_cast<std::size_t>(item.slot + word)] = true;
  }
  return outputs;
}

Outputs outputs_of(const Program& program) {
  Outputs all{std::vector<bool>(static_cast<std::size_t>(program.named_words()))};
  for (const Statement& statement : program.statements()) {
    const Outputs outputs = outputs_of(program, statement);
    all.memory_words += outputs.memory_words;
    for (std::size_t word = 0; word < all.registers.size(); ++word) all.registers[word] = all.registers[word] || outputs.registers[word];
  }
  return all;
}

std::size_t Outputs::count(const WarpStates& states) const {
  return static_cast<std::size_t>(std::ranges::count(registers, true)) * warp_size +
         std::min(memory_words, shared_words(states.shared_bytes));
}

Comparison compare_states(const Program& program, const WarpStates& expected, const WarpStates& found, std::size_t most) {
  assert(expected.warps == found.warps && expected.words == found.words && expected.shared_bytes == found.shared_bytes);
  Comparison comparison;
  comparison.outputs = expected.warps * outputs_of(program).count(expected);
  if (expected == found) return comparison;
  for (std::size_t warp = 0; warp < expected.warps; ++warp) compare_warp(expected, found, warp, most, comparison);
  return comparison;
}

}  // namespace warpmat
