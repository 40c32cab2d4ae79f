#pragma once

#include <warpmat/formats.h>
#include <warpmat/numeric/low_mask.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report/npy.h"

namespace warpmat {

/// The low `bits` bits of a value, 1 to 64 of them.
inline std::uint64_t low_bits(std::uint64_t value, int bits) {
  return value & low_mask(bits);
}

// Arrays of NumPy's types that hold elements as numbers, or as bit patterns for formats without a NumPy type (bf16, fp8, scale factors).
// One table (element_array.cpp) derives from the dtype which of the two an array holds. Cases outside the table are refused unless the user
// chooses explicitly.

/// The type of elements: numbers of a format, or plain bits.
struct ElementType {
  std::optional<Format> format;
  int bits = 32;  ///< of one element; of a format its own, 1 to 64

  static ElementType of(Format format) { return {format, row(format).bits}; }
  friend bool operator==(const ElementType&, const ElementType&) = default;
};

/// "f16", "b16".
std::string name(const ElementType& type);

/// An element as people read it: the shortest decimal that is the number, or the bits of a type without numbers.
std::string element_text(const ElementType& type, std::uint64_t bits);

/// The type that FORMAT spells: a format of PTX ("e4m3"), or plain bits as in `list` (b4, b16, also x16). Throws std::runtime_error listing
/// all types.
ElementType find_element_type(std::string_view text);

/// The interpretation of an array's elements.
enum class Reading : std::uint8_t { by_dtype, values, bits };

/// The explicit reading "values" or "bits".
std::optional<Reading> find_reading(std::string_view text);

/// The elements of an array of `dtype` as bit patterns of `type`.
class ElementReader {
 public:
  /// Throws std::runtime_error if `dtype` could be read in both ways or in none: one sentence that says what would be right. `place` is the
  /// text to which ":values" or ":bits" can be appended.
  ElementReader(DType dtype, const ElementType& type, Reading said, std::string_view place);

  /// The bits of element `index`. Throws std::runtime_error for a number that the element cannot hold. Numbers are rounded to a
  /// floating-point format.
  std::uint64_t bits(std::span<const std::byte> elements, std::size_t index) const;

  /// The same of all elements: unsigned integers of written_dtype(type, Reading::bits). The result is `elements` itself where it holds
  /// those, as most files do; else it is in `scratch`.
  std::span<const std::byte> codes(std::span<const std::byte> elements, std::vector<std::byte>& scratch) const;

 private:
  bool are_codes(std::span<const std::byte> elements) const;
  std::uint64_t bits_of_number(double number) const;
  std::uint64_t bits_of_pattern(std::span<const std::byte> elements, std::size_t index) const;

  DType dtype_;
  ElementType type_;
  bool as_bits_;
  bool keeps_codes_ = false;  ///< an array of numbers holds their codes, but that all NaNs have one
};

/// The dtype of an output array. With Reading::bits: the unsigned integers of the element's width. Else the one that represents every
/// number of the format exactly. Plain bits are always unsigned integers.
DType written_dtype(const ElementType& type, Reading reading);

/// Whether such an array holds the bits of elements as they are.
bool holds_codes(const ElementType& type, Reading reading);

/// Writes the element with the bits `bits` as number `index` of an array of written_dtype(type, reading).
void write_element(std::span<std::byte> elements, std::size_t index, std::uint64_t bits, const ElementType& type, Reading reading);

/// The table of dtypes for --help: which of them hold bit patterns and which numbers, for every format.
std::string dtype_help();

}  // namespace warpmat
