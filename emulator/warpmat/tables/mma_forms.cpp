#include <warpmat/tables/mma_forms.h>

#include <optional>
#include <string>
#include <unordered_set>

#include <warpmat/layout/fragments.h>
#include <warpmat/tables/format_sets.h>
#include <warpmat/tables/requirement.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

// ---- The table ----------------------------------------------------------------------------------------------------------------------
//
// PTX ISA 9.1 sections 9.7.14.5.14 to 9.7.14.5.17 and 9.7.14.6.3. Where ptxas 13.0 and the text differ, the rows follow ptxas: no sparse
// fp8 of m16n8k32; selectors 2 and 3 of the sparse m16n8k32 f16 with f32; m16n8k16 of kind::f8f6f4 for fp8 alone.

using Formats = std::span<const Format>;

/// Allowed pairs of C's and D's types.
enum class Accumulators : std::uint8_t { f32, f32_or_f16, f16, s32, f64, m8n8k4 };

enum class Pairing : std::uint8_t { same, any };  ///< whether B must have A's type

/// Qualifiers of a row's forms in addition to shape and types.
enum class Variants : std::uint8_t { none, satfinite, xor_popc, and_popc, roundings, layouts };

struct MmaRow {
  Shape shape;
  Formats multiplicands;
  Pairing pairing;
  Accumulators accumulators;
  Variants variants;
  Requirement requirement;
  Kind kind = Kind::plain;
};

using namespace format_sets;
using enum Pairing;
using enum Variants;
using Acc = Accumulators;

constexpr Requirement blackwell(PtxVersion ptx) {
  return {.families = {100, 110, 120}, .ptx = ptx};
}
constexpr Requirement rtx(PtxVersion ptx) {
  return {.families = {120}, .ptx = ptx};
}
constexpr Requirement rtx_exact(PtxVersion ptx) {
  return {.families = {120}, .architecture = true, .ptx = ptx};
}

constexpr MmaRow dense_rows[] = {
    // clang-format off
    // shape        A and B  pairing C and D          variants   requires
    {{8, 8, 4},     f16,     same,   Acc::m8n8k4,      layouts,   since(70, {6, 4})},
    {{16, 8, 8},    f16,     same,   Acc::f32_or_f16, none,      since(75, {6, 5})},
    {{16, 8, 16},   f16,     same,   Acc::f32_or_f16, none,      since(80, {7, 0})},
    {{16, 8, 8},    bf16,    same,   Acc::f32,        none,      since(80, {7, 0})},
    {{16, 8, 16},   bf16,    same,   Acc::f32,        none,      since(80, {7, 0})},
    {{16, 8, 4},    tf32,    same,   Acc::f32,        none,      since(80, {7, 0})},
    {{16, 8, 8},    tf32,    same,   Acc::f32,        none,      since(80, {7, 0})},
    {{8, 8, 4},     f64,     same,   Acc::f64,        roundings, since(80, {7, 0})},
    {{16, 8, 4},    f64,     same,   Acc::f64,        roundings, since(90, {7, 8})},
    {{16, 8, 8},    f64,     same,   Acc::f64,        roundings, since(90, {7, 8})},
    {{16, 8, 16},   f64,     same,   Acc::f64,        roundings, since(90, {7, 8})},
    {{16, 8, 16},   fp8,     any,    Acc::f32_or_f16, none,      since(89, {8, 7})},
    {{16, 8, 32},   fp8,     any,    Acc::f32,        none,      since(89, {8, 4})},
    {{16, 8, 32},   fp8,     any,    Acc::f16,        none,      since(89, {8, 7})},
    {{8, 8, 16},    bytes,   any,    Acc::s32,        satfinite, since(75, {6, 5})},
    {{16, 8, 16},   bytes,   any,    Acc::s32,        satfinite, since(80, {7, 0})},
    {{16, 8, 32},   bytes,   any,    Acc::s32,        satfinite, since(80, {7, 0})},
    {{8, 8, 32},    nibbles, any,    Acc::s32,        satfinite, since(75, {6, 5})},
    {{16, 8, 32},   nibbles, any,    Acc::s32,        satfinite, since(80, {7, 0})},
    {{16, 8, 64},   nibbles, any,    Acc::s32,        satfinite, since(80, {7, 0})},
    {{8, 8, 128},   bits,    same,   Acc::s32,        xor_popc,  since(75, {7, 0})},
    {{16, 8, 128},  bits,    same,   Acc::s32,        xor_popc,  since(80, {7, 0})},
    {{16, 8, 256},  bits,    same,   Acc::s32,        xor_popc,  since(80, {7, 0})},
    {{8, 8, 128},   bits,    same,   Acc::s32,        and_popc,  since(80, {7, 1})},
    {{16, 8, 128},  bits,    same,   Acc::s32,        and_popc,  since(80, {7, 1})},
    {{16, 8, 256},  bits,    same,   Acc::s32,        and_popc,  since(80, {7, 1})},
    // Of the 25 pairings, those of two fp8 types exist on all of Blackwell; the last row adds the others.
    {{16, 8, 16},   fp8,         any, Acc::f32_or_f16, none, blackwell({8, 7}), Kind::f8f6f4},
    {{16, 8, 32},   fp8,         any, Acc::f32,        none, blackwell({8, 6}), Kind::f8f6f4},
    {{16, 8, 32},   fp8,         any, Acc::f16,        none, blackwell({8, 7}), Kind::f8f6f4},
    {{16, 8, 32},   fp8_fp6_fp4, any, Acc::f32_or_f16, none, rtx({8, 7}),       Kind::f8f6f4},
    // clang-format on
};

