#include <warpmat/execute/operand_chunks.h>

#include <cstring>

namespace warpmat::inline v0_1 {

namespace {

/// The bytes of a chunk in one vector of the CPU.
using ChunkVector = std::uint64_t __attribute__((vector_size(16)));

/// Zeros if the bytes of two chunks are equal.
ChunkVector difference(const void* a, const void* b) {
  ChunkVector of_a, of_b;
  std::memcpy(&of_a, a, sizeof of_a);
  std::memcpy(&of_b, b, sizeof of_b);
  return of_a ^ of_b;
}

bool is_zero(ChunkVector bits) {
  return (bits[0] | bits[1]) == 0;
}

}  // namespace

OperandChunks::OperandChunks(const Wgmma& wgmma, OperandName operand, std::span<const std::uint32_t> addresses)
    : registers_(wgmma.form(), operand),
      major_(operand == OperandName::a ? wgmma.immediates().major_a : wgmma.immediates().major_b),
      addresses_(addresses) {
  const WgmmaForm& form = wgmma.form();
  const bool is_a = operand == OperandName::a;
  const int outer = is_a ? form.tile->shape.m : form.shape.n, depth = is_a ? form.tile->stored_k() : form.shape.k;
  lines_ = static_cast<std::size_t>(major_ == Major::k ? outer : depth);
  in_line_ = addresses.size() / lines_;
}

/// The common case, K-major lines of 32 bytes: calls visit(word, chunk) with the number of the word that each chunk is read to.
template <typename Visit>
void OperandChunks::for_each_of_two(const std::uint8_t* memory, std::uint32_t base, Visit visit) const {
  constexpr std::size_t group = 8;  // lines, whose words follow each other
  const std::uint32_t* next = addresses_.data();
  for (std::size_t line = 0; line < lines_; line += group) {
    const std::size_t first = registers_.word(line, 0), second = registers_.word(line, 1);
    for (std::size_t i = 0; i < group; ++i, next += 2) {
      visit(first + i * bytes / 4, memory + (next[0] - base));
      visit(second + i * bytes / 4, memory + (next[1] - base));
    }
  }
}

template <typename Visit>
void OperandChunks::for_each_chunk(const std::uint8_t* memory, std::uint32_t base, Visit visit) const {
  const std::uint32_t* next = addresses_.data();
  for (std::size_t line = 0; line < lines_; ++line)
    for (std::size_t i = 0; i < in_line_; ++i) visit(line, i, memory + (*next++ - base));
}

void OperandChunks::read(std::uint32_t* words, const std::uint8_t* memory, std::uint32_t base) const {
  if (major_ == Major::k && in_line_ == 2)
    return for_each_of_two(memory, base, [&](std::size_t word, const std::uint8_t* chunk) { std::memcpy(words + word, chunk, bytes); });
  if (major_ == Major::k)
    return for_each_chunk(memory, base, [&](std::size_t line, std::size_t i, const std::uint8_t* chunk) {
      std::memcpy(words + registers_.word(line, i), chunk, bytes);
    });
  for_each_chunk(memory, base, [&](std::size_t k, std::size_t eight_lines, const std::uint8_t* chunk) {
    auto* const to = reinterpret_cast<std::uint8_t*>(words) + 2 * registers_.half(k, eight_lines);
    for (std::size_t i = 0; i < OperandRegisters::elements; ++i) std::memcpy(to + 2 * OperandRegisters::next_element * i, chunk + 2 * i, 2);
  });
}

bool OperandChunks::equal(const std::uint32_t* words, const std::uint8_t* memory, std::uint32_t base) const {
  static_assert(sizeof(ChunkVector) == bytes);
  ChunkVector differs{};
  if (major_ == Major::k && in_line_ == 2) {
    for_each_of_two(memory, base, [&](std::size_t word, const std::uint8_t* chunk) { differs |= difference(words + word, chunk); });
    return is_zero(differs);
  }
  if (major_ == Major::k) {
    for_each_chunk(memory, base, [&](std::size_t line, std::size_t i, const std::uint8_t* chunk) {
      differs |= difference(words + registers_.word(line, i), chunk);
    });
    return is_zero(differs);
  }
  for_each_chunk(memory, base, [&](std::size_t k, std::size_t eight_lines, const std::uint8_t* chunk) {
    const auto* const held = reinterpret_cast<const std::uint8_t*>(words) + 2 * registers_.half(k, eight_lines);
    std::uint8_t gathered[bytes];
    for (std::size_t i = 0; i < OperandRegisters::elements; ++i)
      std::memcpy(gathered + 2 * i, held + 2 * OperandRegisters::next_element * i, 2);
    differs |= difference(gathered, chunk);
  });
  return is_zero(differs);
}

}  // namespace warpmat::inline v0_1
