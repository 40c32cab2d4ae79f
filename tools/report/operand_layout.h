#pragma once

#include <warpmat/tables/wgmma_layout.h>

#include <string>
#include <string_view>

#include "tools/report/layout_grid.h"

namespace warpmat {

// The operands whose layout the tools show: in words, and as grids for pictures.

/// A fragment, or the addresses of the rows of ldmatrix and stmatrix.
bool has_layout(const Form& form, const Operand& operand);

inline bool is_address(const Operand& operand) {
  return operand.kind == OperandKind::address;
}

/// The lowest bit of an element in its register: above that of its container where a 4-bit number lies in the middle of a byte.
inline int lowest_bit(const Fragment& fragment, const Place& place) {
  return place.bit + fragment.payload_shift;
}

/// "f16", or "b16" where bits only move.
std::string format_text(const Operand& operand);

/// What tells the matrices of an operand apart: "matrix", "product", "selector" or "ids".
std::string_view matrix_word(const Form& form, const Operand& operand);

/// "matrix 1", "product 3", "selector 0", or "ids 5 = {2, 1}" with byte-id and thread-id.
std::string matrix_text(const Form& form, const Operand& operand, int matrix);

/// What rows and columns count, where they are not simply those of the operand's matrix; else empty.
std::string_view layout_remark(const Form& form, const Operand& operand);
std::string_view layout_remark(const WgmmaForm& form, OperandName operand);

/// How the form's bits are known on each hardware: "measured sm_90; replayed sm_80 sm_86".
std::string known_text(const Form& form);
std::string known_text(const WgmmaForm& form);

/// `operand`, which has a layout, as every format shows it.
LayoutGrid layout_grid(const Form& form, const Operand& operand);

/// Operand d, a or e in the registers of a warpgroup.
LayoutGrid layout_grid(const WgmmaForm& form, OperandName operand);

/// Operand a or b in shared memory, where `descriptor` says.
LayoutGrid memory_grid(const WgmmaForm& form, OperandName operand, Major major, const MatrixDescriptor& descriptor);

}  // namespace warpmat
