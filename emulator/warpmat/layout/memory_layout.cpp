#include <warpmat/layout.h>

#include <charconv>
#include <stdexcept>
#include <vector>

#include <warpmat/text.h>

namespace warpmat {
namespace {

/// The numbers of "padded<80>" after `word`; empty if `text` has another form.
std::vector<int> numbers_of(std::string_view text, std::string_view word) {
  std::vector<int> numbers;
  if (!text.starts_with(word) || text.size() < word.size() + 3 || text[word.size()] != '<' || text.back() != '>') return {};
  const char* at = text.data() + word.size() + 1;
  const char* const end = text.data() + text.size() - 1;
  while (at < end) {
    int number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || number < 0 || (next != end && *next != ',')) return {};
    numbers.push_back(number);
    at = next == end ? end : next + 1;
  }
  return numbers;
}

}  // namespace

MemoryLayout MemoryLayout::padded(std::size_t row_bytes) {
  MemoryLayout layout;
  layout.row_bytes_ = row_bytes;
  return layout;
}

MemoryLayout MemoryLayout::swizzled(int bits, int base, int shift, std::size_t row_bytes) {
  constexpr int address_bits = 32;
  const bool each_fits = bits <= address_bits && base <= address_bits && shift <= address_bits;  // so that their sum does not overflow
  if (bits < 0 || base < 0 || shift < bits || !each_fits || bits + base + shift > address_bits)
    throw std::invalid_argument(
        format_text("swizzle<{},{},{}>: bits, base and shift are not negative, bits no more than shift, and their sum at most {}", bits,
                    base, shift, address_bits));
  MemoryLayout layout = padded(row_bytes);
  layout.bits_ = bits;
  layout.base_ = base;
  layout.shift_ = shift;
  return layout;
}

MemoryLayout MemoryLayout::function(BitOf bit_of) {
  MemoryLayout layout;
  layout.function_ = std::move(bit_of);
  return layout;
}

MemoryLayout MemoryLayout::parse(std::string_view text) {
  if (text == "rows") return {};
  if (const auto n = numbers_of(text, "padded"); n.size() == 1 && n[0] > 0) return padded(static_cast<std::size_t>(n[0]));
  if (const auto n = numbers_of(text, "swizzle"); n.size() == 3 || n.size() == 4)
    return swizzled(n[0], n[1], n[2], n.size() == 4 ? static_cast<std::size_t>(n[3]) : 0);
  throw std::invalid_argument(
      format_text("'{}' is no layout: there are rows, padded<ROW_BYTES> and swizzle<BITS,BASE,SHIFT[,ROW_BYTES]>", text));
}

std::uint64_t MemoryLayout::bit(int row, int column, int columns, int element_bits) const {
  if (function_) return function_(row, column);
  const auto width = static_cast<std::uint64_t>(element_bits);
  const std::uint64_t row_bits = row_bytes_ != 0 ? 8 * row_bytes_ : static_cast<std::uint64_t>(columns) * width;
  const std::uint64_t offset = static_cast<std::uint64_t>(row) * row_bits + static_cast<std::uint64_t>(column) * width;
  return 8 * warpmat::swizzled(offset / 8, bits_, base_, shift_) + offset % 8;
}

}  // namespace warpmat
