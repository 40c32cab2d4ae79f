#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/export.h>
#include <warpmat/layout/fragment.h>
#include <warpmat/numeric/format.h>
#include <warpmat/numeric/value.h>
#include <warpmat/tables/target.h>

namespace warpmat {

/// The warp matrix instructions, as PTX names them (PTX ISA 9.1 sections 9.7.14.4 and 9.7.14.5). mma.sp is mma with Form::sparsity;
/// wmma_load is wmma.load.a, .b and .c, wmma_store is wmma.store.d.
enum class Mnemonic : std::uint8_t { ldmatrix, stmatrix, movmatrix, mma, wmma_load, wmma_store, wmma_mma };

/// "mma", "wmma.load".
[[nodiscard]] WARPMAT_API std::string_view name(Mnemonic mnemonic);

/// Whether `mnemonic` multiplies: mma and wmma.mma.
constexpr bool multiplies(Mnemonic mnemonic) {
  return mnemonic == Mnemonic::mma || mnemonic == Mnemonic::wmma_mma;
}

/// The targets that have a form. Later targets inherit baseline features. They do not inherit features of families and of single
/// architectures, so a row must name each of them (PTX ISA 9.1 section 11.1.2).
struct Requirement {
  WARPMAT_LOCAL static constexpr std::size_t max_families = 3;

  int baseline = 0;                          ///< sm_N and every later target; 0 if no baseline target has the form
  std::array<int, max_families> families{};  ///< Target::family of the targets sm_Nf and sm_Na that have the form; 0: unused entry
  bool architecture = false;                 ///< only the targets sm_Na of these families
  PtxVersion ptx;                            ///< the oldest PTX version

  friend bool operator==(const Requirement&, const Requirement&) = default;
};

/// The targets that satisfy `requirement`, without the PTX version: "sm_80 or later", "sm_120a, sm_120f, sm_121a or sm_121f".
[[nodiscard]] WARPMAT_API std::string describe(const Requirement& requirement);

/// Whether `requirement` includes `target`, whatever the PTX version.
[[nodiscard]] WARPMAT_API bool has_feature(const Requirement& requirement, const Target& target);

/// Nothing if `target` and PTX `version` satisfy `requirement`; else the violated rule, as the end of a sentence: "needs sm_80 or later;
/// the target is sm_75".
[[nodiscard]] WARPMAT_API std::optional<std::string> unmet(const Requirement& requirement, const Target& target, PtxVersion version);

/// The operands of the matrix instructions, as PTX's syntax descriptions name them; `ids` are the tuples {byte-id, thread-id}.
enum class OperandName : std::uint8_t { d, a, b, c, e, selector, scale_a, ids_a, scale_b, ids_b, r, p, stride };
WARPMAT_LOCAL inline constexpr std::size_t operand_name_count = 13;

[[nodiscard]] WARPMAT_API std::string_view name(OperandName name);
[[nodiscard]] WARPMAT_API std::optional<OperandName> find_operand_name(std::string_view name);

/// The syntax of an operand.
enum class OperandKind : std::uint8_t {
  fragment,  ///< registers that hold a matrix, sparse metadata or scale factors
  address,   ///< a row address for each lane, or a matrix's address, the same in all lanes: [register], [variable+offset]
  selector,  ///< a number from 0 to Operand::choices - 1
  ids,       ///< {byte-id, thread-id}: 16-bit numbers or registers
  stride,    ///< a 32-bit number or register, the same in all lanes, or nothing: elements between rows or columns in memory
};

/// "fragment", "address", "selector", "ids", "stride".
[[nodiscard]] WARPMAT_API std::string_view name(OperandKind kind);

/// One operand of a form, in PTX's order.
struct Operand {
  OperandName name;
  OperandKind kind = OperandKind::fragment;
  bool written = false;
  bool in_braces = true;         ///< whether PTX writes the registers in braces: {d0, d1}; not for movmatrix and metadata
  std::optional<Format> format;  ///< the format of the elements; none if bits only move, and for metadata
  Fragment fragment;             ///< the element in each register; for ldmatrix of the matrix in memory, for movmatrix of its source
  int choices = 0;               ///< number of values: of a selector those that ptxas accepts, of ids those of thread-id

