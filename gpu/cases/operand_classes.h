#pragma once

#include <warpmat/formats.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "gpu/cases/random.h"

namespace warpmat {

// The random operands of a product. A class draws the bits of one element at a time, from the element's key and its warp's key. Some
// decisions (the spread of exponents, whether NaNs occur) hold for a whole warp, so that many results stay finite.
//
// Only the widths of a format's fields are used, never the arithmetic under test (formats.h, dot.h).

/// The role of an element in a product.
enum class Role : std::uint8_t { multiplicand_a, multiplicand_b, accumulator, other };

/// The formats of a product, all of them floating-point or all integers.
struct ProductFormats {
  const FormatRow* a;
  const FormatRow* b;
  const FormatRow* accumulator;
};

/// An element to draw.
struct ElementSite {
  const ProductFormats* product;
  const FormatRow* format;  ///< of the element itself
  Role role;
  std::uint64_t warp_key;        ///< the same for all elements of a warp
  std::uint64_t key;             ///< of this element alone
  std::uint64_t neighbours_key;  ///< multiplicands: the key of the first element of this element's group of neighbours along K
  int neighbour;                 ///< multiplicands: the index in the group
  int neighbours;                ///< multiplicands: the group's size: 2, or more in B if A is sparse
  int row = 0, column = 0;       ///< of the element in its matrix; further matrices continue the count
  /// multiplicands: the part of K of this element. Elements of A are multiplied by those of B in the same part
  int part = 0;
  int parts = 4;                   ///< multiplicands: the number of parts: K, a half or a quarter of it; at least 4
  int in_part = 0, part_size = 1;  ///< multiplicands: the index in the part, and the number of this operand's elements in the part
};

/// A named generator of elements.
struct OperandClass {
  std::string_view name;                              ///< "close"
  std::string_view summary;                           ///< its values: "exponents within a few binades of each other"
  bool (*applies)(const ProductFormats& product);     ///< whether it differs from another class for such a product
  std::uint64_t (*element)(const ElementSite& site);  ///< the low format->bits bits
  bool directed = false;                              ///< aims at regions of the arithmetic (gpu/cases/directed_classes.h)
};

/// All classes. The first, "random", is for instructions that only move bits.
std::span<const OperandClass> operand_classes();

/// The class of that name, or nullptr.
const OperandClass* find_operand_class(std::string_view name);

}  // namespace warpmat
