#pragma once

#include <warpmat/numeric/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/report/npy.h"

namespace warpmat {

// Arrays of NumPy's types that hold the elements of a place: as numbers, or as bit patterns, which is how NumPy's users hold what NumPy has
// no type for (bf16, fp8, scale factors). Which of the two an array holds follows from its dtype by one table (element_array.cpp); what the
// table does not know is refused until somebody says it outright.

/// What the elements of a place are: numbers of a format, or plain bits.
struct ElementType {
  std::optional<Format> format;
  int bits = 32;  ///< of one element; of a format its own, 1 to 64

  static ElementType of(Format format) { return {format, row(format).bits}; }
  friend bool operator==(const ElementType&, const ElementType&) = default;
};

/// "f16", "b16".
std::string name(const ElementType& type);

/// The type that FORMAT spells: a format of PTX ("e4m3"), or plain bits as `list` writes them (b4, b16, also x16). Throws
/// std::runtime_error that names all of them.
ElementType find_element_type(std::string_view text);

/// How the elements of an array are taken.
enum class Reading : std::uint8_t { by_dtype, values, bits };

/// The reading that "values" or "bits" says outright.
std::optional<Reading> find_reading(std::string_view text);

/// The elements of an array of `dtype` as bit patterns of `type`.
class ElementReader {
 public:
  /// Throws std::runtime_error where `dtype` could be read in both ways or in none: one sentence that says what would be right. `place` is
  /// what ":values" or ":bits" can be written behind.
  ElementReader(DType dtype, const ElementType& type, Reading said, std::string_view place);

  /// The bits of element `index`. Throws std::runtime_error for a number that the element cannot hold. Numbers are rounded to a floating
  /// point format.
  std::uint64_t bits(std::span<const std::byte> elements, std::size_t index) const;

 private:
  std::uint64_t bits_of_number(double number) const;
  std::uint64_t bits_of_pattern(std::span<const std::byte> elements, std::size_t index) const;

  DType dtype_;
  ElementType type_;
  bool as_bits_;
};

/// The dtype of an array that is written: with Reading::bits the unsigned integers of the element's width, else the one that holds every
/// number of the format exactly; plain bits are always unsigned integers.
DType written_dtype(const ElementType& type, Reading reading);

/// Writes the element with the bits `bits` as number `index` of an array of written_dtype(type, reading).
void write_element(std::span<std::byte> elements, std::size_t index, std::uint64_t bits, const ElementType& type, Reading reading);

/// The table of dtypes for --help: which of them hold bit patterns and which numbers, for every format.
std::string dtype_help();

}  // namespace warpmat
