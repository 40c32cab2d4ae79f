#include <warpmat/wgmma.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/operand_chunks.h>
#include <warpmat/execute/tile_products.h>
#include <warpmat/execute/wgmma_products.h>
#include <warpmat/instruction.h>
#include <warpmat/layout/fragments.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

constexpr std::uint32_t chunk_bytes = 16;             // always contiguous: four lanes' words of one register
constexpr std::size_t max_d_words = 128 * warp_size;  // m64n256 with 32-bit results

/// The first line of an operand and the number of lines: the 16 rows of one warp of A, or all k.
struct Extent {
  std::uint32_t first_line, lines, first_byte, bytes;
};

Extent extent(Major major, std::uint32_t first, std::uint32_t count, std::uint32_t depth, std::uint32_t element_bits) {
  if (major == Major::k) return {first, count, 0, depth * element_bits / 8};
  return {0, depth, first * element_bits / 8, count * element_bits / 8};
}

std::uint32_t unsigned_bits(const WgmmaForm& form) {
  return static_cast<std::uint32_t>(row(form.tile->format(OperandName::a)).bits);
}

Extent a_extent(const WgmmaForm& form, Major major, int warp) {
  const auto rows = static_cast<std::uint32_t>(form.tile->shape.m);
  return extent(major, static_cast<std::uint32_t>(warp) * rows, rows, static_cast<std::uint32_t>(form.tile->stored_k()),
                unsigned_bits(form));
}

Extent b_extent(const WgmmaForm& form, Major major) {
  return extent(major, 0, static_cast<std::uint32_t>(form.shape.n), static_cast<std::uint32_t>(form.shape.k), unsigned_bits(form));
}

/// Calls visit(line, byte, address) for each 16 bytes of an operand; both count from the extent's first.
template <typename Visit>
void for_each_chunk(const MatrixDescriptor& descriptor, Major major, const Extent& of, Visit visit) {
  const MatrixDescriptor matrix = descriptor;  // a copy that visit cannot change
  const Extent extent = of;
  if (const std::uint32_t span = std::bit_ceil(extent.bytes); major == Major::k && extent.first_byte == 0 && span <= matrix.line_bytes() &&
                                                              matrix.start() % span == 0 && matrix.stride() % span == 0) {
    // The common case: a line begins at a multiple of its bytes, so their addresses differ in these bits alone, which the swizzle may flip.
    for (std::uint32_t line = 0; line < extent.lines; ++line) {
      const std::uint32_t first = matrix.address(Major::k, extent.first_line + line, 0);
      for (std::uint32_t byte = 0; byte < extent.bytes; byte += chunk_bytes) visit(line, byte, first ^ byte);
    }
    return;
  }
  for (std::uint32_t line = 0; line < extent.lines; ++line)
    for (std::uint32_t byte = 0; byte < extent.bytes; byte += chunk_bytes)
      visit(line, byte, matrix.address(major, extent.first_line + line, extent.first_byte + byte));
}

std::vector<std::uint32_t> chunks(std::uint64_t descriptor, Major major, const Extent& of) {
  std::vector<std::uint32_t> all;
  all.reserve(std::size_t{of.lines} * of.bytes / chunk_bytes);
  for_each_chunk(MatrixDescriptor::decode(descriptor), major, of,
                 [&](std::uint32_t, std::uint32_t, std::uint32_t address) { all.push_back(address); });
  return all;
}

/// Accesses of 16 bytes to an operand whose lines are, if K-major, rows of A or columns of B.
std::vector<MemoryAccess> chunk_accesses(std::uint64_t descriptor, OperandName operand, Major major, const Extent& of,
                                         std::uint32_t element_bits) {
  std::vector<MemoryAccess> all;
  for_each_chunk(MatrixDescriptor::decode(descriptor), major, of, [&](std::uint32_t line, std::uint32_t byte, std::uint32_t address) {
    const auto along = static_cast<int>((of.first_byte + byte) * 8 / element_bits), across = static_cast<int>(of.first_line + line);
    const bool line_is_row = (operand == OperandName::a) == (major == Major::k);
    all.push_back({.bytes = chunk_bytes,
                   .address = address,
                   .lane = -1,
                   .operand = operand,
                   .element = {line_is_row ? across : along, line_is_row ? along : across, 0}});
  });
  return all;
}