/// Sparse rows: mma.sp from `requirement` on and mma.sp::ordered_metadata from `ordered` on; a PTX version of 0.0 means never.
struct SparseRow {
  MmaRow row;
  int selectors;  ///< number of selector values that ptxas accepts
  PtxVersion ordered;
};

constexpr PtxVersion never{0, 0};

constexpr SparseRow sparse_rows[] = {
    // clang-format off
    // shape        A and B  pairing C and D          variants   requires            selectors ordered
    {{{16, 8, 16},  f16,     same,   Acc::f32_or_f16, none,      since(80, {7, 1})}, 4,        {8, 5}},
    {{{16, 8, 32},  f16,     same,   Acc::f32,        none,      since(80, {7, 1})}, 4,        {8, 5}},
    {{{16, 8, 32},  f16,     same,   Acc::f16,        none,      since(80, {7, 1})}, 2,        {8, 5}},
    {{{16, 8, 16},  bf16,    same,   Acc::f32,        none,      since(80, {7, 1})}, 4,        {8, 5}},
    {{{16, 8, 32},  bf16,    same,   Acc::f32,        none,      since(80, {7, 1})}, 2,        {8, 5}},
    {{{16, 8, 8},   tf32,    same,   Acc::f32,        none,      since(80, {7, 1})}, 4,        {8, 5}},
    {{{16, 8, 16},  tf32,    same,   Acc::f32,        none,      since(80, {7, 1})}, 2,        {8, 5}},
    {{{16, 8, 32},  bytes,   any,    Acc::s32,        satfinite, since(80, {7, 1})}, 2,        {8, 5}},
    {{{16, 8, 64},  bytes,   any,    Acc::s32,        satfinite, since(80, {7, 1})}, 1,        {8, 5}},
    {{{16, 8, 64},  nibbles, any,    Acc::s32,        satfinite, since(80, {7, 1})}, 2,        {8, 5}},
    {{{16, 8, 128}, nibbles, any,    Acc::s32,        satfinite, since(80, {7, 1})}, 1,        {8, 5}},
    {{{16, 8, 64},  fp8,     any,    Acc::f32,        none,      since(89, {8, 4})}, 1,        {8, 5}},
    {{{16, 8, 64},  fp8,     any,    Acc::f16,        none,      rtx(never)},        1,        {8, 7}},
    {{{16, 8, 64},  fp8,         any, Acc::f32,       none, blackwell(never), Kind::f8f6f4}, 1, {8, 6}},
    {{{16, 8, 64},  fp8_fp6_fp4, any, Acc::f32_or_f16, none, rtx(never), Kind::f8f6f4},                        1, {8, 7}},
    // clang-format on
};

