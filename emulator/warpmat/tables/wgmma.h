#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <warpmat/export.h>
#include <warpmat/tables/form.h>
#include <warpmat/tables/lowering.h>

namespace warpmat {

// wgmma.mma_async: four warps, a warpgroup, multiply 64 rows of A by 8 to 256 columns of B (PTX ISA 9.1 section 9.7.15).
//
// It is not a Form, because a Form is what one warp executes from its own registers. But its registers are those of mma: a warpgroup's
// product consists of products of 16 rows by 8 columns. Warp w has rows 16 w to 16 w + 15 of A and D. Its registers of D are those of the n
// / 8 products in order. Its registers of A and metadata are the same for each of them. Each product is added up as in mma [H200]. So a row
// names the form of mma that is its tile, and that form answers everything about registers and elements.

/// One wgmma.mma_async with all its qualifiers.
struct WgmmaForm {
  static constexpr int warps = 4;  ///< in a warpgroup

  std::string opcode;  ///< "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
  Shape shape;         ///< m is 64; k is that of the expanded A if A is sparse
  const Form* tile;    ///< the product of 16 rows by 8 columns; it defines types, registers and metadata
  PtxVersion ptx;      ///< the oldest PTX version; the target is sm_90a

  int tiles() const { return shape.n / tile->shape.n; }
  bool sparse() const { return tile->sparsity != Sparsity::dense; }
  /// 32-bit registers of a lane: for D, for A (if in registers), and for one tile's B.
  int d_registers() const { return tiles() * tile->operand(OperandName::d).registers(); }
  int a_registers() const { return tile->operand(OperandName::a).registers(); }
  int tile_b_registers() const { return tile->operand(OperandName::b).registers(); }
  /// The number of selector values; 0 if A is dense.
  int selectors() const { return sparse() ? tile->operand(OperandName::selector).choices : 0; }
  /// Whether the statement has imm-scale-a and -b: true for all floating-point types.
  bool negates() const { return !is_integer(row(tile->format(OperandName::a))); }
  /// Whether it has imm-trans-a (with a descriptor) and -b: true for 16-bit types, which may be MN-major.
  bool transposes() const { return row(tile->format(OperandName::a)).bits == 16; }

  friend bool operator==(const WgmmaForm&, const WgmmaForm&) = default;
};

/// Every form, in the table's order. Only sm_90a has them.
[[nodiscard]] WARPMAT_API std::span<const WgmmaForm> wgmma_forms();

/// The form that `opcode` spells, with qualifiers in any order that ptxas accepts, or nullptr.
[[nodiscard]] WARPMAT_API const WgmmaForm* find_wgmma(std::string_view opcode);

/// Why `opcode` is not one of them, and the nearest form: one sentence.
[[nodiscard]] WARPMAT_API std::string explain_unknown_wgmma(std::string_view opcode);

/// Nothing if `form` exists for `target` and PTX `version`; else the violated rule.
[[nodiscard]] WARPMAT_API std::optional<std::string> unavailable(const WgmmaForm& form, const Target& target,
                                                                 PtxVersion version = newest_ptx);

/// The arithmetic of a tile on sm_90, with its evidence.
[[nodiscard]] WARPMAT_API const Lowering& lowering_of(const WgmmaForm& form);

}  // namespace warpmat
