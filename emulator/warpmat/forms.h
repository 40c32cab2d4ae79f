#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/dot.h>
#include <warpmat/formats.h>
#include <warpmat/layout.h>
#include <warpmat/version.h>

namespace warpmat {

// ---- Targets ----

/// The chip generation. Targets that differ only in their suffix (sm_90, sm_90a) have the same hardware.
enum class Hardware : std::uint8_t {
  sm_70,
  sm_75,
  sm_80,
  sm_86,
  sm_87,
  sm_88,
  sm_89,
  sm_90,
  sm_100,
  sm_103,
  sm_110,
  sm_120,
  sm_121,
};

/// A version of the PTX language, as `.version` names it.
struct PtxVersion {
  int major = 0, minor = 0;
  friend constexpr auto operator<=>(const PtxVersion&, const PtxVersion&) = default;
};

/// The newest version whose rules the tables follow: PTX ISA 9.1.
WARPMAT_LOCAL inline constexpr PtxVersion newest_ptx{9, 1};

/// A `.target`: a hardware and the features that the program may use. Nothing changes one.
struct Target {
  /// Features beyond the baseline: none ("sm_100"), those of the family ("sm_100f"), or those of this architecture ("sm_100a").
  enum class Features : std::uint8_t { baseline, family, architecture };

  const std::string_view name;  ///< "sm_90a"
  const int number;             ///< 90: orders the baselines
  const int family;             ///< of sm_Nf and sm_Na targets: the number of the oldest target of the family, else 0
  const Hardware hardware;
  const Features features;
  const PtxVersion since;  ///< the first PTX version that knows the target (PTX ISA section 11.1.2)

  friend bool operator==(const Target&, const Target&) = default;
};

/// All targets, oldest first.
[[nodiscard]] WARPMAT_API std::span<const Target> targets();

/// The target of that name, or nullptr.
[[nodiscard]] WARPMAT_API const Target* find_target(std::string_view name);

/// The target of that name, or the one with all features of the card that people call so: "sm_90a" for "H100", "sm_89" for "RTX 4090".
/// nullptr for what is neither.
[[nodiscard]] WARPMAT_API const Target* find_target_or_card(std::string_view name);

/// The target of the table that equals `target`; its address is permanent. nullptr if `target` is not a copy of one.
[[nodiscard]] WARPMAT_API const Target* listed(const Target& target);

/// The target or card `name`, as find_target_or_card() understands it. Throws std::invalid_argument for another name; the message lists the
/// targets.
[[nodiscard]] WARPMAT_API const Target& target(std::string_view name);

/// "sm_90".
[[nodiscard]] WARPMAT_API std::string_view name(Hardware hardware);

/// The product names of cards with `hardware`: "A100, A30".
[[nodiscard]] WARPMAT_API std::string_view card_names(Hardware hardware);

/// "7.8".
[[nodiscard]] WARPMAT_API std::string to_string(PtxVersion version);

/// The evidence for the bits of a form on a hardware.
enum class Evidence : std::uint8_t {
  assumed,    ///< deduced from neighbouring generations; no source says so
  published,  ///< literature only
  replayed,   ///< compared bit for bit with published outputs of that hardware
  measured,   ///< compared bit for bit with that hardware by this project
};

[[nodiscard]] WARPMAT_API std::string_view name(Evidence evidence);

// ---- Forms ----

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

struct FormRow;     // the table's own
struct OperandRow;  // the same

/// One operand of a form, in PTX's order. Only the table makes them, and nothing changes one.
class Operand {
 public:
  const OperandName name;
  const OperandKind kind;
  const bool written;
  const bool in_braces;                ///< whether PTX writes the registers in braces: {d0, d1}; not for movmatrix and metadata
  const std::optional<Format> format;  ///< the format of the elements; none if bits only move, and for metadata
  const Fragment fragment;             ///< the element in each register; for ldmatrix of the matrix in memory, for movmatrix of its source
  const int choices;                   ///< number of values: of a selector those that ptxas accepts, of ids those of thread-id