/// Block-scaled rows: dense m16n8k of `dense_k` and sparse of twice that, with ordered metadata only.
struct ScaledRow {
  Kind kind;
  int dense_k;
  Formats multiplicands;
  int scale_vector;
  bool may_omit_vector;  ///< the form also exists without .scale_vec
  Format scale;
  Requirement dense, sparse;
};

constexpr ScaledRow scaled_rows[] = {
    // clang-format off
    {Kind::mxf8f6f4, 32, fp8_fp6_fp4, 1, true,  Format::ue8m0, rtx({8, 7}), rtx({8, 7})},
    {Kind::mxf4,     64, fp4,         2, true,  Format::ue8m0, rtx({8, 7}), rtx_exact({8, 7})},
    {Kind::mxf4nvf4, 64, fp4,         2, false, Format::ue8m0, rtx({8, 7}), rtx_exact({8, 7})},
    {Kind::mxf4nvf4, 64, fp4,         4, false, Format::ue4m3, rtx({8, 7}), rtx_exact({8, 7})},
    {Kind::mxf4nvf4, 64, fp4,         4, false, Format::ue8m0, rtx({9, 1}), rtx_exact({9, 1})},
    // clang-format on
};

/// ldmatrix, stmatrix and movmatrix.
struct MoveRow {
  Mnemonic mnemonic;
  std::string_view shape_name;   ///< ".m8n8"
  Shape shape;                   ///< rows and columns of a matrix in memory, or of movmatrix's source
  std::span<const int> numbers;  ///< .x1, .x2, .x4
  std::span<const bool> transposed;
  std::string_view types;  ///< ".b16"
  int memory_bits;         ///< bits of an element in memory
  Fragment (*fragment)(int number, bool transposed);
  Requirement requirement;
};

constexpr int one[] = {1};
constexpr int one_two[] = {1, 2};
constexpr int one_two_four[] = {1, 2, 4};
constexpr bool plain_and_trans[] = {false, true};
constexpr bool trans_only[] = {true};
constexpr bool plain_only[] = {false};

Fragment m16n16(int number, bool) {
  return fragment_m16n16(number);
}
Fragment m8n16(int number, bool) {
  return fragment_m8n16(number);
}
Fragment m16n8(int number, bool) {
  return fragment_m16n8(number);
}

constexpr MoveRow move_rows[] = {
    // clang-format off
    {Mnemonic::ldmatrix,  "m8n8",   {8, 8, 0},   one_two_four, plain_and_trans, "b16",             16, fragment_m8n8, since(75, {6, 5})},
    {Mnemonic::ldmatrix,  "m16n16", {16, 16, 0}, one_two,      trans_only,      "b8",              8,  m16n16,        blackwell({8, 6})},
    {Mnemonic::ldmatrix,  "m16n16", {16, 16, 0}, one_two,      trans_only,      "b8x16.b6x16_p32", 6,  m16n16,        blackwell({8, 6})},
    {Mnemonic::ldmatrix,  "m16n16", {16, 16, 0}, one_two,      trans_only,      "b8x16.b4x16_p64", 4,  m16n16,        blackwell({8, 6})},
    {Mnemonic::ldmatrix,  "m8n16",  {8, 16, 0},  one_two_four, plain_only,      "b8x16.b6x16_p32", 6,  m8n16,         blackwell({8, 6})},
    {Mnemonic::ldmatrix,  "m8n16",  {8, 16, 0},  one_two_four, plain_only,      "b8x16.b4x16_p64", 4,  m8n16,         blackwell({8, 6})},
    {Mnemonic::stmatrix,  "m8n8",   {8, 8, 0},   one_two_four, plain_and_trans, "b16",             16, fragment_m8n8, since(90, {7, 8})},
    {Mnemonic::stmatrix,  "m16n8",  {8, 16, 0},  one_two_four, trans_only,      "b8",              8,  m16n8,         blackwell({8, 6})},
    {Mnemonic::movmatrix, "m8n8",   {8, 8, 0},   one,          trans_only,      "b16",             16, fragment_m8n8, since(75, {7, 8})},
    // clang-format on
};

// ---- Expansion of rows into forms ---------------------------------------------------------------------------------------------------