/// Reads an operand into the registers of a tile.
class Reader {
 public:
  Reader(const SharedMemory& memory, const WgmmaForm& form, OperandName operand, std::uint64_t descriptor, std::uint32_t* words)
      : bytes_(memory.bytes().data()),
        base_(memory.base()),
        size_(memory.size()),
        operand_(operand),
        descriptor_(MatrixDescriptor::decode(descriptor)),
        registers_(form, operand),
        words_(words) {}

  void read(Major major, const Extent& of) const {
    if (major == Major::mn)
      return for_each_chunk(descriptor_, Major::mn, of, [this](std::uint32_t line, std::uint32_t byte, std::uint32_t address) {
        scatter(line, byte / chunk_bytes, at(address));
      });
    for_each_chunk(descriptor_, Major::k, of, [this](std::uint32_t line, std::uint32_t byte, std::uint32_t address) {
      std::memcpy(words_ + registers_.word(line, byte / chunk_bytes), at(address), chunk_bytes);
    });
  }

 private:
  /// Eight elements of 16 bits of one k: each is half a word of another lane.
  void scatter(std::uint32_t k, std::uint32_t eight_lines, const std::uint8_t* chunk) const {
    auto* const to = reinterpret_cast<std::uint8_t*>(words_) + 2 * registers_.half(k, eight_lines);
    for (std::size_t i = 0; i < OperandRegisters::elements; ++i) std::memcpy(to + 2 * OperandRegisters::next_element * i, chunk + 2 * i, 2);
  }

  const std::uint8_t* at(std::uint32_t address) const {
    const std::uint32_t offset = address - base_;
    if (address >= base_ && offset + chunk_bytes <= size_) return bytes_ + offset;
    leave(address);
  }

  [[noreturn]] void leave(std::uint32_t address) const {
    throw Trap(Trap::Kind::out_of_range, operand_, 0, address,
               format_text("the matrix that the descriptor of operand {} names leaves shared memory, which has {} bytes from {:#x} on "
                           "(start {:#x}, leading byte offset {}, stride byte offset {})",
                           name(operand_), size_, base_, descriptor_.start(), descriptor_.leading(), descriptor_.stride()));
  }

  const std::uint8_t* bytes_;
  std::uint32_t base_;
  std::size_t size_;
  OperandName operand_;
  MatrixDescriptor descriptor_;
  OperandRegisters registers_;
  std::uint32_t* words_;
};

/// The sign bits of a word's elements.
std::uint32_t sign_bits(int element_bits) {
  std::uint32_t bits = 0;
  for (int at = element_bits - 1; at < 32; at += element_bits) bits |= std::uint32_t{1} << at;
  return bits;
}

}  // namespace

std::optional<std::string> unavailable(const WgmmaForm& form, const WgmmaImmediates& immediates) {
  const auto lacks = [&](const char* what) { return format_text("{} {}", form.opcode, what); };
  if (!form.negates() && (immediates.negates_a || immediates.negates_b))
    return lacks("negates nothing: it has no imm-scale-a and imm-scale-b");
  if (!form.transposes() && (immediates.major_a != Major::k || immediates.major_b != Major::k))
    return lacks("has K-major operands alone: only 16-bit types may be transposed");
  if (immediates.selector < 0 || immediates.selector >= std::max(form.selectors(), 1)) return lacks("has no such selector");
  return std::nullopt;
}

