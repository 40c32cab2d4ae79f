#include <warpmat/products/element_table.h>

#include <warpmat/warp.h>

#include <algorithm>
#include <cstring>
#include <tuple>

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
  if (!wide_) pack();
}

void ElementTable::add_copy(const Fragment& fragment, int only_matrix, int copy) {
  std::uint32_t index = 0;
  for (int matrix = 0; matrix < matrices_; ++matrix)
    for (int row = 0; row < rows_; ++row)
      for (int column = 0; column < columns_; ++column) {
        const Place place = fragment.place({row, column, only_matrix < 0 ? matrix : only_matrix}, copy);
        const int word = place.reg * fragment.register_bits() / 32 * warp_size + place.lane;
        slots_.push_back({static_cast<std::uint16_t>(matrix), static_cast<std::uint16_t>(row), static_cast<std::uint16_t>(column),
                          static_cast<std::uint16_t>(word), static_cast<std::uint8_t>(place.bit + fragment.payload_shift()), index++});
      }
}

/// Finds whether all words are filled alike: then a word is written at once, and none is cleared before.
void ElementTable::pack() {
  const std::size_t count = slots_.size() / words_;
  if (slots_.size() != count * words_ || (count != 1 && count != 2 && count != 4 && count != 8)) return;
  std::vector<Slot> sorted = slots_;
  std::ranges::sort(sorted, {}, [](const Slot& slot) { return std::tuple(slot.word, slot.shift); });
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i].word != i / count || sorted[i].shift != sorted[i % count].shift || sorted[i].index > UINT16_MAX) return;
  packed_ = count;
  for (std::size_t i = 0; i < count; ++i) packed_shifts_.push_back(sorted[i].shift);
  for (const Slot& slot : sorted) packed_indices_.push_back(static_cast<std::uint16_t>(slot.index));
}

template <typename Byte>
bool ElementTable::is_whole(const MatrixView<Byte>& view) const {
  const MatrixView<Byte> all = whole(view.data, view.bytes);
  return view.rows == rows_ && view.columns == columns_ && view.column_stride == all.column_stride && view.row_stride == all.row_stride &&
         (matrices_ == 1 || view.matrix_stride == all.matrix_stride);
}

template <typename Code, std::size_t count>
void ElementTable::scatter_packed(const Code* codes, std::uint32_t* words) const {
  std::uint8_t shifts[count];
  std::copy_n(packed_shifts_.begin(), count, shifts);
  const std::uint32_t mask = mask_;
  const std::uint16_t* index = packed_indices_.data();
  for (std::uint32_t* const end = words + words_; words != end; ++words) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Code code;
      std::memcpy(&code, codes + *index++, sizeof code);
      word |= (static_cast<std::uint32_t>(code) & mask) << shifts[i];
    }
    *words = word;
  }
}

template <typename Code>
void ElementTable::scatter_codes(const ConstMatrices& from, std::uint32_t* words) const {
  if (packed_ != 0 && is_whole(from)) {
    const auto* const codes = reinterpret_cast<const Code*>(from.data);  // read by memcpy
    switch (packed_) {
      case 1: return scatter_packed<Code, 1>(codes, words);
      case 2: return scatter_packed<Code, 2>(codes, words);
      case 4: return scatter_packed<Code, 4>(codes, words);
      default: return scatter_packed<Code, 8>(codes, words);
    }
  }
  std::fill_n(words, words_, 0u);
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
  const bool all = is_whole(to);
  const bool wide = wide_;
  const std::uint32_t mask = mask_;
  for (const Slot *slot = slots_.data(), *const end = slot + first_copy_; slot != end; ++slot) {
    if (!all && (slot->row >= to.rows || slot->column >= to.columns)) continue;
    auto code = static_cast<Code>(words[slot->word] >> slot->shift & mask);
    if constexpr (sizeof(Code) == 8)
      if (wide) code |= Code{words[slot->word + warp_size]} << 32;
    const std::ptrdiff_t place = all ? static_cast<std::ptrdiff_t>(slot->index * sizeof(Code))
                                     : slot->matrix * to.matrix_stride + slot->row * to.row_stride + slot->column * to.column_stride;
    std::memcpy(to.data + place, &code, sizeof(Code));
  }
}

void ElementTable::scatter(const ConstMatrices& from, std::uint32_t* words) const {
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
