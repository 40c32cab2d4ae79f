#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <warpmat/forms.h>

#include "gpu/cases/operand_classes.h"

namespace warpmat {

// The properties of an element that operand classes use: its product, its row and column, and its position along K.

/// The formats of the form's product; none if bits only move.
std::optional<ProductFormats> product_of(const Form& form);

/// Random metadata that the ISA defines for `form`, for one lane of a warp: any valid code in every place, drawn from the operand's key.
std::uint32_t random_metadata(const Form& form, std::uint64_t operand_key, int lane);

/// Sites of one operand's elements, visited in any order. The caller sets the keys.
class OperandSites {
 public:
  /// `operand` is one of `form`'s. Keeps a reference to `product`.
  OperandSites(const Form& form, const Operand& operand, const ProductFormats& product);

  /// The site of the row and column of the last move_to.
  ElementSite& site() { return site_; }

  /// Moves to an element. Rows and columns of further matrices continue the count.
  void move_to(int row, int column);

  /// The position of an element after the first of its neighbours along K: 0 for the first.
  int behind_first(int row, int column) const { return position_of(row, column).neighbour; }
  /// Whether K is the row index of the operand's matrix, as in B.
  bool along_rows() const { return along_rows_; }

 private:
  /// Of an element along K: members of ElementSite.
  struct Position {
    int neighbour, part, in_part;
  };

  const Position& position_of(int row, int column) const {
    return positions_[static_cast<std::size_t>((along_rows_ ? row : column) % depth_)];
  }

  ElementSite site_{};
  bool along_rows_;
  int depth_;                        ///< elements along K
  std::vector<Position> positions_;  ///< by the index along K; tests draw millions of elements
};

}  // namespace warpmat