Wgmma::Wgmma(const Instruction& instruction, const WgmmaImmediates& immediates)
    : form_(&instruction.wgmma()), immediates_(immediates), fast_(instruction.fast_) {
  if (const auto lacking = unavailable(*form_, immediates)) throw std::invalid_argument(*lacking);
}

Wgmma::Wgmma(const WgmmaForm& form, const Target& target, PtxVersion version, const WgmmaImmediates& immediates)
    : form_(find_wgmma(form.opcode)), immediates_(immediates), fast_(nullptr) {
  if (form_ == nullptr || *form_ != form) throw std::invalid_argument(format_text("{} is no form of the table", form.opcode));
  if (const auto reason = unavailable(*form_, target, version)) throw std::invalid_argument(*reason);
  if (const auto lacking = unavailable(*form_, immediates)) throw std::invalid_argument(*lacking);
  fast_ = find_fast_path(*form_->tile, lowering());
}

std::vector<std::uint32_t> Wgmma::a_chunks(std::uint64_t descriptor, int warp) const {
  return chunks(descriptor, immediates_.major_a, a_extent(*form_, immediates_.major_a, warp));
}

std::vector<std::uint32_t> Wgmma::b_chunks(std::uint64_t descriptor) const {
  return chunks(descriptor, immediates_.major_b, b_extent(*form_, immediates_.major_b));
}

std::vector<MemoryAccess> Wgmma::a_accesses(std::uint64_t descriptor, int warp) const {
  const Major major = immediates_.major_a;
  return chunk_accesses(descriptor, OperandName::a, major, a_extent(*form_, major, warp), unsigned_bits(*form_));
}

std::vector<MemoryAccess> Wgmma::b_accesses(std::uint64_t descriptor) const {
  const Major major = immediates_.major_b;
  return chunk_accesses(descriptor, OperandName::b, major, b_extent(*form_, major), unsigned_bits(*form_));
}

void read_a(const Wgmma& wgmma, const SharedMemory& memory, std::uint64_t descriptor, int warp, std::uint32_t* words) {
  const Major major = wgmma.immediates().major_a;
  Reader(memory, wgmma.form(), OperandName::a, descriptor, words).read(major, a_extent(wgmma.form(), major, warp));
}

void read_b(const Wgmma& wgmma, const SharedMemory& memory, std::uint64_t descriptor, std::uint32_t* words) {
  const Major major = wgmma.immediates().major_b;
  Reader(memory, wgmma.form(), OperandName::b, descriptor, words).read(major, b_extent(wgmma.form(), major));
}

namespace {

/// The number of words from each register to the next one, if it is the same of all: up or down.
std::optional<std::ptrdiff_t> spacing(RegisterList d) {
  const std::ptrdiff_t step = d[1] - d[0];
  for (std::size_t i = 2; i < d.size(); ++i)
    if (d[i] - d[i - 1] != step) return std::nullopt;
  return step;
}

/// Whether the addresses of the registers ascend or descend without an overlap.
bool in_order(RegisterList d) {
  const std::less_equal<const std::uint32_t*> before;
  const bool up = before(d.front(), d.back());
  for (std::size_t i = 1; i < d.size(); ++i)
    if (up ? !before(d[i - 1] + warp_size, d[i]) : !before(d[i] + warp_size, d[i - 1])) return false;
  return true;
}

/// The registers in the order of their addresses, in `sorted`.
RegisterList sort(RegisterList d, std::span<std::uint32_t*> sorted) {
  const auto end = std::ranges::copy(d, sorted.begin()).out;
  std::sort(sorted.begin(), end, std::less<const std::uint32_t*>());
  return {sorted.data(), d.size()};
}

/// Whether `count` words from `first` on are disjoint from `d`, registers in order.
bool apart(RegisterList d, const std::uint32_t* first, std::size_t count) {
  const std::less_equal<const std::uint32_t*> before;
  const auto [low, high] = std::minmax(d.front(), d.back(), std::less<const std::uint32_t*>());
  return before(first + count, low) || before(high + warp_size, first);
}

}  // namespace

