#include <warpmat/execute/operand_chunks.h>

#include <cstring>

namespace warpmat {

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

constexpr std::size_t elements = OperandRegisters::elements;
using Halves = std::uint16_t __attribute__((vector_size(16)));
/// Eight chunks of an MN-major matrix, or the same bytes as registers hold them.
struct EightRows {
  Halves row[elements];  // not std::array: a template would ignore that these are vectors
};

/// Element i of row j becomes element j of row i. Each step moves the highest bit of the row's number to the lowest of the element's, and
/// the highest of that to the lowest of the row's.
EightRows transposed(EightRows rows) {
  for (int step = 0; step < 3; ++step) {
    EightRows next;
    for (std::size_t i = 0; i < elements / 2; ++i) {
      next.row[2 * i] = __builtin_shufflevector(rows.row[i], rows.row[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      next.row[2 * i + 1] = __builtin_shufflevector(rows.row[i], rows.row[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    rows = next;
  }
  return rows;
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

/// MN-major: calls visit(word, rows) with the number of the first of the 32 words to which eight chunks are read, for eight k.
template <typename Visit>
void OperandChunks::for_each_eight(const std::uint8_t* memory, std::uint32_t base, Visit visit) const {
  for (std::size_t k = 0; k < lines_; k += elements)
    for (std::size_t i = 0; i < in_line_; ++i) {
      EightRows rows;
      for (std::size_t j = 0; j < elements; ++j) std::memcpy(&rows.row[j], memory + (addresses_[(k + j) * in_line_ + i] - base), bytes);
      visit(registers_.half(k, i) / 2, transposed(rows));
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
  for_each_eight(memory, base, [&](std::size_t word, const EightRows& rows) { std::memcpy(words + word, rows.row, sizeof rows); });
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
  for_each_eight(memory, base, [&](std::size_t word, const EightRows& rows) {
    for (std::size_t i = 0; i < elements; ++i) differs |= difference(words + word + 4 * i, &rows.row[i]);
  });
  return is_zero(differs);
}

}  // namespace warpmat
