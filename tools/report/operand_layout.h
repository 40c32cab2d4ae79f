#pragma once

#include <warpmat/wgmma.h>

#include <string>
#include <string_view>

#include "tools/report/layout_grid.h"

namespace warpmat {

// The operands whose layout the tools show: in words, and as grids for pictures.

/// Whether the operand is a fragment, or the addresses of the rows of ldmatrix and stmatrix.
bool has_layout(const Form& form, const Operand& operand);

inline bool is_address(const Operand& operand) {
  return operand.kind == OperandKind::address;
}

/// The lowest bit of an element in its register: above that of its container if a 4-bit number is in the middle of a byte.
inline int lowest_bit(const Fragment& fragment, const Place& place) {
  return place.bit + fragment.payload_shift();
}

/// "f16", or "b16" if bits only move.
std::string format_text(const Operand& operand);

/// The word that distinguishes the matrices of an operand: "matrix", "product", "selector" or "ids".
std::string_view matrix_word(const Form& form, const Operand& operand);

/// "matrix 1", "product 3", "selector 0", or "ids 5 = {2, 1}" with byte-id and thread-id.
std::string matrix_text(const Form& form, const Operand& operand, int matrix);

/// The meaning of rows and columns, if they are not those of the operand's matrix; else empty.
std::string_view layout_remark(const Form& form, const Operand& operand);
std::string_view layout_remark(const WgmmaForm& form, OperandName operand);

/// The evidence for the form's bits on each hardware: "measured sm_90; replayed sm_80 sm_86". Of a form that one hardware alone has so: how
/// its layout is known there.
std::string known_text(const Form& form);
std::string known_text(const WgmmaForm& form);

/// The grid of `operand` for all formats. Precondition: it has a layout.
LayoutGrid layout_grid(const Form& form, const Operand& operand);

/// Operand d, a or e in the registers of a warpgroup.
LayoutGrid layout_grid(const WgmmaForm& form, OperandName operand);

/// Operand a or b in shared memory at the places of `descriptor`.
LayoutGrid memory_grid(const WgmmaForm& form, OperandName operand, Major major, const MatrixDescriptor& descriptor);

}  // namespace warpmat