  /// Registers that PTX writes for the operand, each of fragment.register_bits() bits; two for ids.
  int registers() const { return kind == OperandKind::fragment ? fragment.registers() : kind == OperandKind::ids ? 2 : 1; }
  /// The same in 32-bit words a lane: a 64-bit register counts twice.
  int words() const { return kind == OperandKind::fragment ? registers() * fragment.register_bits() / 32 : registers(); }

  friend bool operator==(const Operand&, const Operand&) = default;

 private:
  friend struct OperandRow;
  explicit Operand(const OperandRow& row);
};

/// The place of an element in shared memory for ldmatrix and stmatrix: bit `bit` of the row whose address `lane` holds.
struct RowPlace {
  int lane = 0, bit = 0;
  friend constexpr bool operator==(const RowPlace&, const RowPlace&) = default;
};

enum class Sparsity : std::uint8_t { dense, sparse, sparse_ordered };  ///< mma, mma.sp, mma.sp::ordered_metadata

/// The .kind of mma: the layout of A and B in registers, and whether there are scale factors.
enum class Kind : std::uint8_t { plain, f8f6f4, mxf8f6f4, mxf4, mxf4nvf4 };

/// A state space of memory, as a statement names it (PTX ISA 9.1 section 5.1); generic addresses belong to one of the others.
enum class Space : std::uint8_t { generic, global, constant, shared, local, param };

enum class BitOperation : std::uint8_t { none, bit_xor, bit_and };  ///< of .b1: .xor.popc, .and.popc

/// The first bit of an element narrower than a byte in its byte, for mma of kind::f8f6f4 and kind::mxf8f6f4. e2m1 has bits 2 to 5, the
/// 6-bit types bits 0 to 5 (PTX ISA 9.1 section 9.7.14.5.14).
constexpr int container_shift(Format format) {
  return format == Format::e2m1 ? 2 : 0;
}

/// One instruction with all its qualifiers: an expanded row of the form table (form.cpp). Only the table makes forms, and nothing changes
/// one; a copy is as good as the row.
class Form {
 public:
  const Mnemonic mnemonic;
  const std::string opcode;  ///< canonical spelling: "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
  const Requirement requirement;
  const std::vector<Operand> operands;  ///< in PTX's order

  const Shape shape;  ///< mma: the product, with k of the expanded A if sparse; else the shape of one matrix in memory

  // ldmatrix, stmatrix
  WARPMAT_LOCAL static constexpr int row_bytes = 16;  ///< of a matrix's row in memory, padding included
  const int number;                                   ///< matrices (.x1, .x2, .x4)
  const bool transposed;                              ///< .trans
  const int memory_bits;                              ///< bits of an element in memory

  // wmma.load, wmma.store
  const OperandName matrix;  ///< a, b, c or d of wmma.mma
  const Space space;         ///< of the address, also of ldmatrix and stmatrix: generic, global or shared
  const bool column_major;   ///< .col: columns are contiguous in memory

  // mma
  const Sparsity sparsity;
  const Kind kind;
  const int scale_vector;  ///< scale factors of a row of A: 0 without block scaling, else 1, 2 or 4 (.scale_vec)
  const bool satfinite;
  const BitOperation bit_operation;
  const Rounding rounding;  ///< f64

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

