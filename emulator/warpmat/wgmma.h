#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/layout.h>
#include <warpmat/version.h>

namespace warpmat {

// ---- Forms ----

// wgmma.mma_async: four warps, a warpgroup, multiply 64 rows of A by 8 to 256 columns of B (PTX ISA 9.1 section 9.7.15).
//
// It is not a Form, because a Form is what one warp executes from its own registers. But its registers are those of mma: a warpgroup's
// product consists of products of 16 rows by 8 columns. Warp w has rows 16 w to 16 w + 15 of A and D. Its registers of D are those of the n
// / 8 products in order. Its registers of A and metadata are the same for each of them. Each product is added up as in mma [H200]. So a row
// names the form of mma that is its tile, and that form answers everything about registers and elements.

/// One wgmma.mma_async with all its qualifiers. Only the table makes them, and nothing changes one; a copy is as good as the row.
class WgmmaForm {
 public:
  WARPMAT_LOCAL static constexpr int warps = 4;  ///< in a warpgroup

  const std::string opcode;  ///< "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
  const Shape shape;         ///< m is 64; k is that of the expanded A if A is sparse
  const Form* const tile;    ///< the product of 16 rows by 8 columns; it defines types, registers and metadata
  const PtxVersion ptx;      ///< the oldest PTX version

  int tiles() const { return shape.n / tile->shape.n; }
  bool sparse() const { return tile->sparsity != Sparsity::dense; }
  /// 32-bit registers of a lane: for D, for A (if in registers), and for one tile's B.
  int d_registers() const { return tiles() * tile->operand(OperandName::d).registers(); }
  int a_registers() const { return tile->operand(OperandName::a).registers(); }
  int tile_b_registers() const { return tile->operand(OperandName::b).registers(); }
  /// The number of selector values; 0 if A is dense.
  int selectors() const { return sparse() ? tile->operand(OperandName::selector).choices : 0; }
  /// The architecture of sm_90a alone.
  Requirement requirement() const { return {.families = {90}, .architecture = true, .ptx = ptx}; }
  /// Whether the statement has imm-scale-a and -b: true for all floating-point types.
  bool negates() const { return !is_integer(row(tile->format(OperandName::a))); }
  /// Whether it has imm-trans-a (with a descriptor) and -b: true for 16-bit types, which may be MN-major.
  bool transposes() const { return row(tile->format(OperandName::a)).bits == 16; }

  friend bool operator==(const WgmmaForm&, const WgmmaForm&) = default;

 private:
  friend class WgmmaTable;
  WgmmaForm(std::string opcode_, const Shape& shape_, const Form& tile_, PtxVersion ptx_)
      : opcode(std::move(opcode_)), shape(shape_), tile(&tile_), ptx(ptx_) {}
};

/// Every form, in the table's order. Only sm_90a has them.
[[nodiscard]] WARPMAT_API std::span<const WgmmaForm> wgmma_forms();

/// The form that `opcode` spells, with qualifiers in any order that ptxas accepts, or nullptr.
[[nodiscard]] WARPMAT_API const WgmmaForm* find_wgmma(std::string_view opcode);

struct WgmmaImmediates;
/// Nothing if `form` has the immediates; else which it lacks, as a sentence.
[[nodiscard]] WARPMAT_API std::optional<std::string> unavailable(const WgmmaForm& form, const WgmmaImmediates& immediates);

/// Nothing if `form` exists for `target` and PTX `version`; else the violated rule.
[[nodiscard]] WARPMAT_API std::optional<std::string> unavailable(const WgmmaForm& form, const Target& target,
                                                                 PtxVersion version = newest_ptx);

/// The parts of a form's opcode (forms.h). Types are those of the statement; `c` is `d`, which is both.
[[nodiscard]] WARPMAT_API OpcodeFields fields_of(const WgmmaForm& form);

/// SASS's name of a warpgroup's product: "HGMMA.64x128x16.F32.BF16", "IGMMA.SP.64x128x64.S8.U8.SAT".
[[nodiscard]] WARPMAT_API std::string sass_name(const WgmmaForm& form);
/// The first form of the table that becomes the machine instruction `name`, or nullptr.
[[nodiscard]] WARPMAT_API const WgmmaForm* find_wgmma_sass(std::string_view name);

/// The arithmetic of a tile on sm_90, with its evidence.
[[nodiscard]] WARPMAT_API const Lowering& lowering_of(const WgmmaForm& form);

// ---- Immediates ----

class FastPath;
struct TileFactors;

/// The immediate operands of a wgmma.mma_async.
struct WgmmaImmediates {
  bool negates_a = false, negates_b = false;     ///< imm-scale -1
  Major major_a = Major::k, major_b = Major::k;  ///< imm-trans: 0 is K-major; A's is used only if A is in memory
  int selector = 0;                              ///< of metadata

