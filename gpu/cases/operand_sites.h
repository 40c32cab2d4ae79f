#pragma once

#include <cstdint>
#include <optional>

#include <warpmat/tables/form.h>

#include "gpu/cases/operand_classes.h"

namespace warpmat {

// What the operand classes are told of an element: the product that it belongs to, its row and column, and where along K it lies.

/// The formats of the form's product; none where bits only move.
std::optional<ProductFormats> product_of(const Form& form);

/// Metadata that the ISA defines for `form`, of one lane of a warp: any of the valid codes in every place, drawn from the operand's key.
std::uint32_t random_metadata(const Form& form, std::uint64_t operand_key, int lane);

/// Sites of one operand's elements, one after the other. The caller sets the keys.
class OperandSites {
 public:
  /// `operand` is one of `form`'s; `product` is kept by address.
  OperandSites(const Form& form, const Operand& operand, const ProductFormats& product);

  /// The site, at the row and column that move_to named last.
  ElementSite& site() { return site_; }

  /// Goes to an element. Rows and columns of further matrices are counted on.
  void move_to(int row, int column);

  /// How far behind the first of its neighbours along K an element lies: 0 for the first.
  int behind_first(int row, int column) const { return along_k(row, column) % site_.neighbours; }
  /// Whether K runs along the rows of the operand's matrix, as in B.
  bool along_rows() const { return along_rows_; }

 private:
  int along_k(int row, int column) const { return (along_rows_ ? row : column) % depth_; }

  ElementSite site_{};
  bool along_rows_;
  int depth_;  ///< elements along K
};

}  // namespace warpmat