 private:
  friend struct FormRow;
  explicit Form(FormRow row);
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

/// Nothing if `form` exists for `target` and PTX `version`; else the violated rule: "mma.…m16n8k16… needs sm_80 or later; the target is
/// sm_75".
[[nodiscard]] WARPMAT_API std::optional<std::string> unavailable(const Form& form, const Target& target, PtxVersion version = newest_ptx);

/// Whether `mnemonic` ("mma", "wmma") starts the opcode of any form.
[[nodiscard]] WARPMAT_API bool is_matrix_mnemonic(std::string_view mnemonic);

// ---- Metadata of sparse matrices ----

// Sparse metadata (PTX ISA 9.1 section 9.7.14.6.1). One 4-bit code gives the places of the stored elements of one group of A. Its low two
// bits are the place of the first stored unit in the group, its high two bits that of the second. A unit is one element (2:4) or two
// neighbours (4:8, the packed 4-bit types). tf32 (1:2) has two codes: 0x4 for the first element and 0xE for the second.

/// Elements of the expanded A that one code of `form` covers: 2, 4 or 8.
[[nodiscard]] WARPMAT_API int metadata_group(const Form& form);

/// Whether the ISA defines `code` for `form`: two different places, ascending if the form is ordered.
[[nodiscard]] WARPMAT_API bool valid_metadata(const Form& form, unsigned code);

/// The codes that the ISA defines for `form`, as words for messages: "0x4 and 0xe".
[[nodiscard]] WARPMAT_API std::string_view describe_valid_metadata(const Form& form);

/// The column, within its group of `group` elements (metadata_group), of the group's stored element `stored` under `code`. `stored` is
/// below group / 2.
[[nodiscard]] WARPMAT_API int metadata_column(int group, unsigned code, int stored);

// ---- Scale factors ----

// Scale factors of block-scaled mma (PTX ISA 9.1 section 9.7.14.3). The tuple {byte-id, thread-id} selects the bytes and lanes of a
// register. So one register holds several matrices of scale factors: m x scale_vector for A, scale_vector x n for B. They are written and
// read as
//
//   scatter_one(form.operand(OperandName::scale_a).fragment, scale_matrix(form, OperandName::ids_a, {0, 1}),
//               form.format(OperandName::scale_a), scales, register scale_a);
//
// set_scales (operands.h) does that for a statement of a program.

/// The tuple of operand ids_a or ids_b.
struct ScaleIds {
  std::uint32_t byte_id = 0, thread_id = 0;
  friend constexpr bool operator==(const ScaleIds&, const ScaleIds&) = default;
};

/// Nothing if the ISA defines `ids` for operand `ids_name` (ids_a or ids_b) of the block-scaled `form`; else the violated rule: "byte-id of
/// ids-a is 3; it must be below 4 and a multiple of 2".
[[nodiscard]] WARPMAT_API std::optional<std::string> undefined_ids(const Form& form, OperandName ids_name, const ScaleIds& ids);

/// The matrix number of fragment_scale_a or fragment_scale_b that `ids` select. Throws std::invalid_argument for undefined ids and for a
/// form without scale factors.
[[nodiscard]] WARPMAT_API int scale_matrix(const Form& form, OperandName ids_name, const ScaleIds& ids);

// ---- Lowerings ----

/// The computation of a lowering's machine instructions. execute/reference has one function for each.
enum class Semantics : std::uint8_t {
  ldmatrix,
  stmatrix,
  movmatrix,
  wmma_load,
  wmma_store,
  dot,          ///< one matrix unit: steps of the model, K ascending
  split_dot,    ///< two matrix units and an addition: fp8 on hardware without a unit for it
  grouped_dot,  ///< one matrix unit for groups of 4-bit products with scale factors
  f64_chain,    ///< a chain of fused multiply-adds
  m8n8k4_dot,   ///< m8n8k4 of f16 in a matrix unit: four products, one step each
  m8n8k4_fma,   ///< m8n8k4 of f16 on the ordinary f32 cores
  integer_dot,
  bit_dot,
};

/// The effect of a metadata code that the ISA leaves undefined.
enum class UndefinedMetadata : std::uint8_t {
  unknown,     ///< not measured
  as_written,  ///< both places count whatever their order, even if equal; not measured for tf32
};

/// The lowering of a form on a hardware: a row of the lowering table (lowering.cpp). PTX names a form; the hardware executes machine
/// instructions, and those decide the bits. Nothing changes one.
struct Lowering {
  /// Differences from the common case.
  struct Exceptions {
    bool discardable = true;  ///< PTX may write _ in place of a result; ptxas 13.0 refuses it ("Result discard mode is not allowed")
                              ///< if the result of several machine instructions comes from an addition or a move
    bool subroutine = false;  ///< the assembler calls a subroutine for the statement
    bool checks_all_addresses = false;  ///< ldmatrix: the addresses of all lanes must be valid, also those that no row needs
    UndefinedMetadata undefined_metadata = UndefinedMetadata::unknown;
    bool one_instruction = true;  ///< a product is one machine instruction of the form's own types and shape, which SASS names (sass_name)
  };