  /// Registers that PTX writes for the operand, each of fragment.register_bits bits; two for ids.
  int registers() const { return kind == OperandKind::fragment ? fragment.registers() : kind == OperandKind::ids ? 2 : 1; }
  /// The same in 32-bit words a lane: a 64-bit register counts twice.
  int words() const { return kind == OperandKind::fragment ? registers() * fragment.register_bits / 32 : registers(); }

  friend bool operator==(const Operand&, const Operand&) = default;
};

/// The place of an element in shared memory for ldmatrix and stmatrix: bit `bit` of the row whose address `lane` holds.
struct RowPlace {
  int lane = 0, bit = 0;
  friend constexpr bool operator==(const RowPlace&, const RowPlace&) = default;
};

enum class Sparsity : std::uint8_t { dense, sparse, sparse_ordered };  ///< mma, mma.sp, mma.sp::ordered_metadata

/// The .kind of mma: the layout of A and B in registers, and whether there are scale factors.
enum class Kind : std::uint8_t { plain, f8f6f4, mxf8f6f4, mxf4, mxf4nvf4 };

/// The state space of the address of wmma.load and wmma.store.
enum class AddressSpace : std::uint8_t { generic, global, shared };

enum class BitOperation : std::uint8_t { none, bit_xor, bit_and };  ///< of .b1: .xor.popc, .and.popc

/// The first bit of an element narrower than a byte in its byte, for mma of kind::f8f6f4 and kind::mxf8f6f4. e2m1 has bits 2 to 5, the
/// 6-bit types bits 0 to 5 (PTX ISA 9.1 section 9.7.14.5.14).
constexpr int container_shift(Format format) {
  return format == Format::e2m1 ? 2 : 0;
}

/// One instruction with all its qualifiers: an expanded row of the form table (form.cpp). Only the table makes forms; executing anything
/// but a copy of one is an error.
struct Form {
  Mnemonic mnemonic;
  std::string opcode;  ///< canonical spelling: "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
  Requirement requirement;
  std::vector<Operand> operands;  ///< in PTX's order

  Shape shape;  ///< mma: the product, with k of the expanded A if sparse; else the shape of one matrix in memory

  // ldmatrix, stmatrix
  WARPMAT_LOCAL static constexpr int row_bytes = 16;  ///< of a matrix's row in memory, padding included
  int number = 1;                                     ///< matrices (.x1, .x2, .x4)
  bool transposed = false;                            ///< .trans
  int memory_bits = 16;                               ///< bits of an element in memory

  // wmma.load, wmma.store
  OperandName matrix = OperandName::a;  ///< a, b, c or d of wmma.mma
  AddressSpace space = AddressSpace::generic;
  bool column_major = false;  ///< .col: columns are contiguous in memory

  // mma
  Sparsity sparsity = Sparsity::dense;
  Kind kind = Kind::plain;
  int scale_vector = 0;  ///< scale factors of a row of A: 0 without block scaling, else 1, 2 or 4 (.scale_vec)
  bool satfinite = false;
  BitOperation bit_operation = BitOperation::none;
  Rounding rounding = Rounding::nearest_even;  ///< f64