void multiply(const Wgmma& wgmma, RegisterList d, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* metadata,
              bool accumulates, const ExecutionOptions& options) {
  const WgmmaForm& form = wgmma.form();
  const WgmmaImmediates& immediates = wgmma.immediates();
  const Form& tile = *form.tile;
  alignas(64) std::array<std::uint32_t, max_d_words> copy;
  alignas(64) std::array<std::uint32_t, 4 * warp_size> negated;
  // metadata may trap, which must change nothing
  const bool disjoint = !form.sparse() && in_order(d) && apart(d, a, a_words(form)) && apart(d, b, b_words(form));
  const std::optional<std::ptrdiff_t> next_d = disjoint ? spacing(d) : std::nullopt;
  const bool in_place = next_d.has_value();
  std::uint32_t* const results = in_place ? d[0] : copy.data();
  if (accumulates && !disjoint)
    for (std::size_t i = 0; i < d.size(); ++i) std::copy_n(d[i], warp_size, results + i * warp_size);
  if (immediates.negates_a != immediates.negates_b) {  // only products count, and their signs are exact
    const std::uint32_t signs = sign_bits(row(tile.format(OperandName::a)).bits);
    std::transform(a, a + a_words(form), negated.begin(), [&](std::uint32_t word) { return word ^ signs; });
    a = negated.data();
  }
  const TileProducts products{tile, wgmma.lowering(), wgmma.fast_, form.tiles()};
  if (disjoint && !in_place) return multiply_tiles(products, d, a, b, accumulates, options);
  Register selector;
  selector.fill(static_cast<std::uint32_t>(immediates.selector));
  const std::uint32_t* const selector_words = selector.data();
  Batch batch;
  if (form.sparse()) {
    batch.source(OperandName::e) = std::span(&metadata, 1);
    batch.source(OperandName::selector) = std::span(&selector_words, 1);
  }
  multiply_tiles(products, results, a, b, batch, accumulates, options, next_d.value_or(warp_size));
  if (!in_place)
    for (std::size_t i = 0; i < d.size(); ++i) std::copy_n(results + i * warp_size, warp_size, d[i]);
}

static_assert(most_in_chain <= max_chain);

bool multiply_chain(const Wgmma& wgmma, RegisterList d, std::span<const TileFactors> chain, bool accumulates,
                    const ExecutionOptions& options) {
  const WgmmaForm& form = wgmma.form();
  if (form.sparse() || wgmma.immediates().negates_a != wgmma.immediates().negates_b) return false;
  std::array<std::uint32_t*, max_d_words / warp_size> sorted;
  const bool ordered = in_order(d);
  const RegisterList ascending = ordered ? d : sort(d, sorted);
  const bool shared = std::ranges::any_of(chain, [&](const TileFactors& factors) {
    return !apart(ascending, factors.a, a_words(form)) || !apart(ascending, factors.b, b_words(form));
  });
  if (shared || (!ordered && !in_order(ascending))) return false;
  const std::optional<std::ptrdiff_t> next_d = ordered ? spacing(d) : std::nullopt;
  alignas(64) std::array<std::uint32_t, max_d_words> copy;
  std::uint32_t* const results = next_d ? d[0] : copy.data();
  if (!next_d && accumulates)
    for (std::size_t i = 0; i < d.size(); ++i) std::copy_n(d[i], warp_size, results + i * warp_size);
  const TileProducts products{*form.tile, wgmma.lowering(), wgmma.fast_, form.tiles()};
  if (!multiply_chain(products, results, next_d.value_or(warp_size), chain, accumulates, options)) return false;
  if (!next_d)
    for (std::size_t i = 0; i < d.size(); ++i) std::copy_n(results + i * warp_size, warp_size, d[i]);
  return true;
}

}  // namespace warpmat