  const std::string_view machine;  ///< the machine instructions, see machine_name()
  const Semantics semantics;
  const DotModel* const model;    ///< the arithmetic of floating-point products; nullptr elsewhere
  const Evidence evidence;        ///< how the result's bits are known: a label, never a switch
  const std::string_view source;  ///< the source of the evidence
  const Exceptions exceptions = {};
};

/// The lowering of `form` on `hardware`, or nullptr if no target of that hardware has the form.
[[nodiscard]] WARPMAT_API const Lowering* find_lowering(const Form& form, Hardware hardware);

/// The lowering table's rows. A test checks that each row serves some form.
[[nodiscard]] WARPMAT_API std::span<const Lowering* const> lowerings();

/// The machine instructions of `form` on the hardware of `lowering`: "HMMA.16816", "2 IMMA.16832", "LDSM".
[[nodiscard]] WARPMAT_API std::string machine_name(const Form& form, const Lowering& lowering);

// ---- Finding forms by what a decoder has ----

// find_form finds a form by the text of its opcode. A simulator's decoder may have the parts of an opcode, or the name of a machine
// instruction.

/// An opcode taken apart. Each field is as PTX spells it, without the dot; empty if the opcode has none.
struct OpcodeFields {
  std::string mnemonic{};              ///< "mma", also of mma.sp; "wmma.load.a", "wgmma.mma_async", "tcgen05.mma", "tcgen05.ld.red"
  std::string shape{};                 ///< "m16n8k16"; of tcgen05.cp, .ld and .st "128x256b"
  std::string d{}, a{}, b{}, c{};      ///< types of mma, wmma.mma and wgmma
  std::string type{};                  ///< of the other instructions: "b16", "b8x16.b6x16_p32", "f16"
  std::string layout_a{}, layout_b{};  ///< "row", "col"; of wmma.load and wmma.store the first alone
  std::string kind{};                  ///< "mxf8f6f4"
  std::string sparsity{};              ///< "sp", "sp::ordered_metadata"
  std::string scale_vec{};             ///< "2X"; of tcgen05.mma also "block32"
  std::string scale_type{};            ///< "ue8m0"
  std::string rounding{};              ///< "rn"
  std::string space{};                 ///< "shared", "global"
  std::string operation{};             ///< "xor", "and"; of tcgen05.ld.red "min", "max"
  std::string number{};                ///< "x4"
  std::string trans{}, satfinite{};    ///< the qualifier itself

  // tcgen05, which C and Python find by fields
  std::string cta_group{};                              ///< "1", "2"
  std::string multicast{};                              ///< of tcgen05.cp: "warpx2::02_13"
  std::string format{};                                 ///< of tcgen05.cp, to and from: "b8x16.b6x16_p32"
  std::string pack{};                                   ///< of .pack and .unpack: "16b"
  std::string weights{}, shift_a{}, absolute{}, nan{};  ///< the qualifier itself: "ws", "ashift", "abs", "NaN"

  friend bool operator==(const OpcodeFields&, const OpcodeFields&) = default;
};

[[nodiscard]] WARPMAT_API OpcodeFields fields_of(const Form& form);

/// SASS's spelling of the one machine instruction that `form` becomes under `lowering`, types and modifiers included:
/// "HMMA.16816.F32.BF16", "LDSM.16.MT88.4". Nothing if there are several.
[[nodiscard]] WARPMAT_API std::optional<std::string> sass_name(const Form& form, const Lowering& lowering);

/// The first form of the table that `target` has and that becomes the machine instruction `name`, or nullptr. A shape may have crosses or
/// none: "DMMA.8x8x4", "DMMA.884".
[[nodiscard]] WARPMAT_API const Form* find_sass(std::string_view name, const Target& target);

/// Why find_sass has no form for `name` on `target`, and the nearest name: one sentence.
[[nodiscard]] WARPMAT_API std::string explain_unknown_sass(std::string_view name, const Target& target);

/// A machine instruction of sm_70 that is one of the steps of an mma.m8n8k4: it reads A and B, and registers of C and D with the same
/// numbers. Compiled programs show the registers (HMMA.884.F32.F32.STEP0 to STEP3 with R8, R10, R4 and R6: arXiv 1811.08309, figure 9);
/// their elements are those of the fragment, which PTX ISA 9.1 has.
struct SassStep {
  WARPMAT_LOCAL static constexpr int registers = 2;  ///< of C and D