  friend bool operator==(const WgmmaImmediates&, const WgmmaImmediates&) = default;
};

/// A wgmma.mma_async with its immediates: which matrices its descriptors describe. Cheap to copy, immutable, thread-safe. An Instruction
/// executes it; in kernels this is what observers see of a product.
class WARPMAT_API Wgmma {
 public:
  /// Throws std::invalid_argument if `form` does not exist for `target` and `version`, is not a row of the table, or lacks an immediate.
  Wgmma(const WgmmaForm& form, const Target& target, PtxVersion version, const WgmmaImmediates& immediates);

  /// The instruction, a warpgroup's, with immediates, found without a search. Throws std::invalid_argument for one that the form lacks.
  Wgmma(const Instruction& instruction, const WgmmaImmediates& immediates);

  const WgmmaForm& form() const { return *form_; }
  const WgmmaImmediates& immediates() const { return immediates_; }
  const Lowering& lowering() const { return lowering_of(*form_); }

  /// The addresses of all 16-byte chunks that a descriptor gives operand A of warp `warp` (0 to 3), and of those of B.
  [[nodiscard]] std::vector<std::uint32_t> a_chunks(std::uint64_t descriptor, int warp) const;
  [[nodiscard]] std::vector<std::uint32_t> b_chunks(std::uint64_t descriptor) const;
  /// The same as accesses of the matrix unit. An element's row and column are m and k of A, of all 64 rows and stored k; of B they are k
  /// and n.
  [[nodiscard]] std::vector<MemoryAccess> a_accesses(std::uint64_t descriptor, int warp) const;
  [[nodiscard]] std::vector<MemoryAccess> b_accesses(std::uint64_t descriptor) const;

 private:
  friend void multiply(const Wgmma& wgmma, RegisterList d, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* metadata,
                       bool accumulates, const ExecutionOptions& options);
  friend bool multiply_chain(const Wgmma& wgmma, RegisterList d, std::span<const TileFactors> chain, bool accumulates,
                             const ExecutionOptions& options);

  const WgmmaForm* form_;
  WgmmaImmediates immediates_;
  const FastPath* fast_;  ///< of the tile; nullptr if there is none
};

// ---- Layouts ----

/// The registers of a matrix of wgmma: a map from row and column (for metadata also the selector, as `matrix`) to bit, lane, register and
/// warp. `operand` is d, a (if A is in registers) or e. The places are those of the tile's fragment. Rows beyond its 16 select the warp;
/// columns of D beyond its 8 select further registers. The widths n are no powers of two, so a tile is repeated.
[[nodiscard]] WARPMAT_API TiledLayout register_layout(const WgmmaForm& form, OperandName operand);

/// Rows and columns of a matrix of the whole warpgroup.
struct MatrixExtent {
  int rows = 0, columns = 0;
  friend bool operator==(const MatrixExtent&, const MatrixExtent&) = default;
};

/// The extent of operand a, b, c or d of the warpgroup; for a sparse A that of the stored elements.
[[nodiscard]] WARPMAT_API MatrixExtent matrix_extent(const WgmmaForm& form, OperandName operand);

/// A matrix in shared memory as a descriptor describes it (layout.h): `lines` lines of `line_bytes` bytes each.
struct MatrixLines {
  Major major = Major::k;
  std::uint32_t lines = 0;       ///< a multiple of 8
  std::uint32_t line_bytes = 0;  ///< a multiple of 16

  /// The number of steps to the next eight lines, and to the next non-adjacent bytes of the same line.
  std::uint32_t line_steps() const { return lines / 8 - 1; }
  std::uint32_t byte_steps(Swizzle swizzle) const {
    const std::uint32_t width = MatrixDescriptor::line_bytes(swizzle);
    return (line_bytes + width - 1) / width - 1;
  }

  friend bool operator==(const MatrixLines&, const MatrixLines&) = default;
};

/// Operand a or b of `form` in memory. A is that of all four warps; a sparse A is the stored one.
[[nodiscard]] WARPMAT_API MatrixLines matrix_lines(const WgmmaForm& form, OperandName operand, Major major);

/// The descriptor of a matrix whose bytes follow `start` without gaps, as in kernels: groups of eight lines in order, then the next bytes
/// of each line. The base offset makes the swizzle's pattern begin with the matrix. Throws std::invalid_argument for a `start` that a
/// descriptor cannot hold.
[[nodiscard]] WARPMAT_API MatrixDescriptor compact_descriptor(const MatrixLines& matrix, Swizzle swizzle, std::uint32_t start);

/// The first byte of an element of operand a or b in shared memory, and for b1 its bit.
struct MemoryPlace {
  std::uint32_t address = 0;
  int bit = 0;
  friend bool operator==(const MemoryPlace&, const MemoryPlace&) = default;
};
[[nodiscard]] WARPMAT_API MemoryPlace memory_place(const WgmmaForm& form, OperandName operand, Major major,
                                                   const MatrixDescriptor& descriptor, int row, int column);

}  // namespace warpmat
