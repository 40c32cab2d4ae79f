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
// It is no Form: those are what one warp executes, from registers of its own. But all of its registers are those of mma: a warpgroup's
// product consists of products of 16 rows by 8 columns. Warp w has rows 16 w to 16 w + 15 of A and D; its registers of D are those of the
// n / 8 products, one behind the other, its registers of A and metadata those of each of them; and each is added up as mma adds it up
// [H200]. So a row names the form of mma that is its tile, and everything about registers and elements is asked there.

/// One wgmma.mma_async with all its qualifiers.
struct WgmmaForm {
  static constexpr int warps = 4;  ///< of a warpgroup

  std::string opcode;  ///< "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
  Shape shape;         ///< m is 64; k that of the expanded A where A is sparse
  const Form* tile;    ///< the product of 16 rows by 8 columns: types, registers and metadata are its own
  PtxVersion ptx;      ///< the oldest PTX version; the target is sm_90a

  int tiles() const { return shape.n / tile->shape.n; }
  bool sparse() const { return tile->sparsity != Sparsity::dense; }
  /// 32-bit registers of a lane: of D, of A (if it is in registers), and of one tile's B.
  int d_registers() const { return tiles() * tile->operand(OperandName::d).registers(); }
  int a_registers() const { return tile->operand(OperandName::a).registers(); }
  int tile_b_registers() const { return tile->operand(OperandName::b).registers(); }
  /// Values of the selector: 0 to this - 1; 0 where A is dense.
  int selectors() const { return sparse() ? tile->operand(OperandName::selector).choices : 0; }
  /// Whether the statement has imm-scale-a and -b: all floating-point types.
  bool negates() const { return !is_integer(row(tile->format(OperandName::a))); }
  /// Whether it has imm-trans-a (of a descriptor) and -b: 16-bit types, which may be MN-major.
  bool transposes() const { return row(tile->format(OperandName::a)).bits == 16; }

  friend bool operator==(const WgmmaForm&, const WgmmaForm&) = default;
};

/// Every form, in the table's order. They exist for sm_90a alone.
[[nodiscard]] WARPMAT_API std::span<const WgmmaForm> wgmma_forms();

/// The form that `opcode` spells, its qualifiers in any order that ptxas takes, or nullptr.
[[nodiscard]] WARPMAT_API const WgmmaForm* find_wgmma(std::string_view opcode);

/// Why `opcode` is not one of them, and the nearest that is: one sentence.
[[nodiscard]] WARPMAT_API std::string explain_unknown_wgmma(std::string_view opcode);

/// Nothing if `form` exists for `target` and PTX `version`; else the rule that forbids it.
[[nodiscard]] WARPMAT_API std::optional<std::string> unavailable(const WgmmaForm& form, const Target& target,
                                                                 PtxVersion version = newest_ptx);

/// The arithmetic of a tile on sm_90, and how it is known.
[[nodiscard]] WARPMAT_API const Lowering& lowering_of(const WgmmaForm& form);

}  // namespace warpmat