  const Form* form;
  int step, steps;
  int first_register() const { return step * registers; }
};

/// The step that SASS calls `name`, "HMMA.884.F32.F32.STEP2", and whose operands A and B have these layouts, "row" or "col", as SASS writes
/// them behind the registers; or nothing.
[[nodiscard]] WARPMAT_API std::optional<SassStep> find_sass_step(std::string_view name, std::string_view layout_a,
                                                                 std::string_view layout_b, const Target& target);

// ---- Labels ----

/// The confidence in a result's bits, from weak to strong: the evidence of the row that decides them. If the ISA fixes all bits (data
/// movement, integers), the label is at least `specified`, which outranks a paper about floating point.
enum class Label : std::uint8_t { assumed, published, replayed, specified, measured };

/// "specified".
[[nodiscard]] WARPMAT_API std::string_view name(Label label);

/// The label of that name, or nothing.
[[nodiscard]] WARPMAT_API std::optional<Label> find_label(std::string_view name);

[[nodiscard]] WARPMAT_API Label label_of(const Lowering& lowering);

/// How it is known which lane and register hold which element, apart from the arithmetic.
struct LayoutLabel {
  Label label;
  std::string_view source;
};
/// The ISA has the fragments of all forms but wmma's. Precondition: the hardware has the form.
[[nodiscard]] WARPMAT_API LayoutLabel layout_label(const Form& form, Hardware hardware);

// ---- Types of PTX ----

/// A type of PTX: of a register, of a variable's elements, or of an instruction (PTX ISA 9.1 sections 5.2 and 5.3).
struct DataType {
  enum class Class : std::uint8_t { bits, integer, floating, packed_integer, packed_floating, predicate };

  std::string_view name;  ///< "u32"
  int bits;               ///< in a register: 32 for f16x2, 1 for pred
  Class type_class;
  bool is_signed;
  bool is_register;                ///< .reg of a list accepts it; the 8-bit types are only for memory, predicates only for registers
  std::optional<Format> format{};  ///< of floating-point numbers: that of each element
  int elements = 1;                ///< of a packed type

  constexpr bool is_floating() const { return type_class == Class::floating || type_class == Class::packed_floating; }
  constexpr bool is_signed_integer() const { return type_class == Class::integer && is_signed; }
  constexpr bool is_predicate() const { return type_class == Class::predicate; }
  /// Bytes in memory.
  constexpr int bytes() const { return (bits + 7) / 8; }
};

/// The fundamental types, of which lists of statements declare registers and variables. Packed types and alternate formats, which only
/// opcodes name, are not among them.
[[nodiscard]] WARPMAT_API std::span<const DataType> data_types();

/// The one of data_types() with that name, without the dot, or nullptr.
[[nodiscard]] WARPMAT_API const DataType* find_data_type(std::string_view name);

/// The register types that an instruction accepts for an operand. Untyped registers (.b) are always accepted. The rules are those of ptxas
/// 13.0; each was tried.
struct Accepts {
  bool integer, floating, packed_f16, predicate = false;
  friend constexpr bool operator==(const Accepts&, const Accepts&) = default;
};

WARPMAT_LOCAL inline constexpr Accepts accepts_all{true, true, true};
WARPMAT_LOCAL inline constexpr Accepts accepts_integers{true, false, false};
WARPMAT_LOCAL inline constexpr Accepts accepts_integers_and_packed{true, false, true};
WARPMAT_LOCAL inline constexpr Accepts accepts_floating{false, true, false};
WARPMAT_LOCAL inline constexpr Accepts accepts_packed{false, false, true};
WARPMAT_LOCAL inline constexpr Accepts accepts_untyped{false, false, false};
WARPMAT_LOCAL inline constexpr Accepts accepts_predicates{false, false, false, true};

[[nodiscard]] WARPMAT_API bool accepts(const Accepts& accepted, const DataType& register_type);

/// The registers that ptxas accepts for an instruction of scalar type `type`.
[[nodiscard]] WARPMAT_API Accepts accepted_by(const DataType& type);

/// The registers that ptxas accepts for `operand`, one of `form`'s.
[[nodiscard]] WARPMAT_API Accepts accepted_by(const Form& form, const Operand& operand);

}  // namespace warpmat
