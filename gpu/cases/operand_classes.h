#pragma once

#include <warpmat/numeric/format.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "gpu/cases/random.h"

namespace warpmat {

// What the random operands of a product look like. A class draws the bits of one element at a time, from the element's key and from that of
// its warp: some decisions (how wide the exponents spread, whether NaNs occur) hold for a whole warp, so that many results stay finite.
//
// Only the widths of a format's fields are used. The arithmetic under test (numeric/value.h, numeric/dot.h) has no part in this.

/// What an element is to a product.
enum class Role : std::uint8_t { multiplicand_a, multiplicand_b, accumulator, other };

/// The formats of a product, all of them floating-point or all integers.
struct ProductFormats {
  const FormatRow* a;
  const FormatRow* b;
  const FormatRow* accumulator;
};

/// One element that is to be drawn.
struct ElementSite {
  const ProductFormats* product;
  const FormatRow* format;  ///< of the element itself
  Role role;
  std::uint64_t warp_key;          ///< the same for all elements of a warp
  std::uint64_t key;               ///< of this element alone
  std::uint64_t neighbours_key;    ///< multiplicands: of the first element of the group of neighbours along K that this one belongs to
  int neighbour;                   ///< multiplicands: which of its group this is
  int neighbours;                  ///< multiplicands: the group's size: 2; more in B where A is sparse
  int row = 0, column = 0;         ///< of the element in its matrix; of several matrices, counted on
  int part = 0;                    ///< multiplicands: the part of K that this belongs to. Elements of A meet those of B of the same part
  int parts = 4;                   ///< multiplicands: as many as there are: K, a half or a quarter of it; at least 4
  int in_part = 0, part_size = 1;  ///< multiplicands: which of its part this is, and how many elements of this operand the part has
};

/// A named generator of elements.
struct OperandClass {
  std::string_view name;                              ///< "close"
  std::string_view summary;                           ///< what it draws: "exponents within a few binades of each other"
  bool (*applies)(const ProductFormats& product);     ///< whether it differs from another class for such a product
  std::uint64_t (*element)(const ElementSite& site);  ///< the low format->bits bits
  bool directed = false;                              ///< at regions of the arithmetic (gpu/cases/directed_classes.h)
};

/// All classes. The first, "random", is the one for instructions that only move bits.
std::span<const OperandClass> operand_classes();

/// The class of that name, or nullptr.
const OperandClass* find_operand_class(std::string_view name);

}  // namespace warpmat