  /// K of the A in registers: half of shape.k if A is sparse.
  int stored_k() const { return sparsity == Sparsity::dense ? shape.k : shape.k / 2; }
  /// ldmatrix, stmatrix: the number of rows in memory; lane i addresses row i.
  int rows_in_memory() const { return number * shape.m; }
  /// ldmatrix, stmatrix: the place of an element in memory.
  RowPlace row_place(const Element& e) const { return {e.matrix * shape.m + e.row, e.column * memory_bits}; }
  /// wmma.load, wmma.store: elements of a row or column in memory, the stride if no operand names one.
  int leading_dimension() const {
    const Fragment& fragment = operand(OperandName::r).fragment;
    return column_major ? fragment.rows() : fragment.columns();
  }
  /// wmma.load, wmma.store: the number of an element in memory, from the matrix's first element.
  std::uint64_t number_in_memory(const Element& e, std::uint32_t stride) const {
    const auto row = static_cast<std::uint64_t>(e.row), column = static_cast<std::uint64_t>(e.column);
    return column_major ? column * stride + row : row * stride + column;
  }
  /// wmma.load, wmma.store: required alignment of the address and of the stride in bytes, from the machine instructions of sm_80 to sm_121.
  /// It is 16 for rows of A and B that LDSM reads from shared memory, else the bytes that a lane moves at once. An H200 traps below that.
  /// PTX asks for the size of a lane's fragment (section 9.7.14.3), which may be larger or smaller; existing programs use less.
  [[nodiscard]] WARPMAT_API int memory_alignment() const;

  /// The operand `name`, or nullptr.
  [[nodiscard]] WARPMAT_API const Operand* find_operand(OperandName name) const;
  /// The operand `name`. Precondition: the form has it.
  [[nodiscard]] WARPMAT_API const Operand& operand(OperandName name) const;
  /// mma, wmma.mma: the format of sums in the unit: f32 if C or D is f32. wmma widens C before and rounds D afterwards.
  Format accumulator() const { return format(OperandName::c) == format(OperandName::d) ? format(OperandName::d) : Format::f32; }
  /// The format of an operand that has one.
  Format format(OperandName name) const { return *operand(name).format; }

  friend bool operator==(const Form&, const Form&) = default;
};

/// Whether `form` is wmma.load or wmma.store.
inline bool moves_matrix(const Form& form) {
  return form.mnemonic == Mnemonic::wmma_load || form.mnemonic == Mnemonic::wmma_store;
}

/// Every form, in the table's order.
[[nodiscard]] WARPMAT_API std::span<const Form> forms();

/// The form as `hardware` has it: the one of the table, but of wmma on sm_70, whose registers hold other elements. `form` is either.
[[nodiscard]] WARPMAT_API const Form& form_on(const Form& form, Hardware hardware);

/// The forms that form_on() adds to forms().
[[nodiscard]] WARPMAT_API std::span<const Form> variants_of_forms();

/// The number of `form` among forms(), or behind them among variants_of_forms(): below most_form_numbers().
[[nodiscard]] WARPMAT_API std::size_t number_of(const Form& form);
/// A bound that does not make the variants.
[[nodiscard]] inline std::size_t most_form_numbers() {
  return 2 * forms().size();
}

/// The form of forms() or variants_of_forms() that equals `form`; its address is permanent. nullptr if `form` is not a copy of one.
[[nodiscard]] WARPMAT_API const Form* listed(const Form& form);

/// The form that `opcode` spells, with qualifiers in any order that ptxas accepts (opcode.h), or nullptr.
[[nodiscard]] WARPMAT_API const Form* find_form(std::string_view opcode);

/// Why `opcode` is not a form, and the nearest form: one sentence. Precondition: find_form(opcode) is nullptr.
[[nodiscard]] WARPMAT_API std::string explain_unknown_opcode(std::string_view opcode);

/// Nothing if `form` exists for `target` and PTX `version`; else the violated rule: "mma.…m16n8k16… needs sm_80 or later; the target is
/// sm_75".
[[nodiscard]] WARPMAT_API std::optional<std::string> unavailable(const Form& form, const Target& target, PtxVersion version = newest_ptx);

/// Whether `mnemonic` ("mma", "wmma") starts the opcode of any form.
[[nodiscard]] WARPMAT_API bool is_matrix_mnemonic(std::string_view mnemonic);

}  // namespace warpmat
