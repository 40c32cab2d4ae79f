#include <warpmat/products/element_table.h>

#include <warpmat/warp.h>

#include <algorithm>
#include <cstring>

namespace warpmat {

ElementTable::ElementTable(const Fragment& fragment, int only_matrix)
    : matrices_(only_matrix < 0 ? fragment.matrices() : 1),
      rows_(fragment.rows()),
      columns_(fragment.columns()),
      words_(static_cast<std::size_t>(fragment.registers() * fragment.register_bits() / 32 * warp_size)),
      wide_(fragment.element_bits() == 64),
      mask_(fragment.payload_bits() >= 32 ? ~0u : (1u << fragment.payload_bits()) - 1) {
  for (int copy = 0; copy < fragment.copies(); ++copy) {
    add_copy(fragment, only_matrix, copy);
    if (copy == 0) first_copy_ = slots_.size();
  }
}

void ElementTable::add_copy(const Fragment& fragment, int only_matrix, int copy) {
  for (int matrix = 0; matrix < matrices_; ++matrix)
    for (int row = 0; row < rows_; ++row)
      for (int column = 0; column < columns_; ++column) {
        const Place place = fragment.place({row, column, only_matrix < 0 ? matrix : only_matrix}, copy);
        const int word = place.reg * fragment.register_bits() / 32 * warp_size + place.lane;
        slots_.push_back({static_cast<std::uint16_t>(matrix), static_cast<std::uint16_t>(row), static_cast<std::uint16_t>(column),
                          static_cast<std::uint16_t>(word), static_cast<std::uint8_t>(place.bit + fragment.payload_shift())});
      }
}

template <typename Code>
void ElementTable::scatter_codes(const ConstMatrices& from, std::uint32_t* words) const {
  for (const Slot& slot : slots_) {
    if (slot.row >= from.rows || slot.column >= from.columns) continue;
    Code code;
    std::memcpy(&code, from.data + slot.matrix * from.matrix_stride + slot.row * from.row_stride + slot.column * from.column_stride,
                sizeof(Code));
    words[slot.word] |= (static_cast<std::uint32_t>(code) & mask_) << slot.shift;
    if constexpr (sizeof(Code) == 8)
      if (wide_) words[slot.word + warp_size] = static_cast<std::uint32_t>(code >> 32);
  }
}

template <typename Code>
void ElementTable::gather_codes(const std::uint32_t* words, const Matrices& to) const {
  for (std::size_t i = 0; i < first_copy_; ++i) {
    const Slot& slot = slots_[i];
    if (slot.row >= to.rows || slot.column >= to.columns) continue;
    auto code = static_cast<Code>(words[slot.word] >> slot.shift & mask_);
    if constexpr (sizeof(Code) == 8)
      if (wide_) code |= Code{words[slot.word + warp_size]} << 32;
    std::memcpy(to.data + slot.matrix * to.matrix_stride + slot.row * to.row_stride + slot.column * to.column_stride, &code, sizeof(Code));
  }
}

void ElementTable::scatter(const ConstMatrices& from, std::uint32_t* words) const {
  std::fill_n(words, words_, 0u);
  switch (from.bytes) {
    case 1: return scatter_codes<std::uint8_t>(from, words);
    case 2: return scatter_codes<std::uint16_t>(from, words);
    case 4: return scatter_codes<std::uint32_t>(from, words);
    default: return scatter_codes<std::uint64_t>(from, words);
  }
}

void ElementTable::gather(const std::uint32_t* words, const Matrices& to) const {
  switch (to.bytes) {
    case 1: return gather_codes<std::uint8_t>(words, to);
    case 2: return gather_codes<std::uint16_t>(words, to);
    case 4: return gather_codes<std::uint32_t>(words, to);
    default: return gather_codes<std::uint64_t>(words, to);
  }
}

}  // namespace warpmat