OperandRow fragment_operand(OperandName name, std::optional<Format> format, const Fragment& fragment, bool written = false) {
  return {.name = name, .written = written, .format = format, .fragment = fragment};
}

OperandRow other_operand(OperandName name, OperandKind kind, int choices) {
  return {.name = name, .kind = kind, .format = std::nullopt, .fragment = {}, .choices = choices};
}

struct AccumulatorPair {
  Format d, c;
};

std::vector<AccumulatorPair> pairs(Accumulators accumulators) {
  using enum Format;
  switch (accumulators) {
    case Acc::f32: return {{Format::f32, Format::f32}};
    case Acc::f32_or_f16: return {{Format::f32, Format::f32}, {Format::f16, Format::f16}};
    case Acc::f16: return {{Format::f16, Format::f16}};
    case Acc::s32: return {{Format::s32, Format::s32}};
    case Acc::f64: return {{Format::f64, Format::f64}};
    case Acc::m8n8k4: return {{Format::f32, Format::f32}, {Format::f32, Format::f16}, {Format::f16, Format::f16}};
  }
  return {};
}

std::string_view kind_qualifier(Kind kind) {
  switch (kind) {
    case Kind::plain: return "";
    case Kind::f8f6f4: return ".kind::f8f6f4";
    case Kind::mxf8f6f4: return ".kind::mxf8f6f4";
    case Kind::mxf4: return ".kind::mxf4";
    case Kind::mxf4nvf4: return ".kind::mxf4nvf4";
  }
  return "";
}

std::string_view sparsity_qualifier(Sparsity sparsity) {
  return sparsity == Sparsity::dense ? "" : sparsity == Sparsity::sparse ? ".sp" : ".sp::ordered_metadata";
}

/// The container of a multiplicand and the element's position in it: kind::f8f6f4 and kind::mxf8f6f4 give each element a byte.
Fragment with_container(Fragment (*fragment)(Shape, int), Shape shape, Format format, Kind kind) {
  const int element = row(format).bits;
  if (kind != Kind::f8f6f4 && kind != Kind::mxf8f6f4) return fragment(shape, element);
  return fragment(shape, 8).with_payload(element, container_shift(format));
}

/// The elements of A that one code of its metadata covers: two of four, one of two (tf32), four of eight (4-bit elements in pairs).
int metadata_group(Format a, Kind kind) {
  const bool in_bytes = kind == Kind::f8f6f4 || kind == Kind::mxf8f6f4;
  if (row(a).bits == 32) return 2;
  return row(a).bits == 4 && !in_bytes ? 8 : 4;
}

/// The properties of one mma form within a row.
struct MmaChoice {
  Format a, b;
  AccumulatorPair accumulators;
  Sparsity sparsity = Sparsity::dense;
  int selectors = 0;
  int scale_vector = 0;
  bool names_vector = false;
  Format scale = Format::ue8m0;
  bool a_column = false, b_row = false;  ///< m8n8k4: .col of A, .row of B
  std::string_view before_types = {}, after_types = {};
};

std::vector<OperandRow> mma_operands(const FormRow& form, const MmaChoice& x) {
  const Shape stored{form.shape.m, form.shape.n, form.sparsity == Sparsity::dense ? form.shape.k : form.shape.k / 2};
  const bool is_m8n8k4 = form.shape == Shape{8, 8, 4} && x.a == Format::f16;
  const auto accumulator = [&](Format f) { return is_m8n8k4 ? fragment_m8n8k4_c(row(f).bits) : fragment_c(form.shape, row(f).bits); };
  std::vector<OperandRow> operands{
      fragment_operand(OperandName::d, x.accumulators.d, accumulator(x.accumulators.d), true),
      fragment_operand(
          OperandName::a, x.a,
          is_m8n8k4 ? fragment_m8n8k4(Axis::row, Axis::column, !x.a_column) : with_container(fragment_a, stored, x.a, form.kind)),
      fragment_operand(
          OperandName::b, x.b,
          is_m8n8k4 ? fragment_m8n8k4(Axis::column, Axis::row, !x.b_row) : with_container(fragment_b, form.shape, x.b, form.kind)),
      fragment_operand(OperandName::c, x.accumulators.c, accumulator(x.accumulators.c)),
  };
  if (form.sparsity != Sparsity::dense) {
    const int container = operands[1].fragment.element_bits();
    OperandRow e =
        fragment_operand(OperandName::e, std::nullopt, fragment_metadata(form.shape.k / metadata_group(x.a, form.kind), container));
    e.in_braces = false;
    operands.push_back(e);
    operands.push_back(other_operand(OperandName::selector, OperandKind::selector, x.selectors));
  }
  if (form.scale_vector != 0) {
    OperandRow scale_a = fragment_operand(OperandName::scale_a, x.scale, fragment_scale_a(form.scale_vector));
    OperandRow scale_b = fragment_operand(OperandName::scale_b, x.scale, fragment_scale_b(form.scale_vector));
    scale_a.in_braces = scale_b.in_braces = false;
    operands.insert(operands.end(), {scale_a, other_operand(OperandName::ids_a, OperandKind::ids, 2), scale_b,
                                     other_operand(OperandName::ids_b, OperandKind::ids, 4)});
  }
  return operands;
}

