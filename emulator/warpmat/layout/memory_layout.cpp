#include <warpmat/layout.h>

#include <climits>
#include <stdexcept>
#include <vector>

#include <warpmat/words/words.h>

namespace warpmat {

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
  WordReader words(text, "layout", "there are rows, padded<ROW_BYTES> and swizzle<BITS,BASE,SHIFT[,ROW_BYTES]>");
  const std::string_view name = words.before('<');
  std::vector<int> numbers;
  for (const std::string_view number : split(words.before('>'), ',')) numbers.push_back(words.number(number, 0, INT_MAX, "number"));
  if (const std::string_view left = words.rest(); !left.empty()) words.refuse(left, "it does not end with >");
  if (name == "padded" && numbers.size() == 1 && numbers[0] > 0) return padded(static_cast<std::size_t>(numbers[0]));
  if (name != "swizzle" || (numbers.size() != 3 && numbers.size() != 4)) words.refuse(name, "it is none of these");
  return swizzled(numbers[0], numbers[1], numbers[2], numbers.size() == 4 ? static_cast<std::size_t>(numbers[3]) : 0);
}

std::uint64_t MemoryLayout::bit(int row, int column, int columns, int element_bits) const {
  if (function_) return function_(row, column);
  const auto width = static_cast<std::uint64_t>(element_bits);
  const std::uint64_t row_bits = row_bytes_ != 0 ? 8 * row_bytes_ : static_cast<std::uint64_t>(columns) * width;
  const std::uint64_t offset = static_cast<std::uint64_t>(row) * row_bits + static_cast<std::uint64_t>(column) * width;
  return 8 * warpmat::swizzled(offset / 8, bits_, base_, shift_) + offset % 8;
}

}  // namespace warpmat