std::string mma_opcode(const MmaRow& r, const MmaChoice& x) {
  std::string scaling;
  if (x.scale_vector != 0) scaling = x.names_vector ? format_text(".block_scale.scale_vec::{}X", x.scale_vector) : ".block_scale";
  const bool scaled = x.scale_vector != 0;
  return concatenated({"mma",
                       sparsity_qualifier(x.sparsity),
                       ".sync.aligned.m",
                       std::to_string(r.shape.m),
                       "n",
                       std::to_string(r.shape.n),
                       "k",
                       std::to_string(r.shape.k),
                       x.a_column ? ".col" : ".row",
                       x.b_row ? ".row" : ".col",
                       kind_qualifier(r.kind),
                       scaling,
                       x.before_types,
                       ".",
                       name(x.accumulators.d),
                       ".",
                       name(x.a),
                       ".",
                       name(x.b),
                       ".",
                       name(x.accumulators.c),
                       scaled ? "." : "",
                       scaled ? name(x.scale) : "",
                       x.after_types});
}

FormRow mma_form(const MmaRow& r, const MmaChoice& x) {
  FormRow form{.mnemonic = Mnemonic::mma,
               .opcode = {},
               .requirement = r.requirement,
               .operands = {},
               .shape = r.shape,
               .sparsity = x.sparsity,
               .kind = r.kind,
               .scale_vector = x.scale_vector};
  form.opcode = mma_opcode(r, x);
  form.operands = mma_operands(form, x);
  return form;
}

/// The forms of one choice of types: one for each variant of the row.
void add_variants(const MmaRow& r, MmaChoice x, std::vector<FormRow>& out) {
  const auto add = [&](std::string_view before, std::string_view after) -> FormRow& {
    x.before_types = before;
    x.after_types = after;
    return out.emplace_back(mma_form(r, x));
  };
  switch (r.variants) {
    case none: add("", ""); break;
    case satfinite:
      add("", "");
      add(".satfinite", "").satfinite = true;
      break;
    case xor_popc: add("", ".xor.popc").bit_operation = BitOperation::bit_xor; break;
    case and_popc: add("", ".and.popc").bit_operation = BitOperation::bit_and; break;
    case roundings:
      add("", "");
      add(".rn", "");
      add(".rz", "").rounding = Rounding::toward_zero;
      add(".rm", "").rounding = Rounding::down;
      add(".rp", "").rounding = Rounding::up;
      break;
    case layouts:
      for (const bool a_column : {false, true})
        for (const bool b_row : {false, true}) {
          x.a_column = a_column;
          x.b_row = b_row;
          add("", "");
        }
      break;
  }
}

/// The opcodes so far.
using Opcodes = std::unordered_set<std::string>;

/// Adds the variants of `x`, unless an earlier row had `x`.
void add_new(const MmaRow& r, const MmaChoice& x, Opcodes& seen, std::vector<FormRow>& out) {
  if (seen.contains(mma_opcode(r, x))) return;
  const std::size_t first = out.size();
  add_variants(r, x, out);
  for (std::size_t i = first; i < out.size(); ++i) seen.insert(out[i].opcode);
}

/// Calls `visit` for every choice of types of `r`.
template <typename Visit>
void for_each_types(const MmaRow& r, Visit visit) {
  for (const Format a : r.multiplicands)
    for (const Format b : r.multiplicands)
      if (r.pairing == any || a == b)
        for (const AccumulatorPair& accumulators : pairs(r.accumulators)) visit(MmaChoice{a, b, accumulators});
}

void expand_dense(const MmaRow& r, Opcodes& seen, std::vector<FormRow>& out) {
  for_each_types(r, [&](const MmaChoice& x) { add_new(r, x, seen, out); });
}

void expand_sparse(const SparseRow& r, Opcodes& seen, std::vector<FormRow>& out) {
  for (const Sparsity sparsity : {Sparsity::sparse, Sparsity::sparse_ordered}) {
    MmaRow row = r.row;
    if (sparsity == Sparsity::sparse_ordered) row.requirement.ptx = r.ordered;
    if (row.requirement.ptx == never) continue;
    for_each_types(row, [&](MmaChoice x) {
      x.sparsity = sparsity;
      x.selectors = r.selectors;
      add_new(row, x, seen, out);
    });
  }
}

void expand_scaled(const ScaledRow& r, std::vector<FormRow>& out) {
  for (const Sparsity sparsity : {Sparsity::dense, Sparsity::sparse_ordered}) {
    const bool dense = sparsity == Sparsity::dense;
    const MmaRow row{{16, 8, dense ? r.dense_k : 2 * r.dense_k}, r.multiplicands, any, Acc::f32, none, dense ? r.dense : r.sparse, r.kind};
    for (const bool names_vector : {false, true}) {
      if (!names_vector && !r.may_omit_vector) continue;
      for_each_types(row, [&](MmaChoice x) {
        x.sparsity = sparsity;
        x.selectors = 1;
        x.scale_vector = r.scale_vector;
        x.names_vector = names_vector;
        x.scale = r.scale;
        add_variants(row, x, out);
      });
    }
  }
}

FormRow move_form(const MoveRow& r, int number, bool transposed, bool shared) {
  FormRow form{.mnemonic = r.mnemonic,
               .opcode = {},
               .requirement = r.requirement,
               .operands = {},
               .shape = r.shape,
               .number = number,
               .transposed = transposed,
               .memory_bits = r.memory_bits,
               .space = shared ? Space::shared : Space::generic};
  const bool move = r.mnemonic == Mnemonic::movmatrix;
  form.opcode = format_text("{}.sync.aligned.{}{}{}{}.{}", name(r.mnemonic), r.shape_name, move ? "" : format_text(".x{}", number),
                            transposed ? ".trans" : "", shared ? ".shared" : "", r.types);
  const Fragment fragment = r.fragment(number, transposed);
  if (move) {
    form.operands = {fragment_operand(OperandName::d, std::nullopt, fragment, true),
                     fragment_operand(OperandName::a, std::nullopt, r.fragment(1, false))};
    for (OperandRow& operand : form.operands) operand.in_braces = false;
    return form;
  }
  const bool load = r.mnemonic == Mnemonic::ldmatrix;
  const OperandRow registers = fragment_operand(OperandName::r, std::nullopt, fragment, load);
  const OperandRow address = other_operand(OperandName::p, OperandKind::address, 0);
  form.operands = load ? std::vector{registers, address} : std::vector{address, registers};
  return form;
}

void expand_moves(const MoveRow& r, std::vector<FormRow>& out) {
  for (const int number : r.numbers)
    for (const bool transposed : r.transposed) {
      out.push_back(move_form(r, number, transposed, r.mnemonic != Mnemonic::movmatrix));
      if (r.mnemonic != Mnemonic::movmatrix) out.push_back(move_form(r, number, transposed, false));  // generic addresses
    }
}

}  // namespace

void add_mma_forms(std::vector<FormRow>& out) {
  Opcodes seen;
  for (const MoveRow& r : move_rows) expand_moves(r, out);
  for (const MmaRow& r : dense_rows) expand_dense(r, seen, out);
  for (const SparseRow& r : sparse_rows) expand_sparse(r, seen, out);
  for (const ScaledRow& r : scaled_rows) expand_scaled(r, out);
}

}  // namespace warpmat
